"""Whether a linear model with independent noise holds: residuals against parents, arc by arc.

A search that maximises non-Gaussianity finds directions in any table whose residuals are not
Gaussian, whatever the reason. Its model says that the residual of a variable is independent of the
parents, and that can be tested: curved relations leave a residual r that follows x² or x³, noise
that depends on a parent leaves r² that follows x or x².
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.refinement.entropy.measure import SMALLEST_DEVIATION

__all__ = ["Dependence", "noise_dependence"]

# Deviations beyond which values are clipped, so that heavy tails leave correlations their errors.
_CLIPPED = 3.0
# Standard errors beyond which a correlation refutes an arc, and beyond which it leaves no doubt.
_REFUTES, _CERTAIN = 3.5, 5.0
# Share of refuted arcs, and of certainly refuted ones, that refutes the model. Measured, arcs
# beyond 3.5 errors: Laplace, uniform, exponential, Gumbel and t noise (d = 10 to 50, n = 500 to
# 50,000) at most one arc or 2 %; counts, curves, tanh, noise that depends on a parent 15 to 98 %.
_MOST, _MOST_CERTAIN = 0.05, 0.1


@dataclass(frozen=True)
class Dependence:
    """How many arcs of a graph contradict a linear model with independent noise.

    Attributes
    ----------
    arcs, refuted, certain : int
        Arcs in all, those whose residual depends on the parent, and those where that is certain.
    curved, uneven : int
        Refuted arcs whose residual follows x² or x³, and those whose squared residual follows x
        or x².
    worst : (int, int) or None
        The arc that contradicts the model most.
    """

    arcs: int
    refuted: int
    certain: int
    curved: int
    uneven: int
    worst: tuple[int, int] | None

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
    def seen(self) -> str:
        """What was seen, in words."""
        kinds = {"curved relations": self.curved, "noise that depends on a parent": self.uneven}
        named = [f"{kind} in {count}" for kind, count in kinds.items() if count]
        return " and ".join(named) + f" of {self.arcs} arcs"


def noise_dependence(
    X: NDArray[np.float64],
    weights: sparse.csr_array,
    counted: NDArray[np.float64] | None = None,
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
    residuals = X - X @ weights
    by_head = sparse.csc_array(weights)
    rounding = residuals.std(axis=0) < SMALLEST_DEVIATION * X.std(axis=0)
    kept: dict[int, tuple[NDArray[np.float64], ...]] = {}
    curved, uneven, arcs = [], [], []
    for head in np.flatnonzero(~rounding).tolist():
        rows = slice(None) if counted is None else counted[:, head] > 0
        left = _clipped(residuals[rows, head])
        squares = _standard(left**2)
        scale = np.sqrt(len(left))
        for parent in by_head.indices[by_head.indptr[head] : by_head.indptr[head + 1]].tolist():
            if counted is not None or parent not in kept:
                kept[parent] = _powers(X[rows, parent])
            first, second, third = kept[parent]
            curved.append(scale * max(abs(np.mean(left * second)), abs(np.mean(left * third))))
            uneven.append(
                scale * max(abs(np.mean(squares * first)), abs(np.mean(squares * second)))
            )
            arcs.append((parent, head))
    if not arcs:
        return Dependence(0, 0, 0, 0, 0, None)
    errors = np.array([curved, uneven])
    most = errors.max(axis=0)
    return Dependence(
        arcs=len(arcs),
        refuted=int(np.sum(most > _REFUTES)),
        certain=int(np.sum(most > _CERTAIN)),
        curved=int(np.sum(errors[0] > _REFUTES)),
        uneven=int(np.sum(errors[1] > _REFUTES)),
        worst=arcs[int(most.argmax())],
    )


def _clipped(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring values to mean 0 and deviation 1, with far values brought nearer."""
    return _standard(np.clip(_standard(values), -_CLIPPED, _CLIPPED))


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring values to mean 0 and deviation 1; a constant to zero."""
    centred = values - values.mean()
    deviation = centred.std()
    return np.asarray(centred / deviation if deviation > 0 else np.zeros_like(centred))


def _powers(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """First three powers of clipped values; the third is what the first two leave of it.

    A residual of least squares is uncorrelated with x, so that x³ would say less than its rest.
    """
    first = _clipped(values)
    square = first**2
    cubes = first**3 - np.mean(first**3)
    rest = _standard(square - np.mean(square * first) * first)
    cubes -= np.mean(cubes * first) * first
    return first, _standard(square), _standard(cubes - np.mean(cubes * rest) * rest)
