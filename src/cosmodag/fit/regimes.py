"""Regimes of a fit: targets are found before it, and examined on the graph that it learns."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.regimes import Regimes
from cosmodag.errors import ResourceError
from cosmodag.fit.dag.regimes import FittedRegimes
from cosmodag.fit.known import Known
from cosmodag.graph.dags import topological_order

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.prepare import Prepared

__all__ = ["fitted_regimes", "graph_over_regimes", "targets_found"]

_MOST_BYTES = 2**33

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def targets_found(X: Floats, regimes: Regimes, known: Known, seed: int) -> Bools:
    """Find the targets (k, d) of the regimes of a table, with those that were stated."""
    k, d = regimes.stated.shape
    if k * d**2 * 8 > _MOST_BYTES:
        raise ResourceError(
            f"{k} regimes of {d} variables need one matrix of {d} × {d} each, "
            f"{k * d**2 * 8 / 2**30:.0f} GiB: join regimes, or leave out variables."
        )
    if not regimes.may_change.any():
        return regimes.stated
    from cosmodag.refinement.regimes.finding import find_targets

    found = find_targets(
        X,
        regimes.labels,
        regimes.stated,
        regimes.may_change,
        support=known.support,
        required=known.required,
        before=known.before,
        seed=seed,
    )
    return found.targets


def graph_over_regimes(
    given: "Prepared", arcs: Bools, seed: int, should_stop: Callable[[], bool]
) -> tuple[NDArray[np.intp], sparse.csr_array]:
    """Find the graph of best score over all regimes: its order, and weights of shared equations.

    The search starts from `arcs`, which were found without the likelihood of targets in their
    regimes; `given` has regimes and their targets.
    """
    from cosmodag.refinement.regimes.finding import find_targets

    assert given.regimes is not None
    assert given.targets is not None
    known, labels = given.known, given.regimes.labels
    found = find_targets(
        given.X,
        labels,
        given.targets,
        np.zeros_like(given.targets),
        support=known.support,
        required=known.required,
        before=known.before,
        starts=[arcs],
        seed=seed,
        should_stop=should_stop,
    )
    before = np.zeros_like(arcs) if known.before is None else known.before
    weights = np.zeros(arcs.shape)
    tails, heads = np.nonzero(found.arcs)
    for v in np.unique(heads):
        parents = np.flatnonzero(found.arcs[:, v])
        weights[parents, v] = _slopes(given.X[~given.targets[labels, v]], parents, int(v))
    kept = sparse.csr_array((weights[tails, heads], (tails, heads)), shape=arcs.shape)
    return topological_order(found.arcs | before), kept


def fitted_regimes(given: "Prepared", dag: "FittedDAG") -> FittedRegimes | None:
    """Compute evidence and own equations on the parents of a learnt graph; None without regimes."""
    if given.regimes is None or given.targets is None:
        return None
    arcs = dag.arcs.toarray()
    from cosmodag.refinement.regimes.equation import RankEvidence, parents_of
    from cosmodag.refinement.regimes.finding import regime_score

    regimes, targets = given.regimes, given.targets
    X = np.asarray(given.X, np.float64)
    score = regime_score(X, regimes.labels, regimes.stated, regimes.may_change)
    ranks = RankEvidence(X, regimes.labels)
    k, d = targets.shape
    evidence, changes = np.zeros((k, d)), np.zeros((k, d), np.int64)
    for v in range(d):
        parents = np.flatnonzero(arcs[:, v])
        evidence[:, v] = ranks.gains(v, parents, targets[:, v])
        changes[:, v] = score.changes(v, parents_of(arcs, v), targets[:, v])
    return FittedRegimes(
        regimes.names,
        np.bincount(regimes.labels, minlength=k).astype(np.int64),
        regimes.stated,
        targets,
        evidence,
        score.price,
        changes,
        _own_equations(given, arcs, targets, changes),
    )


def _own_equations(
    given: "Prepared", arcs: Bools, targets: Bools, changes: NDArray[np.int64]
) -> Floats:
    """Fit the own equations of all targets, in the table's own units."""
    assert given.regimes is not None
    preparation = given.preparation
    X = given.X * preparation.factors + preparation.means
    labels, d = given.regimes.labels, targets.shape[1]
    # A variable that is set to one value has rounding errors only.
    least = np.finfo(np.float32).eps * np.maximum(X.std(axis=0), np.finfo(np.float32).tiny)
    found = np.zeros((int(targets.sum()), d + 2))
    for place, (regime, v) in enumerate(np.argwhere(targets)):
        own = X[labels == regime]
        parents = np.flatnonzero(arcs[:, v])
        if changes[regime, v] == 0:
            shared = ~targets[labels, v]
            weights = _slopes(X[shared], parents, v)
        elif changes[regime, v] == 1:
            weights = np.zeros(len(parents))
        else:
            weights = _slopes(own, parents, v)
        rest = own[:, v] - own[:, parents] @ weights
        found[place, 1 + parents] = weights
        found[place, 0], found[place, -1] = rest.mean(), max(float(rest.std()), least[v])
    return found


def _slopes(X: Floats, parents: NDArray[np.intp], v: int) -> Floats:
    centred = X - X.mean(axis=0)
    found: Floats = np.linalg.lstsq(centred[:, parents], centred[:, v], rcond=None)[0]
    return found
