"""Probabilities of edges, directions and order, from fits to many resamples."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.dags import drop_cycles
from cosmodag.graph.equivalence import essential_graph

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.stability.fits import Fit

Floats = NDArray[np.float64]

_SURE = 0.95


@dataclass(eq=False)
class BootstrapResult:
    """In how many of the resamples a learner found each edge, and in which direction.

    Attributes
    ----------
    names : list
        Names, or numbers, of the variables.
    seeds : list of int
        One for each requested resample: decides its rows and the draws of the learner.
    sample : str
        How rows were drawn.
    required : (d, d) bool, or None
        Arcs that are known to exist.
    done : list of int
        Which resamples were fitted to the end.
    stopped : str or None
        Why there are fewer than requested: ``"time"``, ``"interrupt"`` or None.
    noise, noise_reason : str or None
        Assumption of all fits about the noise, decided on the whole table, and the reason.
    doubts : list of str
        What in the table contradicts the model that all fits share, a sentence each. Where there
        is something, probabilities are withheld: resamples repeat the mistake, and their shares
        only say how stable it is.
    """

    names: list[Any]
    seeds: list[int]
    sample: str
    required: NDArray[np.bool_] | None = None
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

    def _unless_doubted(self, shares: Floats) -> Floats:
        return np.full(shares.shape, np.nan) if self.doubts else shares

    def __repr__(self) -> str:
        edges = np.count_nonzero(np.triu(self.edge_probabilities) >= _SURE)
        arrows = np.count_nonzero(self.direction_probabilities >= _SURE)
        cause = {None: "", "time": ", stopped by max_time", "interrupt": ", interrupted"}
        found = f"{edges} edges with probability {_SURE} or more, {arrows} of them directed"
        return (
            f"<BootstrapResult: {len(self.done)} of {len(self.seeds)} resamples"
            f"{cause[self.stopped]}; {'probabilities withheld' if self.doubts else found}>"
        )

    @property
    def edge_shares(self) -> Floats:
        """(d, d), symmetric: share of the fits in which u and v are joined, either way."""
        return self._share(self._arcs + self._arcs.T)

    @property
    def direction_shares(self) -> Floats:
        """(d, d): share of the fits whose class has the arrow u → v, at [u, v].

        An arrow whose reverse fits as well, or whose direction follows the units of the columns,
        does not count.
        """
        return self._share(self._directed)

    @property
    def undirected_shares(self) -> Floats:
        """(d, d), symmetric: share of the fits that join u and v and leave the direction open."""
        return self._share(self._arcs + self._arcs.T - self._directed - self._directed.T)

    @property
    def edge_probabilities(self) -> Floats:
        """(d, d), symmetric: `edge_shares`, or NaN where there are `doubts`."""
        return self._unless_doubted(self.edge_shares)

    @property
    def direction_probabilities(self) -> Floats:
        """(d, d): `direction_shares`, or NaN where there are `doubts`."""
        return self._unless_doubted(self.direction_shares)

    @property
    def arc_probabilities(self) -> Floats:
        """(d, d): share of the fits whose one graph has the arc u → v, at [u, v].

        Each fit is counted as the graph it chose from its class, so that the share of an arrow
        whose reverse fits as well says nothing about the direction; `direction_shares` do.
        """
        return self._share(self._arcs)

    @property
    def order_probabilities(self) -> Floats:
        """(d, d): share of the fits whose causal order has u before v, at [u, v].

        Variables that no path joins have an order too, so that a share of one half means either
        that the fits disagree, or that the two are unrelated.
        """
        return self._share(self._before)

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
        """Class of :meth:`consensus`: arrows that its shape fixes, and the others both ways.

        See :func:`cosmodag.graph.equivalence.essential_graph`; required arcs are fixed.
        """
        return np.asarray(essential_graph(self.consensus(threshold), self.required))

    def edges(self, least: float = 0.0) -> "pd.DataFrame":
        """Table of the pairs that were joined, those in most fits first.

        Parameters
        ----------
        least : float
            Pairs joined in a smaller share are left out, and always those that no fit joins.

        Returns
        -------
        DataFrame
            One line for each pair, in the direction that more fits have: ``cause``, ``effect``;
            shares of the fits: ``joined``, ``directed`` (this way), ``reversed`` (directed the
            other way) and ``undirected`` (the direction left open), of which the first is the sum
            of the others; and ``p_edge`` and ``p_direction``, NaN where there are `doubts`.
        """
        import pandas as pd

        joined, arrows = self.edge_shares, self.direction_shares
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
            "seeds": self.seeds,
        }
