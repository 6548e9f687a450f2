"""What fits to many resamples agree on: probabilities of arcs, adjacencies and order."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import drop_cycles
from cosmodag.graph.equivalence import essential_graph

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BootstrapResult"]


@dataclass(eq=False)
class BootstrapResult:
    """In how many of the resamples a learner found each arc.

    Attributes
    ----------
    names : list
        Names, or numbers, of the variables.
    seeds : list of int
        One for each resample asked for: decides its rows and whatever the learner draws.
    sample : str
        How rows were drawn.
    required : (d, d) bool, or None
        Arcs that are known to exist.
    done : list of int
        Which resamples were fitted to the end.
    stopped : str or None
        Why there are fewer than asked for: ``"time"``, ``"interrupt"`` or None.
    """

    names: list[Any]
    seeds: list[int]
    sample: str
    required: NDArray[np.bool_] | None = None
    done: list[int] = field(default_factory=list)
    stopped: str | None = None

    def __post_init__(self) -> None:
        d = len(self.names)
        self._arcs = np.zeros((d, d), np.int64)
        self._before = np.zeros((d, d), np.int64)

    def add(self, place: int, arcs: NDArray[np.bool_], positions: NDArray[np.intp]) -> None:
        """Count one fit."""
        self.done.append(place)
        self._arcs += arcs
        self._before += positions[:, None] < positions[None, :]

    def __repr__(self) -> str:
        sure = int(np.count_nonzero(self.arc_probabilities >= 0.95)) if self.done else 0
        cause = {None: "", "time": ", stopped by max_time", "interrupt": ", interrupted"}
        return (
            f"<BootstrapResult: {len(self.done)} of {len(self.seeds)} resamples"
            f"{cause[self.stopped]}; {sure} arcs with probability 0.95 or more>"
        )

    @property
    def arc_probabilities(self) -> NDArray[np.float64]:
        """(d, d): share of the fits that have the arc u → v, at [u, v]."""
        return np.asarray(self._arcs / max(1, len(self.done)))

    @property
    def skeleton_probabilities(self) -> NDArray[np.float64]:
        """(d, d), symmetric: share of the fits in which u and v are joined, either way."""
        return self.arc_probabilities + self.arc_probabilities.T

    @property
    def order_probabilities(self) -> NDArray[np.float64]:
        """(d, d): share of the fits whose causal order has u before v.

        Variables that no path joins come in some order too, so that a half may mean either doubt
        or nothing to doubt.
        """
        return np.asarray(self._before / max(1, len(self.done)))

    def consensus(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Graph of the arcs that most fits have: acyclic.

        Required arcs come first; then arcs are put in by falling probability, and one that would
        close a cycle is left out.

        Parameters
        ----------
        threshold : float
            Arcs with at least this probability are considered, and none that no fit has.

        Returns
        -------
        (d, d) array of bool
        """
        strengths = self.arc_probabilities
        strengths = np.where((strengths >= threshold) & (strengths > 0), strengths, 0.0)
        if self.required is not None:
            strengths = np.where(self.required, 2.0, strengths)
        chosen: NDArray[np.bool_] = np.asarray(drop_cycles(strengths)[0]) != 0
        return chosen

    def consensus_class(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Class of :meth:`consensus`: arrows that independences compel, and the others both ways.

        See :func:`cosmodag.graph.equivalence.essential_graph`.
        """
        return np.asarray(essential_graph(self.consensus(threshold)))

    def edges(self, least: float = 0.0) -> "pd.DataFrame":
        """Table of the arcs found, the most probable first.

        Parameters
        ----------
        least : float
            Arcs below this probability are left out, and always those that no fit has.

        Returns
        -------
        DataFrame
            Columns ``cause``, ``effect``, ``probability``, ``reversed`` (the arc the other way
            round) and ``joined`` (either way).
        """
        import pandas as pd

        p = self.arc_probabilities
        tails, heads = np.nonzero((p > 0) & (p >= least))
        order = np.lexsort((heads, tails, -p[tails, heads]))
        tails, heads = tails[order], heads[order]
        return pd.DataFrame(
            {
                "cause": [self.names[u] for u in tails],
                "effect": [self.names[v] for v in heads],
                "probability": p[tails, heads],
                "reversed": p[heads, tails],
                "joined": p[tails, heads] + p[heads, tails],
            }
        )

    def facts(self) -> dict[str, Any]:
        """Give plain values, for a record of the run."""
        return {
            "asked": len(self.seeds),
            "done": len(self.done),
            "sample": self.sample,
            "stopped": self.stopped,
            "seeds": self.seeds,
        }
