"""Automatic choice of learner, noise, penalties and refinement, with reasons."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import warn_about
from cosmodag.data.interventions import take_column
from cosmodag.errors import CosmodagWarning
from cosmodag.fit.fitted_kinds import needs_blocks
from cosmodag.fit.input_checks import check_number, seeds_from
from cosmodag.fit.missing import Completed, complete
from cosmodag.fit.pipeline import FitTask, fit_prepared
from cosmodag.fit.prepare import prepare
from cosmodag.io.tables.frames import Table
from cosmodag.learners.cosmo import Cosmo
from cosmodag.learners.cosmo_mlp import CosmoMLP
from cosmodag.learners.order_search import BlockSearch, OrderSearch
from cosmodag.learners.parameters import Missing
from cosmodag.learners.structure_learner import StructureLearner
from cosmodag.runtime.warning_filters import ignoring
from cosmodag.selection.criteria import extended_bic
from cosmodag.selection.curvature import Curvature, NetworkGain, curvature, network_gain

if TYPE_CHECKING:
    import pandas as pd

# Multiples of COSMO's default λ₁, which are all tried with at most this number of variables.
_MULTIPLES, _TRIED_UP_TO = (0.1, 1.0, 10.0), 100
# Largest number of variables with which networks are fitted within minutes.
_NETWORKS_UP_TO = 100
# Settings for training that does not depend on units, and the number of trainings of networks.
_WITHOUT_SCALE: dict[str, Any] = {"loss": "likelihood", "scale": "standardize"}
_TRAININGS = 4
_BLOCK_REASONS = {
    "penalties": "Each parameter costs half the logarithm of the number of rows.",
    "refinement": "Orders were searched from several starts, and the best graph was taken.",
}


@dataclass(frozen=True, eq=False)
class Choice:
    """A chosen learner, and the reasons.

    Attributes
    ----------
    model
        The chosen learner, fitted to the whole table.
    reasons
        One sentence each for ``learner``, ``noise``, ``penalties`` and ``refinement``.
    table
        The linear candidates: noise model, score, extended BIC, number of arcs.
    """

    model: StructureLearner
    reasons: dict[str, str]
    table: "pd.DataFrame"

    def __str__(self) -> str:
        return "\n".join(self.reasons.values())


def auto(
    X: Any,
    *,
    interventions: Any = None,
    knowledge: Any = None,
    kinds: Any = "auto",
    missing: Missing = "error",
    random_state: Any = 0,
    max_time: float | None = None,
    verbose: bool = True,
) -> Choice:
    """Choose and fit a learner for a table, with reasons, without knowing the true graph.

    Linear learners are fitted first: `OrderSearch`, and `Cosmo` with three values of λ₁. Each
    chooses its noise model, and the graph of best score is taken. Then lines and curves are
    compared as equations of that graph, on held-out rows (:func:`cosmodag.selection.curvature`). If
    curves are better, `BlockSearch`, with additive curves, and `CosmoMLP`, with networks of joint
    parents, are fitted to four fifths of the rows, and compared by the likelihood of the others.
    Tables with categories of three levels or more, or counts, are fitted by `BlockSearch`.

    Units influence directions only if the chosen noise model has equal variances. Otherwise all
    training is by likelihood on standardised columns, so that multiplying a column by a number
    changes no arc.

    Parameters
    ----------
    X : table
    interventions, knowledge, kinds, missing
        As for ``fit`` and for every learner.
    random_state : int, Generator, RandomState or None
    max_time : float, optional
        Limit in seconds, half of it for networks.
    verbose : bool
        Whether to show progress on stderr if that is a terminal.

    Examples
    --------
    >>> from cosmodag import selection, simulate
    >>> choice = selection.auto(simulate.load("n500_d8_ER2_gauss", seed=0).X, random_state=0)
    >>> choice.model.noise_
    'equal-variance'
    >>> sorted(choice.reasons)
    ['learner', 'noise', 'penalties', 'refinement']
    """
    check_number("max_time", max_time, low=0.0, also=(None,))
    (seed,) = seeds_from(random_state, 1)
    common = {"knowledge": knowledge, "kinds": kinds, "random_state": seed, "verbose": verbose}
    X, entries = take_column(X, interventions)
    whole = complete(OrderSearch(missing=missing, **common), X, entries)
    # A learner fitted to an array has no column names.
    whole = whole._replace(is_named=not isinstance(X, np.ndarray | list | tuple))
    choose = _for_kinds if needs_blocks(whole.table.kinds or ()) else _for_numbers
    found = choose(whole, common, max_time)
    found.model.set_params(missing=missing, max_time=max_time)
    return found


def _for_kinds(whole: Completed, common: dict[str, Any], max_time: float | None) -> Choice:
    """Fit `BlockSearch`, which itself chooses between lines and curves."""
    import pandas as pd

    chosen = BlockSearch(**common, max_time=max_time).fit(whole)
    row = {
        "noise": chosen.noise_,
        "score": max(entry["after"] for entry in chosen.refine_report_),
        "extended_bic": float("nan"),
        "arcs": int(chosen.edges_.nnz),
    }
    reasons = {
        "learner": f"BlockSearch, for categories and counts: {chosen.curves_reason_}",
        "noise": str(chosen.noise_reason_),
        **_BLOCK_REASONS,
    }
    return Choice(chosen, reasons, pd.DataFrame.from_dict({"BlockSearch": row}, orient="index"))


def _for_numbers(whole: Completed, common: dict[str, Any], max_time: float | None) -> Choice:
    """Choose a linear learner, or another if curves are better than lines on the best graph."""
    d, seed = len(whole.table.names), common["random_state"] % 2**16
    limit = None if max_time is None else max_time / (2 * (1 + len(_MULTIPLES)))
    with ignoring(CosmodagWarning):
        candidates = _candidates(whole, d, {**common, "max_time": limit})
    name, criterion, table = _ranked(candidates, whole.table)
    lines = candidates[name]
    curves = curvature(_observed(whole), _regressors(lines), seed)
    if not curves.is_curved:
        warn_about(lines.findings_, stacklevel=3)
        rivals = ", ".join(other for other in table.index if other != name)
        penalties = f"{name} was preferred to {rivals} by the {criterion} of its graph."
        return Choice(lines, _reasons_for_lines(lines, curves, penalties), table)
    options = {**common, "max_time": None if max_time is None else max_time / 8}
    chosen: StructureLearner = BlockSearch(**options)
    joint: NetworkGain | None = None
    if d <= _NETWORKS_UP_TO:
        # The likelihood has more local optima than the squared error, so that several starts are
        # tried.
        without_units = {} if _has_scale(lines) else {**_WITHOUT_SCALE, "trainings": _TRAININGS}
        networks = CosmoMLP(**options, **without_units)
        joint = network_gain(chosen, networks, whole, seed)
        chosen = networks if joint.needs_networks else chosen
    chosen.fit(whole)
    return Choice(chosen, _reasons_for_curves(chosen, curves, joint), table)


def _candidates(whole: Completed, d: int, common: dict[str, Any]) -> dict[str, StructureLearner]:
    """Fit linear learners, by name: "OrderSearch", "Cosmo", and "Cosmo (λ₁ × …)".

    If `OrderSearch` does not find equal noise variances, units may be arbitrary: COSMO is then
    trained by likelihood on standardised columns, and its order is only the start of a search.
    """
    search = OrderSearch(**common)
    searched = prepare(search, whole)  # the same for all searches
    search.take(*fit_prepared([FitTask(search, searched)]))
    has_scale = _has_scale(search)
    if not has_scale and common["max_time"] is not None:  # half for training, half for the search
        common = {**common, "max_time": common["max_time"] / 2}
    learners: dict[str, Cosmo] = {}
    for multiple in (one for one in _MULTIPLES if one == 1 or d <= _TRIED_UP_TO):
        cosmo, name = Cosmo(**common), "Cosmo"
        if multiple != 1:
            name = f"Cosmo (λ₁ × {multiple:g})"
            cosmo.set_params(lambda1=multiple * cosmo.settings_for(d)["lambda1"])
        if not has_scale:
            cosmo.set_params(**_WITHOUT_SCALE, refine=None)
        learners[name] = cosmo
    given = prepare(learners["Cosmo"], whole)  # the same for all
    tasks = [FitTask(cosmo, given) for cosmo in learners.values()]
    results = fit_prepared(tasks, examine=has_scale)
    chosen: list[StructureLearner] = list(learners.values())
    if not has_scale:
        chosen = [OrderSearch(**common) for _ in results]
        starts = [OrderSearch(**common).starting_from(one.dag.order.tolist()) for one in results]
        results = fit_prepared([FitTask(one, searched) for one in starts])
    fitted = [one.take(result) for one, result in zip(chosen, results, strict=True)]
    return {"OrderSearch": search, **dict(zip(learners, fitted, strict=True))}


def _has_scale(model: StructureLearner) -> bool:
    """Whether variances of columns may decide directions, since the noise variances are equal."""
    return bool(model.noise_ == "equal-variance")


def _observed(whole: Completed) -> NDArray[np.float64]:
    """Rows in which nothing was set, or all rows if these are few."""
    X = np.asarray(whole.table.X, np.float64)
    if whole.targets is not None:
        free = ~whole.targets.any(axis=1)
        X = X[free] if np.count_nonzero(free) > 2 * X.shape[1] else X
    return X


def _regressors(model: StructureLearner) -> NDArray[np.bool_]:
    """Regressors of each variable, at [regressor, variable]: its parents.

    With Gaussian noise also its children, since only the equivalence class is known and some of
    them may be parents; regressions of Gaussian variables are linear in both directions.
    """
    arcs: NDArray[np.bool_] = model.fitted_.arcs.toarray()
    return arcs | arcs.T if model.noise_ == "gaussian" else arcs


def _ranked(
    candidates: dict[str, StructureLearner], table: Table
) -> "tuple[str, str, pd.DataFrame]":
    """Name of the best candidate, name of the criterion, and a table of all candidates.

    If all assume the same noise model, their scores are comparable, and the highest is best;
    otherwise the smallest extended BIC. The first of several equal candidates, the simplest, is
    chosen.
    """
    import pandas as pd

    rows = {}
    for name, model in candidates.items():
        after = [entry["after"] for entry in model.refine_report_ if entry.get("chosen")]
        rows[name] = {
            "noise": model.noise_,
            "score": max(after, default=float("nan")),
            "extended_bic": extended_bic(model, table),
            "arcs": int(model.edges_.nnz),
        }
    found = pd.DataFrame.from_dict(rows, orient="index")
    alike = bool(found["noise"].nunique() == 1 and not found["score"].isna().any())
    values = found["score"] if alike else -found["extended_bic"]
    # Scores that differ only by rounding are equal.
    near = values >= values.max() - 1e-6 * abs(values.max())
    return str(found.index[near][0]), "score" if alike else "extended BIC", found


def _reasons_for_lines(
    chosen: StructureLearner, curves: Curvature, penalties: str
) -> dict[str, str]:
    return {
        "learner": f"{type(chosen).__name__}, lines: {curves.explanation}",
        "noise": str(chosen.noise_reason_),
        "penalties": penalties,
        "refinement": (
            "Orders near several starting orders were searched, and the graph of best score was "
            "taken."
        ),
    }


def _reasons_for_curves(
    chosen: StructureLearner, curves: Curvature, joint: NetworkGain | None
) -> dict[str, str]:
    if not chosen.is_linear:
        assert joint is not None
        return {
            "learner": f"CosmoMLP, networks: {curves.explanation} {joint.explanation}",
            "noise": (
                "Equal noise variances are assumed, as found for linear equations."
                if chosen.loss_ == "squared-error"
                else "One noise variance per variable is assumed, so that units do not matter."
            ),
            "penalties": "Penalties are the defaults of CosmoMLP for this number of variables.",
            "refinement": "Arcs are pruned by the evidence of Gaussian processes.",
        }
    untried = "Networks were not tried, because there are too many variables."
    further = untried if joint is None else joint.explanation
    return {
        "learner": f"BlockSearch, curves that add up: {curves.explanation} {further}",
        "noise": str(chosen.noise_reason_),
        **_BLOCK_REASONS,
    }
