"""The decision: Gaussian, of equal variances, or not Gaussian; and the graph found under it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import name_list
from cosmodag.order.entropy.measure import NonGaussianity, non_gaussianity
from cosmodag.order.moments import Moments
from cosmodag.refinement.arc_checks import Dependence, arc_curves, noise_dependence
from cosmodag.refinement.jobs import Decided, Doubt
from cosmodag.refinement.non_gaussian import search_non_gaussian
from cosmodag.refinement.refine import refine_linear
from cosmodag.refinement.variances import against_equal, few_valued

if TYPE_CHECKING:
    import jax

    from cosmodag.solve.machine.devices import Host

Bools = NDArray[np.bool_]

# Variables up to which the search with entropies, O(n d²) a sweep, takes seconds.
ENTROPY_LIMIT = 300
_INSTEAD = {"curved": " BlockSearch() (--method block-search) fits curves."}
_CLASS_ONLY = "so that the Gaussian score was used, which decides only the equivalence class"


@dataclass(frozen=True, eq=False)
class NoiseInputs:
    """A table, and what is known of its graph and its rows."""

    X: NDArray[np.float64]  # (n, d): the table, in its own units, less `means`
    names: Sequence[str]  # of the columns, for messages
    moments: Moments | None = None  # of the counted rows, where some rows do not count
    # (d, d): as for `refine_linear`; `beyond_support` is the part of `before` that support does not
    # imply.
    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None
    beyond_support: Bools | None = None
    counted: NDArray[np.float64] | None = None  # (n, d): 0 where a variable was set
    untouched: Bools | None = None  # (n,): rows in which nothing was set
    means: NDArray[np.float64] | None = None  # (d,): what was subtracted from the columns
    given: Bools | None = None  # (d,): columns without an equation, and thus no noise

    @property
    def with_equations(self) -> NDArray[np.intp]:
        """Columns that have an equation, and thus noise."""
        return np.arange(self.X.shape[1]) if self.given is None else np.flatnonzero(~self.given)


def decide_noise(
    given: NoiseInputs,
    orders: Mapping[str, NDArray[np.intp]],
    *,
    noise: str = "auto",
    method: str = "order",
    by_units: Collection[str] = (),
    restarts: int | None = None,
    random: np.random.Generator,
    should_stop: Callable[[], bool] | None = None,
    device: Host | jax.Device | None = None,
) -> Decided:
    """Find a graph under the noise that a table supports, or under one that is given.

    Equal variances are assumed only where the columns were not brought to a common scale and the
    best graph under them beats, by a margin, the best graph under unequal ones. Noise that is not
    Gaussian is assumed only where residuals are not Gaussian, no column involved has few values,
    residuals are independent of parents on the graph found, and curves do not explain its arcs
    better. Otherwise the noise is taken to be Gaussian, and only the equivalence class is decided.

    `orders` are starts by name. A `noise` other than ``"auto"`` is taken as decided, as for
    resamples of a table for which the decision was made. `method` is ``"order"``, to search for
    better orders, or ``"prune"``, to choose arcs on those given, which uses Gaussian scores only.
    The other options are those of `refine_linear`.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.laplace(size=(2, 500))
    >>> given = NoiseInputs(np.column_stack([x, 3 * x + 2 * noise]), ["x", "y"])
    >>> decide_noise(given, {}, random=random).noise
    'non-gaussian'
    """
    stop = should_stop or (lambda: False)
    free = {name: order for name, order in orders.items() if name not in by_units}

    def by_entropy(starts: Mapping[str, NDArray[Any]]) -> Decided:
        return search_non_gaussian(
            given.X,
            starts,
            random=random,
            support=given.support,
            required=given.required,
            before=given.before,
            counted=given.counted,
            weak_parents=True,
            restarts=restarts,
            should_stop=stop,
        )

    if noise == "non-gaussian" and method == "order":
        return by_entropy(free)

    def search(starts: Mapping[str, NDArray[Any]], score: str, not_equal: str | None) -> Decided:
        return refine_linear(
            given.X if given.moments is None else given.moments,
            starts,
            method=method,
            score=score,
            support=given.support,
            required=given.required,
            before=given.beyond_support,
            random=random,
            restarts=restarts,
            scale_free=method == "order",
            by_units=by_units,
            not_equal=not_equal,
            should_stop=stop,
            device=device,
        )

    if given.counted is not None and noise == "auto" and method == "order":
        # Experiments decide directions whatever the noise: the assumption on it comes after them.
        of_experiments = {"experiments": search(orders, "gaussian", None).order}
        orders, free = {**orders, **of_experiments}, {**free, **of_experiments}
    score = "gaussian" if noise == "non-gaussian" else noise
    reason = None
    if noise == "auto":
        columns = given.with_equations
        means = 0.0 if given.means is None else given.means[columns]
        reason = against_equal(given.X[:, columns], means)
        if reason is not None:
            reason = f"{reason}, and a noise variance for each variable was assumed."
    found = search(orders, score, reason)
    is_open = noise == "auto" and method == "order" and found.noise == "gaussian"
    if not is_open or found.ended_early or len(found.order) > ENTROPY_LIMIT:
        return found
    return _beyond_gaussian(
        given, found, lambda: by_entropy({**free, "gaussian search": found.order})
    )


def _beyond_gaussian(
    given: NoiseInputs, found: Decided, by_entropy: Callable[[], Decided]
) -> Decided:
    """Assume noise that is not Gaussian where residuals are not, and the model then holds."""
    # Where a variable was set, what is left of it is no noise.
    rows = slice(None) if given.counted is None else given.untouched
    # Variables without arcs have no direction, whatever their distribution.
    pattern = abs(found.weights)
    joined = np.flatnonzero((pattern.sum(axis=0) + pattern.sum(axis=1)) > 0)
    joined = np.intersect1d(joined, given.with_equations)
    if rows is None or not len(joined):
        return found
    verdict = non_gaussianity((given.X - given.X @ found.weights)[rows][:, joined])
    gains = {"non_gaussian_gain": verdict.gain, "gain_by_chance": verdict.threshold}
    scores = {**found.scores, **gains}
    if not verdict.is_non_gaussian:
        return replace(found, scores=scores)
    coarse = joined[few_valued(given.X[:, joined])]
    if len(coarse):
        listed = name_list([given.names[v] for v in coarse])
        seen = f"few distinct values in {len(coarse)} of {len(joined)} columns ({listed})"
        columns = tuple(coarse.tolist())
        share = len(coarse) / len(joined)
        return _doubted(found, scores, "few_valued_noise", columns, share, seen)
    searched = by_entropy()
    holds = noise_dependence(given.X, searched.weights, given.counted)
    scores["arcs_refuted"] = holds.share

    def refuted(kind: str, worst: tuple[int, int] | None, share: float, seen: str) -> Decided:
        assert worst is not None
        tail, head = (given.names[v] for v in worst)
        seen = f"{seen} (most of all between {tail!r} and {head!r})"
        not_chosen = [{**entry, "chosen": False} for entry in searched.report]
        plain = replace(found, report=[*not_chosen, *found.report])
        return _doubted(plain, scores, kind, worst, share, seen)

    if holds.refutes:
        return refuted(holds.kind, holds.worst, holds.share, holds.seen)
    bent = arc_curves(given.X, searched.weights, holds.suspects, given.counted)
    scores["arcs_bent"] = bent.share
    if bent.refutes:
        return refuted("curved", bent.worst, bent.share, bent.seen)
    report = [*found.report, *searched.report]
    return replace(searched, reason=_confirmed(verdict, holds), scores=scores, report=report)


def _doubted(
    found: Decided,
    scores: dict[str, float],
    kind: str,
    columns: tuple[int, ...],
    share: float,
    seen: str,
) -> Decided:
    """Keep the Gaussian graph, with the reason against a linear non-Gaussian model."""
    reason = f"The residuals are not Gaussian, but there are {seen}, {_CLASS_ONLY}."
    sentence = (
        f"{reason} Directions that the class leaves open are free choices, and weights are those "
        f"of straight lines.{_INSTEAD.get(kind, '')}"
    )
    doubt = Doubt(kind, columns, share, sentence)
    return replace(found, reason=reason, scores=scores, doubt=doubt)


def _confirmed(verdict: NonGaussianity, holds: Dependence) -> str:
    """One sentence on why noise that is not Gaussian may be assumed."""
    return (
        f"The residuals are not Gaussian (log-likelihood gained {verdict.gain:.0f}, by chance at "
        f"most {verdict.threshold:.0f}), and they depend on a parent in {holds.refuted} of "
        f"{holds.arcs} arcs."
    )
