"""What is known of a table: bounds on its graph, interventions, missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge import Bounds
from cosmodag.errors import ResourceError
from cosmodag.search.constraints import Constraints

if TYPE_CHECKING:
    from cosmodag.search.moments import Moments

Bools = NDArray[np.bool_]

# Smallest number of rows without interventions from which means are computed.
_FEWEST_ROWS = 30
# Limit on the moments of all sets of rows together, in bytes.
_MOST_BYTES = 2**33


@dataclass(frozen=True, eq=False)
class Known:
    """Bounds on the graph, interventions, and missing values; each may be None."""

    bounds: Bounds | None = None  # arcs that may exist, arcs that must exist, and a partial order
    targets: Bools | None = None  # (n, d) bool: entries that were set by an intervention
    absent: Bools | None = None  # (n, d) bool: missing entries, which were imputed
    # (d,) bool: columns without an equation, such as the past of a time series.
    given: Bools | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether there are neither bounds, nor interventions, nor missing values."""
        return self.bounds is None and self.targets is None and self.absent is None

    @property
    def support(self) -> Bools | None:
        """(d, d): arcs that may exist; None if all may."""
        return None if self.bounds is None else self.bounds.support

    @property
    def required(self) -> Bools | None:
        """(d, d): arcs that must exist; None if there are none."""
        if self.bounds is None or not self.bounds.required.any():
            return None
        return self.bounds.required

    @property
    def before(self) -> Bools | None:
        """(d, d): whether u must come before v; None for no constraint."""
        if self.bounds is None or self.bounds.gaps is None:
            return None
        return self.bounds.before

    @property
    def constraints(self) -> Constraints:
        """Constraints of a search for the graph."""
        return Constraints(self.support, self.required, self.before)

    @property
    def fewest_constraints(self) -> Constraints:
        """Constraints without orders of pairs that the support implies.

        Columns without equations come before all others.
        """
        beyond = None if self.bounds is None else self.bounds.beyond_support
        if self.bounds is not None and self.given is not None:
            first = self.given[:, None] & ~self.given
            beyond = first if beyond is None else beyond | first
        return Constraints(self.support, self.required, beyond)

    @property
    def gaps(self) -> NDArray[np.float32] | None:
        """(d, d): longest chain of the partial order from u to v, −∞ for none; None without one."""
        return None if self.bounds is None else self.bounds.gaps

    @property
    def counted(self) -> NDArray[np.float64] | None:
        """(n, d): one for entries that were measured and not set, zero for the others.

        None if all entries count.
        """
        others = [mask for mask in (self.targets, self.absent) if mask is not None]
        return (~np.logical_or.reduce(others)).astype(np.float64) if others else None

    @property
    def untouched(self) -> Bools | None:
        """(n,): rows without interventions; None if nothing was set, or there are fewer than 30."""
        if self.targets is None:
            return None
        rows = np.asarray(~self.targets.any(axis=1))
        return rows if np.count_nonzero(rows) >= _FEWEST_ROWS else None

    @property
    def centred_on(self) -> Bools | None:
        """Rows (n,) without interventions or, if there are few, entries (n, d) that were not set.

        None for the whole table.
        """
        if self.targets is None:
            return None
        return ~self.targets if self.untouched is None else self.untouched

    def of_rows(self, rows: NDArray[np.intp]) -> "Known":
        """Select rows by number, possibly with repetitions."""
        targets = None if self.targets is None else self.targets[rows]
        absent = None if self.absent is None else self.absent[rows]
        return replace(self, targets=targets, absent=absent)

    def of_resample(self, rows: NDArray[np.intp], names: Sequence[Any]) -> "Known":
        """Select rows; a variable that was set in all of them, or all but one, has no causes."""
        known = self.of_rows(rows)
        if known.targets is None:
            return known
        assert known.counted is not None
        scarce = known.targets.any(axis=0) & (np.count_nonzero(known.counted, axis=0) < 2)
        return known.without_causes(scarce, names)

    def without_causes(self, variables: Bools, names: Sequence[Any]) -> "Known":
        """Exclude all causes of some variables (d,); values that were set then count as measured.

        Variables that were set in every row are treated in this way.
        """
        if self.targets is None or not variables.any():
            return self
        bounds = self.bounds or Bounds.none(len(variables))
        bounds = bounds.without_causes(variables, names)
        return replace(self, bounds=bounds, targets=self.targets & ~variables)

    def rows_of_equation(self, parents: NDArray[Any], v: int) -> Any:
        """Index of the rows in which v was not set, and neither it nor a parent is missing."""
        if self.targets is None and self.absent is None:
            return slice(None)
        left_out: list[Any] = [] if self.targets is None else [self.targets[:, v]]
        if self.absent is not None:
            left_out.append(self.absent[:, [v, *parents]].any(axis=1))
        return ~np.logical_or.reduce(left_out)

    def moments(self, X: NDArray[Any]) -> "Moments":
        """Compute second moments of a complete table, for each variable over its counted rows.

        With missing values, the number of rows is reduced, since imputed values are not evidence.
        """
        return replace(self._moments(X), given=self.given)

    def _moments(self, X: NDArray[Any]) -> "Moments":
        from cosmodag.fit.gaussian import moments_of_gaps
        from cosmodag.search.moments import Moments

        if self.targets is None and self.absent is not None:
            return moments_of_gaps(X, self.absent)
        counted = self.counted
        if counted is not None:
            groups, d = len(np.unique(counted, axis=1).T), X.shape[1]
            if groups * d**2 * 8 > _MOST_BYTES:
                raise ResourceError(
                    f"The {d} variables were set or missing in {groups} different sets of rows, "
                    f"and one matrix of {d} × {d} for each set takes "
                    f"{groups * d**2 * 8 / 2**30:.0f} GiB: leave out targets, or variables."
                )
        found = Moments.of(X, counted)
        if self.absent is None:
            return found
        # A regression also needs the causes of a variable, some of which are missing too.
        return replace(found, rows=np.maximum(found.rows * (1 - self.absent.mean()), 2.0))

    def ordered(self, order: NDArray[Any]) -> NDArray[np.intp]:
        """Return the order closest to the given one that satisfies the partial order."""
        from cosmodag.graph.dags import respecting

        return np.asarray(respecting(order, self.before), np.intp)


NOTHING = Known()
"""No bounds, interventions or missing values."""
