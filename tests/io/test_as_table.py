"""Tables in memory: all accepted kinds, and those that raise an error."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from cosmodag.errors import DataError, DataWarning
from cosmodag.io import Table, as_table

COLUMNS = {"a": [1, 2, 3], "b": [0.5, -1.0, 4.0], "c": [True, False, True]}
EXPECTED = np.array([[1, 0.5, 1], [2, -1, 0], [3, 4, 1]])


def polars_frame(columns):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.DataFrame(columns)


MAKERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "arrow": pa.table,
    "polars": polars_frame,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_frames_keep_names_and_values(kind):
    table = as_table(MAKERS[kind](COLUMNS))
    assert table.names == ["a", "b", "c"]
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, EXPECTED)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("column", [[1.0, None, 2.0], [1, None, 2], [True, None, False]])
def test_missing_values_in_any_column_are_named(kind, column):
    frame = MAKERS[kind]({"full": [1.0, 2.0, 3.0], "holes": column})
    with pytest.raises(DataError, match=r"missing values .* in 'holes': fill") as caught:
        as_table(frame)
    assert "missing=" not in str(caught.value)  # learners have no such option
    with pytest.warns(match="1 of 3 rows"):
        assert as_table(frame, missing="drop").X.shape == (2, 2)


@pytest.mark.parametrize("kind", MAKERS)
def test_text_columns_become_levels(kind):
    table = as_table(MAKERS[kind]({"a": [1, 2, 3], "b": ["low", "high", "low"]}))
    np.testing.assert_array_equal(table.X, [[1, 1], [2, 0], [3, 1]])
    assert table.kinds[1].kind == "binary"
    assert table.kinds[1].levels == ("high", "low")


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.to_timedelta([1, 2], unit="s"),
        [b"x", b"y"],
        [1j, 2j],
        [[1], [2]],
        [{}, 1],
    ],
    ids=["date", "duration", "bytes", "complex", "list", "dict"],
)
def test_other_columns_are_named(column):
    with pytest.raises(
        DataError, match="column 'odd' of the table holds neither numbers nor levels"
    ):
        as_table(pd.DataFrame({"a": [1, 2], "odd": column}))


def test_decimals_are_numbers():
    table = as_table(pd.DataFrame({"a": [Decimal("1.5"), Decimal(2)], "b": [1, 2]}))
    np.testing.assert_array_equal(table.X, [[1.5, 1], [2, 2]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float_arrays_are_not_copied(dtype, order):
    X = np.asarray(np.arange(6).reshape(3, 2), dtype=dtype, order=order)
    assert as_table(X).X is X


def test_a_float_data_frame_is_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert np.shares_memory(as_table(frame).X, frame.to_numpy())


@pytest.mark.parametrize("data", [np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], ((1, 2), (3, 4))])
def test_integers_become_floats(data):
    table = as_table(data)
    assert table.names == ["x0", "x1"]
    assert table.X.dtype == np.float64


def test_the_callers_data_is_never_changed():
    X = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]])
    before = X.copy()
    with pytest.warns(match="dropped"):
        as_table(X, missing="drop")
    np.testing.assert_array_equal(X, before)


def test_names_replace_those_of_the_data():
    assert as_table(pd.DataFrame(COLUMNS), names=["u", "v", "w"]).names == ["u", "v", "w"]
    table = as_table(as_table([[1, 2], [3, 4]]), names=["u", "v"])
    assert isinstance(table, Table)
    assert table.names == ["u", "v"]


def test_one_row_is_enough_where_nothing_is_learnt_from_it():
    assert as_table([[1, 2]], fewest_rows=1).X.shape == (1, 2)
    with pytest.raises(DataError, match="is empty"):
        as_table(np.ones((0, 2)), fewest_rows=1)
    with pytest.warns(match="1 of 2 rows"):
        kept = as_table([[1, np.nan], [3, 4]], fewest_rows=1, missing="drop")
    assert kept.X.tolist() == [[3, 4]]


def test_column_labels_that_are_not_text():
    assert as_table(pd.DataFrame({0: [1, 2], (1, "x"): [3, 5]})).names == ["0", "(1, 'x')"]


def test_large_finite_values_are_not_taken_for_infinite():
    X = np.full((3, 2), 1e308)
    assert as_table(X).X is X
    assert as_table(np.full((3, 2), 3e38, dtype=np.float32)).X.dtype == np.float32


ROWS = np.ones((3, 2))
BAD = {
    "complex": (ROWS * 1j, {}, "Complex data not supported"),
    "sparse": (sparse.eye_array(3), {}, "sparse matrix.*toarray"),
    "one dimension": (np.ones(3), {}, "1 dimension"),
    "three dimensions": (np.ones((2, 2, 2)), {}, "3 dimension"),
    "ragged list": ([[1, 2], [3]], {}, "same length"),
    "text array": (np.array([["a", "b"], ["c", "d"]]), {}, "'x0' .*'a'.*'x1' .*'b'"),
    "dates": (np.zeros((2, 2), "M8[s]"), {}, "datetime64"),
    "structured": (np.zeros((2, 2), [("a", float)]), {}, "convert every column"),
    "objects": (np.array([[1, {}], [2, 3]], dtype=object), {}, "column 'x1'"),
    "no columns": (np.ones((3, 0)), {}, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 2"),
    "no rows": (np.ones((0, 3)), {}, "empty"),
    "one row": (np.ones((1, 3)), {}, "n_samples=1"),
    "one column": (np.ones((3, 1)), {}, "n_features=1"),
    "NaN": (ROWS * np.nan, {}, "missing values .* in 'x0', 'x1'"),
    "infinite": (ROWS * np.inf, {}, "infinite values in 'x0', 'x1'"),
    "too few names": (ROWS, {"names": ["a"]}, "2 columns but was given 1 name:"),
    "same names": (ROWS, {"names": ["a", "a"]}, "more than one column named 'a'"),
    "empty name": (ROWS, {"names": ["a", ""]}, "column 2 .* no name"),
    "unknown option": (ROWS, {"missing": "ignore"}, "'error', 'drop' or 'keep'"),
    "number": (5, {}, "is of type int"),
    "path": ("data.csv", {}, "is of type str"),
    "dict": ({"a": [1, 2]}, {}, "is of type dict"),
    "series": (pd.Series([1.0, 2.0]), {}, "Series"),
    "same labels": (pd.DataFrame(ROWS, columns=["a", "a"]), {}, "more than one column named 'a'"),
    "same arrow labels": (
        pa.table([[1.0], [2.0]], names=["a", "a"]), {}, "more than one column named 'a'"),
    "labels alike as text": (
        pd.DataFrame(ROWS, columns=[1, "1"]), {}, "more than one column named '1'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_refusals(case):
    data, options, message = BAD[case]
    with pytest.raises(DataError, match=message) as caught:
        as_table(data, **options)
    assert str(caught.value).endswith(".")


def test_a_lazy_frame_is_refused_quietly(recwarn):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    with pytest.raises(DataError, match=r"collect\(\)"):
        as_table(polars.DataFrame(COLUMNS).lazy())
    assert not recwarn.list


def test_long_lists_of_names_are_cut():
    with pytest.raises(DataError, match="'x4' and 45 more"):
        as_table(np.full((3, 50), np.nan))


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_beyond_double_precision_are_infinite(sign):
    huge = pd.Series([sign * 10**400, 1, 2], dtype=object)
    frame = pd.DataFrame({"a": huge, "b": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match="infinite values in 'a'"):
        as_table(frame)


def test_a_checked_table_is_not_checked_again():
    table = as_table(np.ones((3, 2)))
    assert as_table(table) is table
    assert as_table(table.of_rows(np.array([0, 2]))).is_complete
    assert as_table(table, names=["a", "b"]).names == ["a", "b"]


def test_a_table_that_may_be_unusable_is_checked_again():
    complete = as_table(np.ones((3, 2)))
    with pytest.raises(DataError, match="one row"):
        as_table(complete.of_rows(np.array([0])))
    with pytest.raises(DataError, match="one column"):
        as_table(complete.of_columns([1]))
    gaps = as_table(np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 6.0]]), missing="keep")
    assert not gaps.is_complete
    with pytest.raises(DataError, match="missing values"):
        as_table(gaps)
    with pytest.warns(DataWarning, match="1 of 3 rows"):
        assert as_table(gaps, missing="drop").is_complete
    with pytest.raises(DataError, match="infinite"):
        as_table(Table(np.full((3, 2), np.inf), ["a", "b"]))


def test_sparse_columns_of_pandas_are_numbers():
    frame = pd.DataFrame({"a": [0.0, 0.0, 1.5], "b": [True, False, False], "c": [1, 0, 0]})
    sparse = frame.astype({"a": "Sparse[float]", "b": "Sparse[bool]", "c": "Sparse[int]"})
    np.testing.assert_array_equal(as_table(sparse).X, frame.astype(float))


def test_a_column_of_lists_is_refused_with_the_first_list():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"a": [1.0, 2.0, 4.0], "lists": [[1, 2], [3], []]})
    with pytest.raises(DataError, match=r"'lists' .* \(it has the value '\[1, 2\]'\)"):
        as_table(frame)


@pytest.mark.parametrize("base", [2**60, 2**70])
def test_whole_numbers_that_become_equal_are_reported(base):
    """A column of them was constant, and only that was reported."""
    rows = [[place**2, base + place] for place in range(6)]
    with pytest.warns(DataWarning, match=r"'x1' has whole numbers beyond 2\^53"):
        assert len(np.unique(as_table(np.array(rows)).X[:, 1])) == 1
    with pytest.warns(DataWarning, match=r"'b' has whole numbers beyond 2\^53"):
        as_table(pd.DataFrame(rows, columns=["a", "b"]))


def test_large_whole_numbers_that_stay_different_are_not_reported(recwarn):
    as_table(np.array([[place, 2**60 + 2**20 * place] for place in range(6)]))
    as_table(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2**60, 2**60, 2**61]}))
    assert not recwarn.list
