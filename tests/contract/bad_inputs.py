"""Catalogue of unusual tables that users really pass, with the required outcome of each.

There are three outcomes. `refused`: an error of this package, raised before the first step, whose
message contains `mentions`. `warned`: a valid, finite DAG and at least one warning of this package.
`fine`: the graph that the same learner finds in `like`, a plain array of the same numbers; warnings
are allowed. Other errors, other warnings and changes to the input are not allowed.

Tables have 120 rows and 5 columns unless their shape is unusual, because programs are compiled for
each shape.
"""

import datetime
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

__all__ = ["CASES", "Case"]

Outcome = Literal["refused", "warned", "fine"]
NAMES = list("abcde")


@dataclass(frozen=True)
class Case:
    """One input: how to make it, its outcome, the words of its message, and the plain array."""

    name: str
    make: Callable[[], Any]
    outcome: Outcome
    mentions: str = ""
    like: Callable[[], np.ndarray] | None = None


def values(n: int = 120, d: int = 5) -> np.ndarray:
    """An ordinary table: rows of a chain with growing variances."""
    random = np.random.default_rng(7)
    X = random.normal(size=(n, d))
    for column in range(1, d):
        X[:, column] += 1.5 * X[:, column - 1]
    return X


def plain(make: Callable[[], Any]) -> Callable[[], np.ndarray]:
    """The numbers of a table as an array of float64."""
    return lambda: np.array(make(), np.float64)


def frame() -> pd.DataFrame:
    """The ordinary table with column names."""
    return pd.DataFrame(values(), columns=NAMES)


def with_entry(row: int, column: int, value: float) -> np.ndarray:
    """The ordinary table with one value replaced."""
    X = values()
    X[row, column] = value
    return X


def with_column(column: Any, name: str = "c") -> pd.DataFrame:
    """The ordinary table with one column replaced."""
    table = frame()
    table[name] = column
    return table


def scaled(factor: float) -> np.ndarray:
    """The ordinary table with one column in another unit."""
    X = values()
    X[:, 2] *= factor
    return X


def _many_missing() -> pd.DataFrame:
    table = frame()
    table.loc[::7, "b"] = np.nan
    table.loc[::5, "d"] = np.nan
    return table


def _memory_mapped() -> np.ndarray:
    path = Path(tempfile.mkdtemp()) / "table.npy"
    np.save(path, values())
    return np.load(path, mmap_mode="r")


def _read_only() -> np.ndarray:
    X = values()
    X.flags.writeable = False
    return X


def _nearly_constant() -> pd.DataFrame:
    return with_column([0.0] * 119 + [1.0])


def _decimals() -> pd.DataFrame:
    return with_column([Decimal(k % 7) for k in range(120)])


def _whole_numbers() -> np.ndarray:
    return np.round(values() * 100).astype(np.int64)


def _bytes() -> np.ndarray:
    return np.clip(values() * 9 + 99, 0, 255).astype(np.uint8)


def _truths() -> np.ndarray:
    return values() > 0


def _half_precision() -> np.ndarray:
    return values().astype(np.float16)


def _backwards() -> np.ndarray:
    return values(240)[::-2]


def _collinear() -> pd.DataFrame:
    table = frame()
    table["e"] = table["a"] + table["b"]
    return table


def _heavy_tails() -> np.ndarray:
    X = np.random.default_rng(3).standard_cauchy(size=(120, 5))
    X[5, 1] = 1e30
    return X


def _named(names: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(values(), columns=names)


def _two_levels() -> pd.DataFrame:
    table = frame()
    table.columns = pd.MultiIndex.from_product([["x"], NAMES])
    return table


_LEVELS = pd.Categorical(["low", "high"] * 60, ["high", "low"])


def _two_values() -> np.ndarray:
    """The ordinary table with a column of ones and zeros, the codes of two levels."""
    return with_column([1.0, 0.0] * 60).to_numpy()


_DATES = pd.date_range("2024-01-01", periods=120)
_DURATIONS = pd.to_timedelta(np.arange(120), unit="h")

CASES = (
    # Values that are not finite.
    Case("one NaN", lambda: with_column([np.nan] + [1.5, 2.5] * 59 + [0.0]), "refused", "'c'"),
    Case("NaN in many rows", _many_missing, "refused", "'b', 'd'"),
    Case("one NaN in an array", lambda: with_entry(3, 1, np.nan), "refused", "'x1'"),
    Case("a column of NaN", lambda: with_column(np.nan), "refused", "'c'"),
    Case("infinity", lambda: with_entry(3, 1, np.inf), "refused", "'x1'"),
    Case("minus infinity", lambda: with_entry(0, 4, -np.inf), "refused", "'x4'"),
    Case("NaN and infinity", lambda: with_column([np.nan, np.inf] * 60), "refused", "'c'"),
    # Columns without information, or with the same information twice.
    Case("constant column", lambda: with_column(3.0), "warned", "'c'"),
    Case("all columns constant", lambda: np.ones((120, 5)), "warned", "'x0'"),
    Case("all zeros", lambda: np.zeros((120, 5)), "warned", "'x0'"),
    Case("duplicate column", lambda: with_column(frame()["a"]), "warned", "'a', 'c'"),
    Case("collinear column", _collinear, "warned", "'e'"),
    Case("nearly constant column", _nearly_constant, "fine", like=plain(_nearly_constant)),
    # Scales.
    Case("one column × 1e8", lambda: scaled(1e8), "warned", "'x2'"),
    Case("one column × 1e-8", lambda: scaled(1e-8), "warned", "'x2'"),
    Case("the table × 1e30", lambda: values() * 1e30, "fine", like=values),
    Case("the table × 1e-30", lambda: values() * 1e-30, "fine", like=values),
    Case("the table + 1e9", lambda: values() + 1e9, "fine", like=values),
    Case("heavy tails at 1e30", _heavy_tails, "refused", "'x1'"),
    Case("subnormal numbers", lambda: values() * 1e-310, "refused", "'x0'"),
    Case("one column × 1e200", lambda: scaled(1e200), "refused", "'x2'"),
    Case("standardised", lambda: (values() - values().mean(0)) / values().std(0), "warned"),
    # Shapes.
    Case("fewer rows than columns", lambda: values(4, 5), "warned", "4 rows"),
    Case("no rows", lambda: np.empty((0, 5)), "refused", "row"),
    Case("one row", lambda: values(1), "refused", "one row"),
    Case("two rows", lambda: values(2), "warned", "2 rows"),
    Case("three rows", lambda: values(3), "warned", "3 rows"),
    Case("one column", lambda: values(120, 1), "refused", "column"),
    Case("two columns", lambda: values(120, 2).tolist(), "fine", like=lambda: values(120, 2)),
    Case("no columns", lambda: np.empty((120, 0)), "refused", "column"),
    Case("empty frame", pd.DataFrame, "refused", "column"),
    Case("one dimension", lambda: values()[:, 0], "refused", "(120,)"),
    Case("three dimensions", lambda: values().reshape(12, 10, 5), "refused", "(12, 10, 5)"),
    Case("a single number", lambda: np.array(3.0), "refused", "dimension"),
    # Types.
    Case("integers", _whole_numbers, "fine", like=plain(_whole_numbers)),
    Case("unsigned bytes", _bytes, "fine", like=plain(_bytes)),
    Case("Booleans", _truths, "fine", like=plain(_truths)),
    Case("objects that are numbers", lambda: values().astype(object), "fine", like=values),
    Case("decimals", _decimals, "fine", like=plain(_decimals)),
    Case("objects that are not", lambda: with_column([object()] * 120), "refused", "'c'"),
    Case("text", lambda: with_column(["yes", "no"] * 60), "fine", like=_two_values),
    Case(
        "text with a gap", lambda: with_column([None] + ["a", "b"] * 59 + ["a"]), "refused", "'c'"
    ),
    Case("free text", lambda: with_column([f"case {k}" for k in range(120)]), "refused", "'c'"),
    Case("numbers as text", lambda: with_column([str(k) for k in range(120)]), "refused", "'c'"),
    Case("an array of text", lambda: values().astype(str), "refused", "written as text"),
    Case("bytes", lambda: with_column([b"x"] * 120), "refused", "'c'"),
    Case("categories", lambda: with_column(_LEVELS), "fine", like=_two_values),
    Case("complex numbers", lambda: values().astype(complex), "refused", "omplex"),
    Case("a complex column", lambda: with_column(1j * values()[:, 0]), "refused", "'c'"),
    Case("dates", lambda: with_column(_DATES), "refused", "'c'"),
    Case("durations", lambda: with_column(_DURATIONS), "refused", "'c'"),
    Case("an array of dates", lambda: np.full((120, 5), np.datetime64("2024-01-01")), "refused"),
    Case("Python dates", lambda: with_column([datetime.date(2024, 1, 1)] * 120), "refused", "'c'"),
    Case("sparse matrix", lambda: sparse.csr_array(values()), "refused", "sparse"),
    Case("float16", _half_precision, "fine", like=plain(_half_precision)),
    Case("long double", lambda: values().astype(np.longdouble), "fine", like=values),
    Case("big-endian", lambda: values().astype(">f8"), "fine", like=values),
    Case("nullable floats", lambda: frame().astype("Float64"), "fine", like=values),
    Case(
        "nullable with a gap",
        lambda: with_column(pd.array([None] + [1, 2] * 59 + [4], "Int64")),
        "refused",
        "'c'",
    ),
    Case("lists in a column", lambda: with_column([[1, 2]] * 120), "refused", "'c'"),
    # Containers.
    Case("lists", lambda: values().tolist(), "fine", like=values),
    Case("rows of unequal length", lambda: [[1.0, 2.0], [3.0]], "refused", "length"),
    Case("a dictionary", lambda: {"a": [1.0]}, "refused", "dict"),
    Case("a string", lambda: "table.csv", "refused", "str"),
    Case("None", lambda: None, "refused", "None"),
    Case("a Series", lambda: frame()["a"], "refused", "frame"),
    Case("a lazy frame", lambda: pl.DataFrame(values(), schema=NAMES).lazy(), "refused", "collect"),
    Case("polars", lambda: pl.DataFrame(values(), schema=NAMES), "fine", like=values),
    Case("Arrow", lambda: pa.table(dict(zip(NAMES, values().T, strict=True))), "fine", like=values),
    Case("masked array", lambda: np.ma.masked_greater(values(), 3.0), "refused", "mask"),
    Case("Fortran order", lambda: np.asfortranarray(values()), "fine", like=values),
    Case("every other row backwards", _backwards, "fine", like=plain(_backwards)),
    Case("read-only", _read_only, "fine", like=values),
    Case("memory-mapped", _memory_mapped, "fine", like=values),
    # Names.
    Case("duplicate names", lambda: _named(["a", "b", "a", "d", "e"]), "refused", "'a'"),
    Case("an empty name", lambda: _named(["a", "b", "", "d", "e"]), "refused", "column 3"),
    Case("numbers for names", lambda: _named([0, 1, 2, 3, 4]), "fine", like=values),
    Case("names of several types", lambda: _named([0, "b", 2.5, None, "e"]), "fine", like=values),
    Case("names of two levels", _two_levels, "fine", like=values),
    Case(
        "names that are markup",
        lambda: _named(["<b>", "</script>", "a\nb", "\u2028", "𝛽"]),
        "fine",
        like=values,
    ),
)
