"""Whether a linear model with independent noise holds: residuals against parents, arc by arc.

A search that maximises non-Gaussianity finds directions in any table whose residuals are not
Gaussian, whatever the reason. Its model says that the residual of a variable is independent of the
parents, which `cosmodag.data.dependence` tests; here is how many arcs may fail.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.dependence import arc_tests

__all__ = ["Dependence", "noise_dependence"]

# Standard errors beyond which a correlation refutes an arc, and beyond which it leaves no doubt.
_REFUTES, _CERTAIN = 3.5, 5.0
# Share of refuted arcs, and of certainly refuted ones, that refutes the model. Measured, arcs
# beyond 3.5 errors: Laplace, uniform, exponential, Gumbel and t noise (d = 10 to 50, n = 500 to
# 50,000) at most one arc or 2 %; counts, curves, tanh, noise that depends on a parent 15 to 98 %.
_MOST, _MOST_CERTAIN = 0.05, 0.1
# Arcs that are worth a closer look, at most.
_SUSPECTS = 100


@dataclass(frozen=True)
class Dependence:
    """How many arcs of a graph contradict a linear model with independent noise.

    Attributes
    ----------
    arcs, refuted, certain : int
        Arcs in all, those whose residual depends on the parent, and those where that is certain.
    curved, uneven : int
        Refuted arcs whose residual follows x² or x³, and those whose squared residual follows x
        or x² more than that.
    worst : (int, int) or None
        The arc that contradicts the model most.
    suspects : list of (int, int)
        Arcs, those whose residual depends most on the parent first; not more than 100.
    """

    arcs: int
    refuted: int
    certain: int
    curved: int
    uneven: int
    worst: tuple[int, int] | None
    suspects: list[tuple[int, int]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of arcs that are refuted."""
        return self.refuted / max(self.arcs, 1)

    @property
    def refutes(self) -> bool:
        """Whether the model is refuted; one arc alone may be chance, or a mistake of a search."""
        several = self.refuted > max(1.0, _MOST * self.arcs)
        return several or self.certain > _MOST_CERTAIN * self.arcs

    @property
    def kind(self) -> str:
        """What more arcs show: ``"curved"`` or ``"uneven_noise"``."""
        return "curved" if self.curved >= self.uneven else "uneven_noise"

    @property
    def seen(self) -> str:
        """What was seen, in words."""
        kinds = {"curved relations": self.curved, "noise that depends on a parent": self.uneven}
        named = [f"{kind} in {count}" for kind, count in kinds.items() if count]
        return " and ".join(named) + f" of {self.arcs} arcs"


def noise_dependence(
    X: NDArray[np.float64], weights: sparse.csr_array, counted: NDArray[np.float64] | None = None
) -> Dependence:
    """Test for each arc of a graph whether the residual of its head depends on its tail.

    Parameters
    ----------
    X : (n, d) array
    weights : (d, d) csr_array
        Weights of the arcs, in the units of the table.
    counted : (n, d) array, optional
        0 where a variable was set; its equation is tested on the other rows.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, noise = random.laplace(size=(2, 1000))
    >>> arc = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> noise_dependence(np.column_stack([x, x + noise]), arc).refutes
    False
    >>> noise_dependence(np.column_stack([x, x + 0.3 * x**2 + noise]), arc).seen
    'curved relations in 1 of 1 arcs'
    """
    tails, heads = sparse.csr_array(weights).nonzero()
    tests = arc_tests(X, X - X @ weights, tails.astype(np.intp), heads.astype(np.intp), counted)
    if not len(tests.tails):
        return Dependence(0, 0, 0, 0, 0, None)
    curved = np.maximum(np.abs(tests.square), np.abs(tests.cube))
    uneven = np.abs(tests.spread)
    most = np.maximum(curved, uneven)
    worst = int(most.argmax())
    wider = np.maximum(np.abs(tests.curved), np.abs(tests.uneven))
    first = np.argsort(-np.maximum(most, wider), kind="stable")[:_SUSPECTS]
    pairs = zip(tests.tails[first].tolist(), tests.heads[first].tolist(), strict=True)
    return Dependence(
        arcs=len(most),
        refuted=int(np.sum(most > _REFUTES)),
        certain=int(np.sum(most > _CERTAIN)),
        curved=int(np.sum((curved > _REFUTES) & (curved >= uneven))),
        uneven=int(np.sum((uneven > _REFUTES) & (uneven > curved))),
        worst=(int(tests.tails[worst]), int(tests.heads[worst])),
        suspects=list(pairs),
    )
