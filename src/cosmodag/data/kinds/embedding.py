"""Columns that represent a variable in additive equations: powers, indicators, logarithms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from cosmodag.io.kind_names import ColumnKind

CURVE_COLUMNS = 6
"""Number of columns of a variable whose effects may be curves: the variable and five polynomials of
it. On additive Gaussian processes (d = 20, n = 1,000) four columns lost .09 arcs per variable, six
lost .04."""

NUMBER, LEVELS, COUNT = 0, 1, 2
# Polynomials are defined between these quantiles; values beyond them are clipped.
_ENDS = (0.005, 0.995)


@dataclass(frozen=True, eq=False)
class Embedding:
    """The representation of each variable of a table by a block of columns.

    A number x is represented by (x − centre) / scale, followed by Legendre polynomials of degree 2,
    3, … of x between ``low`` and ``high``; the columns are nested, so that each arc can use the
    first few of them. A count is represented by log(1 + x) and has no curve: with polynomials, the
    uneven noise of counts looked like curves, and class errors rose from .7 to 23 (d = 20,
    Poisson). A category is represented by the indicators of all levels but the first.
    """

    forms: NDArray[np.int64]  # (d,): NUMBER, LEVELS or COUNT
    widths: NDArray[np.int64]  # (d,): number of columns of each variable
    # (d,): mean and standard deviation of numbers, and of log(1 + x) of counts
    centres: NDArray[np.float64]
    scales: NDArray[np.float64]
    # (d,): interval of the polynomials; for categories, the values of the first and the last level
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(
        cls, X: NDArray[Any], kinds: Sequence[ColumnKind] = (), columns: int = CURVE_COLUMNS
    ) -> "Embedding":
        """Choose the columns for a table in its own units, with categories as level numbers.

        Continuous and ordinal variables have at most `columns` columns; with 1, their effects are
        linear. Without `kinds`, all variables are continuous.

        >>> X = np.column_stack([np.linspace(-1, 1, 90), np.arange(90) % 3])
        >>> kinds = [ColumnKind("continuous"), ColumnKind("categorical", ("a", "b", "c"))]
        >>> Embedding.of(X, kinds, 4).widths.tolist()
        [4, 2]
        """
        table = np.asarray(X, np.float64)
        kinds = kinds or (ColumnKind("continuous"),) * table.shape[1]
        blocks = [_block_of(table[:, v], kind, columns) for v, kind in enumerate(kinds)]
        forms, widths, *parts = zip(*blocks, strict=True)
        numbers = [np.array(part, np.float64) for part in parts]
        return cls(np.array(forms, np.int64), np.array(widths, np.int64), *numbers)

    @property
    def targets(self) -> NDArray[np.int64]:
        """(d,): number of leading columns that represent a variable as a child."""
        return np.where(self.forms == LEVELS, self.widths, 1)

    @property
    def shortest(self) -> NDArray[np.int64]:
        """(d,): smallest number of columns that represent a variable as a parent."""
        return self.targets

    @property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,): variable v has the columns starts[v], …, starts[v + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)

    @property
    def has_curves(self) -> bool:
        """Whether any variable has columns for curves."""
        return bool(np.any(self.widths > self.targets))

    @property
    def are_levels(self) -> bool:
        """Whether all variables are categories."""
        return bool(np.all(self.forms == LEVELS))

    def is_levels(self, v: int) -> bool:
        """Whether a variable is a category."""
        return bool(self.forms[v] == LEVELS)

    def is_number(self, v: int) -> bool:
        """Whether a variable is neither a category nor a count."""
        return bool(self.forms[v] == NUMBER)

    def with_columns(self, places: NDArray[np.integer]) -> "Embedding":
        """Select variables, in a new order."""
        parts = (self.forms, self.widths, self.centres, self.scales, self.low, self.high)
        return Embedding(*(part[places] for part in parts))

    def columns(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Compute the columns of all variables, side by side."""
        return np.column_stack([self.block(X[:, v], v) for v in range(len(self.widths))])

    def block(self, x: NDArray[Any], v: int, width: int | None = None) -> NDArray[np.float64]:
        """Compute the first columns of variable v, by default all of them."""
        width = int(self.widths[v]) if width is None else width
        if self.forms[v] == LEVELS:
            return np.asarray(self.levels_of(x, v)[:, None] == np.arange(1, width + 1), np.float64)
        values = np.asarray(x, np.float64)
        line = (self.transformed(values, v) - self.centres[v]) / self.scales[v]
        if width == 1:
            return np.asarray(line[:, None])
        span = self.high[v] - self.low[v]
        inner = np.clip(2 * (values - self.low[v]) / span - 1, -1.0, 1.0)
        powers: NDArray[np.float64] = legendre.legvander(inner, width)
        return np.column_stack([line, powers[:, 2:]])

    def transformed(self, x: NDArray[np.float64], v: int) -> NDArray[np.float64]:
        """Transform values to those in which equations are linear: log(1 + x) for a count."""
        return np.log1p(np.maximum(x, 0.0)) if self.forms[v] == COUNT else x

    def restored(self, values: NDArray[np.float64], v: int) -> NDArray[np.float64]:
        """Invert `transformed`: return values in the units of the table."""
        return np.maximum(np.expm1(values), 0.0) if self.forms[v] == COUNT else values

    def levels_of(self, x: NDArray[Any], v: int) -> NDArray[np.int64]:
        """Convert values of a category in the table to the numbers of the nearest levels."""
        count, span = self.widths[v], self.high[v] - self.low[v]
        nearest = np.rint((np.asarray(x, np.float64) - self.low[v]) * (count / (span or 1.0)))
        return np.asarray(np.clip(nearest, 0, count), np.int64)

    def value_of(self, levels: NDArray[Any], v: int) -> NDArray[np.float64]:
        """Convert level numbers of a category to its values in the table."""
        step = (self.high[v] - self.low[v]) / self.widths[v]
        return np.asarray(self.low[v] + levels * step, np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays that describe the embedding, for saving."""
        return {
            "block_forms": np.stack([self.forms, self.widths]),
            "block_values": np.stack([self.centres, self.scales, self.low, self.high]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Embedding":
        """Rebuild an embedding from the result of :meth:`arrays`."""
        return cls(*arrays["block_forms"], *arrays["block_values"])


def _block_of(
    x: NDArray[np.float64], kind: ColumnKind, columns: int
) -> tuple[int, int, float, float, float, float]:
    """Choose form, width, centre, scale and interval of one variable."""
    if kind.kind in ("binary", "categorical"):
        if kind.is_levels:
            last = max(len(kind.levels) - 1, 1)
            return LEVELS, last, 0.0, 1.0, 0.0, float(last)
        return LEVELS, 1, 0.0, 1.0, float(x.min()), float(x.max())
    form, values = NUMBER, x
    if kind.kind == "count":
        form, values, columns = COUNT, np.log1p(np.maximum(x, 0.0)), 1
    centre, scale = float(values.mean()), float(values.std())
    low, high = (float(end) for end in np.quantile(x, _ENDS))
    most = max(len(np.unique(x)) - 1, 1)
    width = min(columns, most) if high > low else 1
    return form, width, centre, scale if scale > 0 else 1.0, low, high
