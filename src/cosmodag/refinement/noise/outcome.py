"""Outcome of the noise decision: the graph, the assumption, and doubts about it."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Decided", "Doubt"]


@dataclass(frozen=True)
class Doubt:
    """Evidence against noise that is independent of the parents, but is not Gaussian.

    Attributes
    ----------
    kind : {"curved", "uneven_noise", "few_valued_noise"}
    columns : tuple of int
        Those concerned; of arcs, the ends of the one that contradicts the model most.
    share : float
        Of the arcs that contradict the model, or of the columns.
    sentence : str
    """

    kind: str
    columns: tuple[int, ...]
    share: float
    sentence: str


@dataclass(frozen=True, eq=False)
class Decided:
    """What was assumed of the noise, and the graph that was found.

    Attributes
    ----------
    order, weights
        The order, causes first, and the (d, d) sparse weights of the arcs.
    noise : {"gaussian", "equal-variance", "non-gaussian"}
    reason : str
        Why, in one sentence.
    scores : dict of str to float
        The numbers compared: ``equal_variance`` and ``gaussian`` (scores of the best graphs),
        ``margin``, ``margin_needed``, ``non_gaussian_gain``, ``gain_by_chance``,
        ``arcs_refuted``, ``arcs_bent`` (shares); those that were not needed are absent.
    doubt : Doubt or None
        Set where noise is not Gaussian, but a linear model of such noise does not hold.
    report : list of dict
        One record for each start.
    ended_early : bool
    """

    order: NDArray[Any]
    weights: sparse.csr_array
    noise: str
    reason: str
    report: list[dict[str, Any]]
    ended_early: bool
    scores: dict[str, float] = field(default_factory=dict)
    doubt: Doubt | None = None
