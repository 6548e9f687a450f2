"""Regimes in the steps of a fit: groups of rows, their targets, and the graph over all of them."""

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.regime_table import Regimes, label_texts, regimes_of
from cosmodag.errors import DataError, ResourceError, name_list
from cosmodag.fit.dag.known import Known
from cosmodag.fit.dag.regime_equations import slopes
from cosmodag.fit.missing import Completed
from cosmodag.graph.dags import topological_order
from cosmodag.search.search_run import Run

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.structure_learner import StructureLearner

Bools = NDArray[np.bool_]

# Limit on the moments of all regimes together, in bytes.
_MOST_BYTES = 2**33


def check_regimes(learner: "StructureLearner", regimes: Any) -> None:
    """Refuse regimes together with imputation or lags, which are not defined across regimes."""
    if regimes is None:
        return
    if learner.missing == "impute":
        raise DataError(
            "Missing values cannot be estimated across regimes, whose equations differ: use "
            "missing='drop' (--missing drop)."
        )
    if learner.lags:
        raise DataError(
            "regimes and lags cannot be combined: give the targets of each row as interventions, "
            "or learn from each regime alone."
        )


def grouped_rows(whole: Completed, labels: Any, find_targets: bool) -> Regimes | None:
    """Group the rows that were kept by their regime labels; None without labels."""
    if labels is None:
        return None
    kinds = zip(whole.table.names, whole.table.kinds or (), strict=bool(whole.table.kinds))
    unordered = [name for name, kind in kinds if not kind.is_number]
    if unordered:
        raise DataError(
            f"Equations of regimes take numbers only, but {name_list(unordered)} "
            f"{'holds' if len(unordered) == 1 else 'hold'} categories: leave them out "
            f"(--drop {shlex.quote(','.join(unordered))}), or give the targets of each row as "
            "interventions."
        )
    rows = len(whole.table.X) if whole.kept is None else len(whole.kept)
    texts = np.array(label_texts(labels, rows), object)
    texts = texts if whole.kept is None else texts[whole.kept]
    return regimes_of(texts.tolist(), whole.table.names, whole.targets, finds=find_targets)


def targets_found(X: NDArray[np.float64], regimes: Regimes, known: Known, seed: int) -> Bools:
    """Find the targets (k, d) of the regimes of a table, including the stated targets."""
    k, d = regimes.stated.shape
    if k * d**2 * 8 > _MOST_BYTES:
        raise ResourceError(
            f"{k} regimes of {d} variables need one matrix of {d} × {d} each, "
            f"{k * d**2 * 8 / 2**30:.0f} GiB: join regimes, or leave out variables."
        )
    if not regimes.may_change.any():
        return regimes.stated
    from cosmodag.search.regimes.finding import find_targets

    return find_targets(
        X,
        regimes.labels,
        regimes.stated,
        regimes.may_change,
        Run.seeded(seed),
        constraints=known.constraints,
    ).targets


def graph_over_regimes(
    given: "Prepared", arcs: NDArray[np.bool_], run: Run
) -> tuple[NDArray[np.intp], sparse.csr_array]:
    """Find the graph of best score over all regimes: its order, and weights of shared equations.

    The search starts from `arcs`, which were found without the likelihood of targets in their
    regimes; `given` has regimes and their targets.
    """
    from cosmodag.search.regimes.finding import find_targets

    assert given.regimes is not None
    assert given.targets is not None
    known, labels = given.known, given.regimes.labels
    found = find_targets(
        given.X,
        labels,
        given.targets,
        np.zeros_like(given.targets),
        run,
        constraints=known.constraints,
        starts=[arcs],
    )
    before = np.zeros_like(arcs) if known.before is None else known.before
    weights = np.zeros(arcs.shape)
    tails, heads = np.nonzero(found.arcs)
    for v in np.unique(heads):
        parents = np.flatnonzero(found.arcs[:, v])
        weights[parents, v] = slopes(given.X[~given.targets[labels, v]], parents, int(v))
    kept = sparse.csr_array((weights[tails, heads], (tails, heads)), shape=arcs.shape)
    return topological_order(found.arcs | before), kept
