"""What a table, and resamples of it, say about the arcs of a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cosmodag.data.diagnose import Finding, diagnose, quick
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["Evidence", "resamples_of", "standard_errors"]

_FULL_DIAGNOSIS = 300  # variables; looking at everything is cubic in them
_OFTEN = 0.5
_MOST_MISSED = 30
_REDUNDANT = 1e-10  # least eigenvalue of correlations that rounding leaves


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a fitted graph beyond the graph; None for what is not known.

    Attributes
    ----------
    errors
        Standard error of the weight of each arc of ``edges_``, NaN where there is none.
    findings
        What the table can and cannot tell.
    probabilities
        Share of resamples in which each arc of ``edges_`` was found.
    resamples
        How many resamples those are shares of.
    missed
        (cause, effect, share) of arcs found in most resamples that the graph does not have.
    """

    errors: NDArray[np.float64] | None = None
    findings: Sequence[Finding] | None = None
    probabilities: NDArray[np.float64] | None = None
    resamples: int | None = None
    missed: list[tuple[int, int, float]] = field(default_factory=list)

    @classmethod
    def of(cls, model: "FittedGraph", data: Any = None, bootstrap: Any = None) -> "Evidence":
        """Look at the training data: as given, or as the model still has it in its residuals.

        Parameters
        ----------
        model : fitted learner
        data : table, optional
            The training data.
        bootstrap : object, optional
            With ``arc_probabilities``, a (d, d) array, and the resamples it rests on: ``n`` of
            them, or ``done``, a list.
        """
        prepared = _prepared(model, data)
        errors = findings = None
        if prepared is not None:
            names = [str(name) for name in model.names_]
            table = model._preparation.undo(prepared)
            is_small = len(names) <= _FULL_DIAGNOSIS
            graph = model.adjacency_
            findings = diagnose(table, names, graph=graph) if is_small else quick(table, names)
            errors = standard_errors(model, prepared)
        if bootstrap is None:
            return cls(errors, findings)
        shares = np.asarray(bootstrap.arc_probabilities, np.float64)
        d = model.n_features_in_
        if shares.shape != (d, d):
            raise DataError(
                f"The bootstrap is of {shares.shape[0]} variables, the model of {d}: give the "
                "bootstrap of this model."
            )
        edges = model.edges_
        missed = _missed(shares, edges.row, edges.col)
        found = shares[edges.row, edges.col]
        return cls(errors, findings, found, resamples_of(bootstrap), missed)


def standard_errors(
    model: "FittedGraph", prepared: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Give standard errors of the weights of arcs, by least squares on the parents.

    They are those of a regression whose variables were known beforehand: that the same data chose
    the arcs is not in them.

    Parameters
    ----------
    model : fitted learner
    prepared : (n, d) array
        Its training data, in the units of the weights.

    Returns
    -------
    array, aligned with ``edges_``
        NaN where parents are redundant or rows too few; None for learners whose arcs are functions.
    """
    if hasattr(model, "effect"):
        return None
    edges, targets = model.edges_, model._told.targets
    if targets is None and hasattr(model, "target_sets_"):
        return None  # which rows count is not known any more
    errors = np.full(edges.nnz, np.nan)
    by_head = np.argsort(edges.col, kind="stable")
    starts = np.flatnonzero(np.diff(edges.col[by_head], prepend=-1))
    # Thousands of small products: handing each to several threads costs more than it saves.
    with threadpool_limits(1, "blas"):
        for arcs in np.split(by_head, starts[1:]) if len(by_head) else []:
            head = edges.col[arcs[0]]
            rows = slice(None) if targets is None else ~targets[:, head]
            used = prepared[rows]
            errors[arcs] = _regression_errors(used[:, edges.row[arcs]], used[:, head])
    return errors


def _regression_errors(
    regressors: NDArray[np.float64], response: NDArray[np.float64]
) -> NDArray[np.float64]:
    n, k = regressors.shape
    regressors, response = regressors - regressors.mean(axis=0), response - response.mean()
    unknown = np.full(k, np.nan)
    sizes = np.linalg.norm(regressors, axis=0)
    if n - k - 1 < 1 or not (sizes > 0).all():
        return unknown
    unit = regressors / sizes
    products = unit.T @ unit
    if np.linalg.eigvalsh(products)[0] < _REDUNDANT:
        return unknown
    inverse = np.linalg.inv(products)
    unexplained = response - unit @ (inverse @ (unit.T @ response))
    variance = float(unexplained @ unexplained) / (n - k - 1)
    return np.asarray(np.sqrt(variance * np.diag(inverse)) / sizes)


def resamples_of(bootstrap: Any) -> int:
    """Count the resamples that a bootstrap's probabilities are shares of."""
    return len(bootstrap.done) if hasattr(bootstrap, "done") else int(bootstrap.n)


def _prepared(model: "FittedGraph", data: Any) -> NDArray[np.float64] | None:
    # Where values were missing, the model was fitted to another table than the one given.
    if data is not None and not hasattr(model, "missing_report_"):
        return model._prepared(data)
    return model._training_data() if hasattr(model, "residuals_") else None


def _missed(
    shares: NDArray[np.float64], tails: NDArray[Any], heads: NDArray[Any]
) -> list[tuple[int, int, float]]:
    others = shares.copy()
    others[tails, heads] = 0
    found = np.argwhere(others > _OFTEN)
    strongest = np.argsort(-others[found[:, 0], found[:, 1]], kind="stable")[:_MOST_MISSED]
    return [(int(u), int(v), float(others[u, v])) for u, v in found[strongest]]
