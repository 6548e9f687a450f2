"""Input of pruning and search of networks, checked and standardised."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.errors import DataError
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints, checked_order
from cosmodag.search.networks.network_columns import ProcessColumns
from cosmodag.search.networks.network_inputs import ChildData, Effort

Arcs: TypeAlias = NDArray[np.bool_]

# Added to the diagonal of correlations, so that they are regular even with duplicated columns.
_RIDGE = 0.01

# A child with fewer rows has no evidence for any arc.
_FEWEST_ROWS = 3


class NetworkProblem:
    """Checked and standardised input with the parameters of `prune_networks`.

    Rows are shuffled once. By default all arcs are equally strong.
    """

    def __init__(
        self,
        X: ArrayLike,
        order: ArrayLike,
        *,
        strengths: ArrayLike | None = None,
        constraints: Constraints = NO_CONSTRAINTS,
        counted: ArrayLike | None = None,
        random: Any = None,
        effort: Effort | None = None,
        embedding: Embedding | None = None,
    ) -> None:
        data = _checked_data(X)
        n, self.d = data.shape
        self.effort = effort or Effort()
        self.given_order = checked_order(order, self.d)
        self._set_arcs(constraints.of_size(self.d), np.ptp(data, axis=0) > 0)
        self.order = self.constraints.respected(self.given_order)
        shuffled = np.random.default_rng(0 if random is None else random).permutation(n)
        whole = ProcessColumns.of_numbers(data)
        if embedding is not None:
            whole = ProcessColumns.of_kinds(data, embedding)
        self.columns = whole.of_rows(shuffled)
        self.counted = None
        if counted is not None:
            self.counted = _checked_array("counted", counted, (n, self.d))[shuffled] != 0
        deviations = whole.deviations * _residual_deviations(whole.standardised, self.order)
        given = np.ones((self.d, self.d)) if strengths is None else strengths
        sizes = np.abs(_checked_array("strengths", given, (self.d, self.d)).astype(np.float64))
        places = np.argsort(self.order)
        forward = (places[:, None] < places) & self.support
        # Of arcs along the order: strength times the residual standard deviation of the tail.
        self.contributions = np.where(forward, sizes * deviations[:, None], 0.0)

    def candidates(self, share: float) -> Arcs:
        """Select required arcs, and arcs above a fraction of the child's strongest contribution."""
        strong: Arcs = self.contributions > share * self.contributions.max(axis=0)
        return strong | self.required

    def child(self, v: int) -> ChildData | None:
        """Return all columns in the rows that count for v; None if they give no evidence."""
        counted = slice(None) if self.counted is None else np.flatnonzero(self.counted[:, v])
        most = self.effort.final_rows
        inputs = self.columns.inputs[counted][:most]
        target, levels = self.columns.targets[v][counted][:most], self.columns.levels[v]
        levels = None if levels is None else levels[counted][:most]
        enough = len(inputs) >= _FEWEST_ROWS and target.size and np.ptp(target, axis=0).any()
        return ChildData(inputs, target, levels) if enough else None

    def _set_arcs(self, given: Constraints, varying: Arcs) -> None:
        """Set the support and the required arcs; constant columns have only required arcs."""
        none = np.zeros((self.d, self.d), dtype=bool)
        may = ~none if given.support is None else given.support
        self.required = none if given.required is None else given.required
        if np.any(self.required & ~may):
            raise DataError("support excludes a required arc: allow it or do not require it.")
        varies = np.outer(varying, varying)
        self.support = (may & varies & ~np.eye(self.d, dtype=bool)) | self.required
        self.constraints = Constraints(self.support, self.required, given.before)
        before = self.constraints.precedence
        self.before: Arcs = none if before is None else before


def _residual_deviations(
    columns: NDArray[np.float64], order: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Residual standard deviation of each standardised column, regressed on earlier ones."""
    ordered = columns[:, order]
    correlations = ordered.T @ ordered / len(ordered)
    correlations.flat[:: len(order) + 1] += _RIDGE
    found = np.empty(len(order))
    found[order] = np.linalg.cholesky(correlations).diagonal()
    return found


def _checked_data(X: ArrayLike) -> NDArray[np.float64]:
    data = np.asarray(X, dtype=np.float64)
    if data.ndim != 2 or not data.size or not np.isfinite(data).all():
        raise DataError("X must be a table of finite numbers with at least one row and one column.")
    return data


def _checked_array(name: str, given: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    array = np.asarray(given)
    if array.shape != shape:
        raise DataError(f"{name} must have the shape {shape}, but it has {array.shape}.")
    return array
