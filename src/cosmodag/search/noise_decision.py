"""The decision between Gaussian, equal-variance and non-Gaussian noise, with the graph found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import name_list
from cosmodag.graph.texts import counted
from cosmodag.search.arc_checks import ArcCurves, Dependence, arc_curves, noise_dependence
from cosmodag.search.best_graph import refine_linear
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.entropy.measure import SMALLEST_DEVIATION, NonGaussianity, non_gaussianity
from cosmodag.search.graph_search import Decided, Doubt
from cosmodag.search.local_scores import LOCAL_SCORES
from cosmodag.search.moments import Moments, least_squares
from cosmodag.search.non_gaussian import search_non_gaussian
from cosmodag.search.order_climb import climb_from
from cosmodag.search.search_run import Run
from cosmodag.search.starts.orders import further_starts
from cosmodag.search.variances import against_equal, few_valued

Bools = NDArray[np.bool_]

# Maximum number of variables for the search with entropies, O(n d²) per sweep: it takes seconds.
ENTROPY_LIMIT = 300
# Minimum number of rows for a test of the shape of the noise, if some entries do not count.
_FEWEST_ROWS = 30
_INSTEAD = {"curved": " BlockSearch() (--method block-search) fits curves."}
_CLASS_ONLY = "so that the Gaussian score was used, which determines only the equivalence class"


@dataclass(frozen=True, eq=False)
class NoiseInputs:
    """A table, with knowledge about its graph and its rows."""

    X: NDArray[np.float64]  # (n, d): the table, in its own units, minus `means`
    names: Sequence[str]  # of the columns, for messages
    moments: Moments | None = None  # of the counted rows, if some rows do not count
    constraints: Constraints = NO_CONSTRAINTS
    # The same without orders of pairs that the support implies, which the Gaussian search ignores.
    fewest: Constraints = NO_CONSTRAINTS
    # (n, d): 0 if a variable was set in a row, or its value is missing and was filled in.
    counted: NDArray[np.float64] | None = None
    means: NDArray[np.float64] | None = None  # (d,): subtracted from the columns
    given: Bools | None = None  # (d,): columns without an equation, and therefore without noise

    @property
    def with_equations(self) -> NDArray[np.intp]:
        """Columns with an equation, and therefore with noise."""
        return np.arange(self.X.shape[1]) if self.given is None else np.flatnonzero(~self.given)

    @property
    def complete(self) -> Bools | None:
        """(n,): rows whose entries all count; None if there are fewer than 30."""
        if self.counted is None:
            return np.ones(len(self.X), np.bool_)
        rows = np.all(self.counted > 0, axis=1)
        return rows if np.count_nonzero(rows) >= _FEWEST_ROWS else None


def decide_noise(
    given: NoiseInputs,
    orders: Mapping[str, NDArray[np.intp]],
    run: Run,
    *,
    noise: str = "auto",
    method: str = "order",
    by_units: Collection[str] = (),
) -> Decided:
    """Find a graph with the noise model that the table supports, or with a given one.

    Equal variances are assumed only if the columns were not brought to a common scale, and the best
    graph with equal variances scores higher by a margin than the best graph with unequal ones.
    Non-Gaussian noise is assumed only if the residuals are not Gaussian, no column with arcs has
    few distinct values, residuals are independent of the parents on the graph found, and curves do
    not explain its arcs better. Otherwise noise is assumed to be Gaussian, which determines only
    the equivalence class.

    `orders` are starts by name. `noise` is ``"auto"``, a noise model that was decided before, for
    example on the table from which this one was resampled, or a name in `LOCAL_SCORES`. `method` is
    ``"order"``, to search for better orders, or ``"prune"``, to choose arcs on the given ones,
    which uses Gaussian scores or those of `LOCAL_SCORES`. `by_units` are the names of the starts
    that depend on units.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.laplace(size=(2, 500))
    >>> given = NoiseInputs(np.column_stack([x, 3 * x + 2 * noise]), ["x", "y"])
    >>> decide_noise(given, {}, Run(random)).noise
    'non-gaussian'
    """
    unit_free = {name: order for name, order in orders.items() if name not in by_units}

    def by_entropy(starts: Mapping[str, NDArray[Any]]) -> Decided:
        return search_non_gaussian(
            given.X,
            starts,
            run,
            constraints=given.constraints,
            counted=given.counted,
            weak_parents=True,
        )

    if noise in LOCAL_SCORES:
        return _by_local_score(given, unit_free, run, noise, method)
    if noise == "non-gaussian" and method == "order":
        return by_entropy(unit_free)

    def search(starts: Mapping[str, NDArray[Any]], score: str, not_equal: str | None) -> Decided:
        return refine_linear(
            given.X if given.moments is None else given.moments,
            starts,
            run,
            method=method,
            score=score,
            constraints=given.fewest,
            scale_free=method == "order",
            by_units=by_units,
            not_equal=not_equal,
        )

    if given.counted is not None and noise == "auto" and method == "order":
        # Interventions determine directions whatever the noise. The order that they lead to is
        # therefore a start of every search.
        by_experiments = {"experiments": search(orders, "gaussian", None).order}
        orders, unit_free = {**orders, **by_experiments}, {**unit_free, **by_experiments}
    score = "gaussian" if noise == "non-gaussian" else noise
    reason = None
    if noise == "auto":
        columns = given.with_equations
        means = 0.0 if given.means is None else given.means[columns]
        measured = None if given.counted is None else given.counted[:, columns]
        reason = against_equal(given.X[:, columns], means, measured)
        if reason is not None:
            reason = f"{reason}, and a noise variance for each variable was assumed."
    found = search(orders, score, reason)
    is_open = noise == "auto" and method == "order" and found.noise == "gaussian"
    if not is_open or found.ended_early or len(found.order) > ENTROPY_LIMIT:
        return found
    return _beyond_gaussian(
        given, found, lambda: by_entropy({**unit_free, "gaussian search": found.order})
    )


def _by_local_score(
    given: NoiseInputs, orders: Mapping[str, NDArray[Any]], run: Run, noise: str, method: str
) -> Decided:
    """Search by a score of `LOCAL_SCORES`; the weights are those of least squares."""
    counted = np.ones(given.X.shape) if given.counted is None else given.counted
    moments = Moments.of(given.X, given.counted) if given.moments is None else given.moments
    score = LOCAL_SCORES[noise](given.X, counted > 0, given.constraints)
    further = further_starts(moments, run.random, given.constraints) if method == "order" else {}
    found, report = climb_from(score, {**orders, **further}, run, method)
    weights = sparse.lil_array(found.adjacency.shape)
    for v in np.flatnonzero(found.adjacency.any(axis=0)):
        parents = np.flatnonzero(found.adjacency[:, v])
        weights[parents, v] = least_squares(moments, int(v), parents)
    reason = f"The score {noise!r} was requested."
    return Decided(
        found.order, weights.tocsr(), noise, reason, found.score, report, found.ended_early
    )


def _beyond_gaussian(
    given: NoiseInputs, found: Decided, by_entropy: Callable[[], Decided]
) -> Decided:
    """Replace a Gaussian result by a non-Gaussian one if the data support that model.

    Otherwise the Gaussian result is returned. It has a doubt if the residuals are not Gaussian, but
    columns have few distinct values or a linear model with independent noise is refuted.
    """
    # In rows in which a variable was set or its value is missing, its residual is not noise.
    rows = given.complete
    # Variables without arcs have no directions to decide, whatever their distribution.
    sizes = abs(found.weights)
    joined = np.flatnonzero((sizes.sum(axis=0) + sizes.sum(axis=1)) > 0)
    joined = np.intersect1d(joined, given.with_equations)
    if rows is None or not len(joined):
        return found
    residuals = (given.X - given.X @ found.weights)[rows][:, joined]
    # What parents leave of a copy or a total of them is no noise.
    least = SMALLEST_DEVIATION * given.X[rows][:, joined].std(axis=0)
    has_noise = residuals.std(axis=0) > least
    joined = joined[has_noise]
    if not len(joined):
        return found
    verdict = non_gaussianity(residuals[:, has_noise])
    gains = {"non_gaussian_gain": verdict.gain, "gain_by_chance": verdict.threshold}
    scores = {**found.scores, **gains}
    if not verdict.is_non_gaussian:
        return replace(found, scores=scores)
    measured = None if given.counted is None else given.counted[:, joined]
    coarse = joined[few_valued(given.X[:, joined], measured)]
    if len(coarse):
        listed = name_list([given.names[v] for v in coarse])
        finding = (
            f"few distinct values in {len(coarse)} of {counted(len(joined), 'column')} ({listed})"
        )
        columns = tuple(coarse.tolist())
        share = len(coarse) / len(joined)
        return _doubted(found, scores, "few_valued_noise", columns, share, finding)
    searched = by_entropy()
    dependence = noise_dependence(given.X, searched.weights, given.counted)
    scores["arcs_refuted"] = dependence.share

    against: Dependence | ArcCurves = dependence
    if not dependence.refutes:
        against = arc_curves(given.X, searched.weights, dependence.suspects, given.counted)
        scores["arcs_bent"] = against.share
    if not against.refutes:
        reason, report = _confirmed(verdict, dependence), [*found.report, *searched.report]
        return replace(searched, reason=reason, scores=scores, report=report)
    assert against.worst is not None
    tail, head = (given.names[v] for v in against.worst)
    finding = f"{against.description} (most clearly between {tail!r} and {head!r})"
    not_chosen = [{**entry, "chosen": False} for entry in searched.report]
    gaussian = replace(found, report=[*not_chosen, *found.report])
    return _doubted(gaussian, scores, against.kind, against.worst, against.share, finding)


def _doubted(
    found: Decided,
    scores: dict[str, float],
    kind: str,
    columns: tuple[int, ...],
    share: float,
    finding: str,
) -> Decided:
    """Keep the Gaussian graph, with the finding that refutes the linear non-Gaussian model."""
    reason = f"The residuals are not Gaussian, but tests found {finding}, {_CLASS_ONLY}."
    sentence = (
        f"{reason} Directions that the class leaves open are arbitrary, and weights are those of "
        f"straight lines.{_INSTEAD.get(kind, '')}"
    )
    doubt = Doubt(kind, columns, share, sentence)
    return replace(found, reason=reason, scores=scores, doubt=doubt)


def _confirmed(verdict: NonGaussianity, dependence: Dependence) -> str:
    """State, in one sentence, why non-Gaussian noise may be assumed."""
    return (
        f"The residuals are not Gaussian (gain in log-likelihood: {verdict.gain:.0f}; by chance: "
        f"at most {verdict.threshold:.0f}), and they depend on a parent in {dependence.refuted} "
        f"of {counted(dependence.arcs, 'tested arc')}."
    )
