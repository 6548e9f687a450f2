"""Evidence for the arcs of a fitted model, from its table and from resamples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.assess.bootstrapping.bootstrap_result import note_on
from cosmodag.data.diagnose import Finding, before_fit, diagnose
from cosmodag.data.diagnose.full import by_severity, on_request
from cosmodag.errors import DataError
from cosmodag.fit.view.arcs import arc_table, standard_errors
from cosmodag.graph.texts import counted
from cosmodag.io.tables.frames import Table
from cosmodag.report.answers import Answers

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.view.fitted import FittedGraph

_FULL_DIAGNOSIS = 300  # largest number of variables: the full diagnosis takes cubic time
_OFTEN, _MOST_MISSED = 0.5, 30  # share of resamples, and number of pairs, of `Evidence.missed`


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence for the arcs of a fitted graph. Parts that were not computed are None.

    Attributes
    ----------
    errors
        Standard error of the weight of each arc of ``edges_``; NaN if it does not exist.
    findings
        Findings of the diagnosis of the table.
    edge_probabilities
        Share of resamples in which the ends of each arc of ``edges_`` were joined.
    direction_probabilities
        Share of resamples that direct each arc in the same way.
    resamples
        Number of resamples.
    doubts
        Reasons why the shares are not probabilities, one sentence each.
    missed
        Pairs that most resamples joined but the graph does not, as (variable, variable, share).
    answers
        Effects, hidden causes and the verdict of tests.
    """

    errors: NDArray[np.float64] | None = None
    findings: Sequence[Finding] | None = None
    edge_probabilities: NDArray[np.float64] | None = None
    direction_probabilities: NDArray[np.float64] | None = None
    resamples: int | None = None
    doubts: Sequence[str] = ()
    missed: list[tuple[int, int, float]] = field(default_factory=list)
    answers: Answers = field(default_factory=Answers)

    @classmethod
    def of(cls, model: "FittedGraph", data: Any = None, bootstrap: Any = None) -> "Evidence":
        """Compute the evidence from the training data, or from data recovered from the residuals.

        `bootstrap` is a :class:`cosmodag.assess.BootstrapResult`, or an object with its
        probabilities.
        """
        # The fit used another table than the given one if values were missing or rows are in time.
        is_other = hasattr(model, "missing_report_") or model.fitted_.window is not None
        has_rows, prepared = hasattr(model, "residuals_"), None
        if data is not None and not (is_other and has_rows):
            prepared = model.prepared(data)
        elif has_rows:
            prepared = model.training_data()
        errors = findings = None
        if prepared is not None:
            names = [str(name) for name in model.names_]
            table = model.preparation_.undo(prepared)
            findings = _findings(model, table, names)
            errors = standard_errors(model, prepared)
        found = cls(errors, findings, answers=Answers.of(model))
        if bootstrap is None:
            return found
        joined = checked_shares(bootstrap.edge_probabilities, model.n_features_in_)
        arrows = checked_shares(bootstrap.direction_probabilities, model.n_features_in_)
        shares = checked_shares(bootstrap.edge_shares, model.n_features_in_)
        edges = model.edges_
        return replace(
            found,
            edge_probabilities=joined[edges.row, edges.col],
            direction_probabilities=arrows[edges.row, edges.col],
            resamples=resamples_of(bootstrap),
            doubts=list(getattr(bootstrap, "doubts", ())),
            missed=_missed(shares, edges.row, edges.col),
        )

    @property
    def stability(self) -> dict[str, Any]:
        """Facts about the resamples, except the probabilities of arcs."""
        return {
            "resamples": self.resamples,
            "missed": self.missed,
            "doubts": list(self.doubts),
            "note": note_on(self.doubts),
        }

    def table(self, model: "FittedGraph") -> "pd.DataFrame":
        """``model.arcs_``, with ``p_edge`` and ``p_direction`` if there are resamples."""
        arcs = arc_table(model, self.errors)
        if self.edge_probabilities is not None:
            arcs["p_edge"] = self.edge_probabilities[arcs.index]
        if self.direction_probabilities is not None:
            arcs["p_direction"] = self.direction_probabilities[arcs.index]
            arcs["shares"] = note_on(self.doubts)
        return arcs


def checked_shares(shares: Any, d: int) -> NDArray[np.float64]:
    """Convert (d, d) shares of a bootstrap; any other shape raises a `DataError`."""
    found = np.asarray(shares, np.float64)
    if found.shape != (d, d):
        raise DataError(
            f"The bootstrap has {counted(found.shape[0], 'variable')} but the model has {d}: give "
            "a bootstrap of this model."
        )
    return found


def _findings(
    model: "FittedGraph", table: NDArray[np.float64], names: list[str]
) -> list[Finding] | None:
    """Return the full diagnosis, or only the findings of the fit if there are too many columns.

    A loaded model does not have the findings of its fit. Without them, rows in time have none.
    """
    known: list[Finding] | None = getattr(model, "findings_", None)
    kinds = model.fitted_.kinds or None
    if model.fitted_.window is not None:
        # The other checks assume independent rows.
        return known if known is None else by_severity(known)
    if len(names) > _FULL_DIAGNOSIS:
        return before_fit(table, names, kinds=kinds) if known is None else list(known)
    if known is None:
        return diagnose(Table(table, names, kinds), graph=model.adjacency_)
    more = on_request(table, names, known, np.asarray(model.adjacency_) != 0, kinds)
    return by_severity([*known, *more])


def resamples_of(bootstrap: Any) -> int:
    """Return the number of resamples of a bootstrap."""
    return len(bootstrap.done) if hasattr(bootstrap, "done") else int(bootstrap.n)


def _missed(
    shares: NDArray[np.float64], tails: NDArray[Any], heads: NDArray[Any]
) -> list[tuple[int, int, float]]:
    others = np.triu(shares, 1)
    others[np.minimum(tails, heads), np.maximum(tails, heads)] = 0
    found = np.argwhere(others > _OFTEN)
    strongest = np.argsort(-others[found[:, 0], found[:, 1]], kind="stable")[:_MOST_MISSED]
    return [(int(u), int(v), float(others[u, v])) for u, v in found[strongest]]
