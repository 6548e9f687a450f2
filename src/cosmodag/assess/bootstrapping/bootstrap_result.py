"""Result of a bootstrap: probabilities of edges, directions and order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge import Bounds
from cosmodag.graph.dags import drop_cycles
from cosmodag.graph.equivalence import essential_graph, separated
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.assess.bootstrapping.resample_fits import Fit

Floats = NDArray[np.float64]

# Probability from which `repr` counts an edge or a direction.
_SURE = 0.95


def note_on(doubts: Sequence[str]) -> str:
    """Tell whether fractions of fits are probabilities, and why not.

    >>> note_on(["Relations are curved in 2 of 3 arcs, so a linear model adds superfluous arcs."])
    'not probabilities: Relations are curved in 2 of 3 arcs'
    """
    reasons = [doubt.split(", so ")[0].rstrip(".") for doubt in doubts]
    return f"not probabilities: {'; '.join(reasons)}" if doubts else "probabilities"


def most_frequent(shares: Floats, threshold: float, bounds: Bounds | None) -> NDArray[np.bool_]:
    """Build an acyclic graph of the arcs with at least a share of the fits: (d, d).

    Required arcs come first; then arcs are inserted by falling share, except those that would close
    a cycle, or contradict a known order. Each fit agrees with that order, but paths of arcs from
    several fits might not.
    """
    strengths = np.where((shares >= threshold) & (shares > 0), shares, 0.0)
    if bounds is None:
        return np.asarray(drop_cycles(strengths)[0]) != 0
    strengths = np.where(bounds.required, np.inf, strengths)
    kept = np.asarray(drop_cycles(np.where(bounds.before, np.inf, strengths))[0]) != 0
    return kept & (strengths > 0)


@dataclass(eq=False)
class BootstrapResult:
    """Number of resamples in which a learner found each edge, and in which direction.

    Attributes
    ----------
    names : list
        Names, or numbers, of the variables.
    seeds : sequence of int
        Seed of each requested resample: it determines its rows and the draws of the learner.
    sample : str
        How rows were drawn: ``"bootstrap"`` or ``"half"``.
    bounds : Bounds or None
        Arcs that may and must exist by knowledge, and the known partial order.
    target_sets : (k, d) bool, or None
        The distinct sets of variables that were set by interventions.
    done : list of int
        Indices of the resamples that were fitted to the end.
    stopped : str or None
        Why there are fewer than requested: ``"time"``, ``"interrupt"`` or None.
    noise, noise_reason : str or None
        Noise model of all fits, chosen on the whole table, and the reason.
    doubts : list of str
        Findings in the table that contradict the model of all fits, as sentences. If there are any,
        fractions of fits are not probabilities: resamples repeat the mistake, and the fractions
        only show how stable it is.
    """

    names: list[Any]
    seeds: Sequence[int]
    sample: str
    bounds: Bounds | None = None
    target_sets: NDArray[np.bool_] | None = None
    done: list[int] = field(default_factory=list)
    stopped: str | None = None
    noise: str | None = None
    noise_reason: str | None = None
    doubts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        d = len(self.names)
        self._arcs, self._directed, self._before = np.zeros((3, d, d), np.int64)

    def add(self, fit: "Fit") -> None:
        """Count one fit."""
        self.done.append(fit.place)
        self._arcs += fit.arcs
        self._directed += fit.directed
        self._before += fit.positions[:, None] < fit.positions[None, :]

    def _share(self, counts: NDArray[np.int64]) -> Floats:
        return np.asarray(counts / max(1, len(self.done)))

    @property
    def note(self) -> str:
        """What the fractions are: ``probabilities``, or not, and why."""
        return note_on(self.doubts)

    def __repr__(self) -> str:
        edges = int(np.count_nonzero(np.triu(self.edge_probabilities) >= _SURE))
        arrows = np.count_nonzero(self.direction_probabilities >= _SURE)
        cause = {None: "", "time": ", stopped by max_time", "interrupt": ", interrupted"}
        name = "share" if self.doubts else "probability"
        found = f"{counted(edges, 'edge')} with {name} {_SURE} or more, {arrows} of them directed"
        doubted = f"; {self.note}" if self.doubts else ""
        return (
            f"<BootstrapResult: {len(self.done)} of {counted(len(self.seeds), 'resample')}"
            f"{cause[self.stopped]}; {found}{doubted}>"
        )

    @property
    def edge_shares(self) -> Floats:
        """(d, d), symmetric: fraction of the fits with an arc between u and v."""
        return self._share(self._arcs + self._arcs.T)

    @property
    def direction_shares(self) -> Floats:
        """(d, d): fraction of the fits that direct the edge u → v, at [u, v].

        An arrow whose reverse fits as well, or whose direction follows the units of the columns,
        does not count.
        """
        return self._share(self._directed)

    @property
    def undirected_shares(self) -> Floats:
        """(d, d), symmetric: fraction of the fits with an undirected edge between u and v."""
        return self._share(self._arcs + self._arcs.T - self._directed - self._directed.T)

    @property
    def edge_probabilities(self) -> Floats:
        """(d, d), symmetric: `edge_shares`; no probabilities if there are `doubts`."""
        return self.edge_shares

    @property
    def direction_probabilities(self) -> Floats:
        """(d, d): `direction_shares`; no probabilities if there are `doubts`."""
        return self.direction_shares

    @property
    def arc_probabilities(self) -> Floats:
        """(d, d): fraction of the fits whose graph has the arc u → v, at [u, v].

        Each fit counts as one graph of its equivalence class. For an arc whose reverse fits as
        well, this fraction carries no information about the direction; see `direction_shares`.
        """
        return self._share(self._arcs)

    @property
    def order_probabilities(self) -> Floats:
        """(d, d): fraction of the fits whose causal order has u before v, at [u, v].

        Variables without a path between them are ordered too, so that a fraction of one half means
        that the fits disagree, or that the two variables are unrelated.
        """
        return self._share(self._before)

    @property
    def required(self) -> NDArray[np.bool_] | None:
        """(d, d): arcs that must exist by knowledge; None without knowledge."""
        return None if self.bounds is None else self.bounds.required

    def consensus(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Build an acyclic graph of the arcs that most fits have: (d, d).

        Required arcs come first; then arcs are inserted by falling probability, except those that
        would close a cycle, or contradict a known order.

        Parameters
        ----------
        threshold : float
            Smallest probability of an arc; arcs that no fit has are never inserted.
        """
        return most_frequent(self.arc_probabilities, threshold, self.bounds)

    def consensus_class(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Compute the equivalence class of :meth:`consensus`; undirected edges have both arcs.

        See :func:`cosmodag.graph.equivalence.essential_graph`; arcs that knowledge or interventions
        direct are directed.
        """
        chosen = self.consensus(threshold)
        tails, heads = np.nonzero(chosen)
        is_known = np.zeros(len(tails), np.bool_)
        if self.bounds is not None:
            is_known |= self.bounds.directs(tails, heads)
        if self.target_sets is not None:
            is_known |= separated(tails, heads, self.target_sets)
        fixed = np.zeros_like(chosen)
        fixed[tails[is_known], heads[is_known]] = True
        return np.asarray(essential_graph(chosen, fixed))

    def edges(self, least: float = 0.0) -> "pd.DataFrame":
        """Tabulate the pairs with an edge in some fit, the most frequent first.

        Parameters
        ----------
        least : float
            Smallest fraction of fits with an edge between the pair; pairs without an edge in any
            fit are never listed.

        Returns
        -------
        DataFrame
            One row for each pair, in the more frequent direction: ``cause``, ``effect``; fractions
            of the fits: ``directed`` (in this direction), ``reversed`` (in the other direction),
            ``undirected``, and their sum ``joined``; ``p_edge`` and ``p_direction``; ``shares``,
            whether these are probabilities (`note`).
        """
        import pandas as pd

        joined, arrows = self.edge_shares, self.direction_shares
        # Directed arrows decide the direction of a pair, and the chosen graphs if these are equal.
        votes = self._directed * (len(self.done) + 1) + self._arcs
        u, v = np.nonzero(np.triu((joined > 0) & (joined >= least)))
        turned = votes[v, u] > votes[u, v]
        tails, heads = np.where(turned, v, u), np.where(turned, u, v)
        order = np.lexsort((heads, tails, -votes[tails, heads], -joined[tails, heads]))
        pairs = tails[order], heads[order]
        return pd.DataFrame(
            {
                "cause": [self.names[u] for u in pairs[0]],
                "effect": [self.names[v] for v in pairs[1]],
                "joined": joined[pairs],
                "directed": arrows[pairs],
                "reversed": arrows.T[pairs],
                "undirected": self.undirected_shares[pairs],
                "p_edge": self.edge_probabilities[pairs],
                "p_direction": self.direction_probabilities[pairs],
                "shares": self.note,
            }
        )

    def facts(self) -> dict[str, Any]:
        """Return plain values, for a record of the run."""
        return {
            "asked": len(self.seeds),
            "done": len(self.done),
            "sample": self.sample,
            "stopped": self.stopped,
            "noise": self.noise,
            "noise_reason": self.noise_reason,
            "doubts": self.doubts,
            "seeds": self.seeds[: max(self.done, default=-1) + 1],
        }
