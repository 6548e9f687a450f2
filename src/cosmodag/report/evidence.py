"""What a table, and resamples of it, say about the arcs of a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose import Finding, diagnose, quick
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.fit.fitted import FittedGraph

__all__ = ["Evidence", "resamples_of", "standard_errors"]

_FULL_DIAGNOSIS = 300  # variables; looking at everything is cubic in them
_OFTEN = 0.5
_MOST_MISSED = 30


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
