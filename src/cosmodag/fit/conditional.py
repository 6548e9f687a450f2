"""Values of some variables given the others, under linear equations with normal noise."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cosmodag.fit.normal import Normal

__all__ = ["GaussianEquations", "fill"]

# Share of a variable's variance below which its noise is not taken to be.
_LEAST_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class GaussianEquations:
    """Linear equations of all variables, or their inverse covariance alone.

    Attributes
    ----------
    means, variances
        (d,): of the variables.
    precision
        (d, d): inverse covariance, (I − W) D⁻¹ (I − W)ᵀ for weights W and noise variances D, in
        which the row of a variable speaks of its parents, its children and their other parents.
    terms
        (d, d): column v is (e_v − W e_v) / √D_v, what the equation of v adds to the precision;
        None without a graph.
    """

    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    precision: NDArray[np.float64]
    terms: NDArray[np.float64] | None = None

    @classmethod
    def on(
        cls, arcs: NDArray[np.bool_], X: NDArray[np.float64], targets: NDArray[np.bool_] | None
    ) -> "GaussianEquations":
        """Regress every variable on its parents, over the rows in which it was not set.

        Means are those of plain observations, as the equations imply them, whether or not the
        table has such rows.

        Parameters
        ----------
        arcs : (d, d) bool
            A DAG.
        X : (n, d) array
            Without missing values.
        targets : (n, d) bool, optional
            Where a variable was set from outside.
        """
        n, d = X.shape
        counted = np.ones((n, d), bool) if targets is None else ~targets
        variances = np.var(X, axis=0, where=counted)
        variances = np.where(variances > 0, variances, 1.0)
        terms, constants = np.eye(d), np.empty(d)
        for v in range(d):
            parents = np.flatnonzero(arcs[:, v])
            own = X[counted[:, v]]
            centres = own.mean(axis=0)
            own = own - centres
            weights = linalg.lstsq(own[:, parents], own[:, v])[0] if len(parents) else np.empty(0)
            left = own[:, v] - own[:, parents] @ weights
            noise = max(float(np.mean(left**2)), _LEAST_NOISE * variances[v])
            constants[v] = centres[v] - centres[parents] @ weights
            terms[parents, v] = -weights
            terms[:, v] /= np.sqrt(noise)
        # Where all equations hold, means obey them too.
        means = linalg.solve(terms.T, constants * np.diag(terms))
        return cls(means, variances, terms @ terms.T, terms)

    @classmethod
    def of_normal(cls, normal: Normal, n: int) -> "GaussianEquations":
        """Take a normal distribution without a graph, fitted to n rows."""
        return cls(normal.means, normal.scales**2, normal.precision(n))

    def precision_where(self, was_set: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Inverse covariance in rows in which some variables were set, and follow no equation."""
        if self.terms is None or not was_set.any():
            return self.precision
        terms = self.terms.copy()
        terms[:, was_set] = 0.0
        terms[was_set, was_set] = 1 / np.sqrt(self.variances[was_set])
        return np.asarray(terms @ terms.T)


def fill(
    X: NDArray[np.float64],
    absent: NDArray[np.bool_],
    equations: GaussianEquations,
    draws: NDArray[np.float64],
    targets: NDArray[np.bool_] | None,
) -> NDArray[np.float64]:
    """Draw missing values given all others of their row.

    Parameters
    ----------
    X : (n, d) array
        With anything where a value is missing.
    absent : (n, d) bool
        Where that is.
    equations : GaussianEquations
    draws : (number of missing values,) array
        Standard normal; zeros give conditional means.
    targets : (n, d) bool, optional
        Where a variable was set from outside.

    Examples
    --------
    >>> X = np.array([[1.0, np.nan]])
    >>> chain = GaussianEquations(np.zeros(2), np.ones(2), np.array([[5.0, -2.0], [-2.0, 1.0]]))
    >>> fill(X, np.isnan(X), chain, np.zeros(1), None).tolist()
    [[1.0, 2.0]]
    """
    filled = np.where(absent, equations.means, X)
    centred = filled - equations.means
    numbers = np.zeros(X.shape)
    numbers[absent] = draws
    for members, some, was_set in _patterns(absent, targets):
        precision = equations.precision_where(was_set)
        own = precision[np.ix_(some, some)]
        pulls = centred[members] @ precision[:, some]
        # With own = L Lᵀ, Lᵀ⁻¹ times standard numbers has the covariance own⁻¹.
        drawn = np.linalg.solve(np.linalg.cholesky(own).T, numbers[np.ix_(members, some)].T)
        means = -np.linalg.solve(own, pulls.T)
        filled[np.ix_(members, some)] = (means + drawn).T + equations.means[some]
    return filled


def _patterns(
    absent: NDArray[np.bool_], targets: NDArray[np.bool_] | None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]]:
    """Rows that lack the same variables and in which the same were set: rows, lacking, set."""
    rows, d = np.flatnonzero(absent.any(axis=1)), absent.shape[1]
    was_set = np.zeros_like(absent) if targets is None else targets
    kinds = np.hstack([absent[rows], was_set[rows]])
    patterns, which = np.unique(kinds, axis=0, return_inverse=True)
    by_pattern = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    for pattern, members in zip(patterns, np.split(rows[by_pattern], ends[:-1]), strict=True):
        yield members, np.flatnonzero(pattern[:d]), pattern[d:]
