"""Columns of labels: which become categories, the order of levels, and errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cosmodag import OrderSearch
from cosmodag.errors import DataError
from cosmodag.io import as_table, read_table
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.foreign import like_table, with_number_labels

SIZES = ["small", "large", "medium", "small", "large", "small"]


def column(values, **options):
    """Convert a column, as the second of a table with a numeric first column."""
    table = as_table(pd.DataFrame({"x": np.arange(len(values)), "c": values}), **options)
    return table.X[:, 1].tolist(), table.kinds[1]


def test_text_is_sorted():
    numbers, kind = column(SIZES)
    assert kind == ColumnKind("categorical", ("large", "medium", "small"), "text, 3 levels")
    assert numbers == [2, 0, 1, 2, 0, 2]


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_of_pandas_keep_their_order(ordered):
    order = ["small", "medium", "large", "huge"]
    numbers, kind = column(pd.Categorical(SIZES, order, ordered=ordered))
    assert kind.levels == ("small", "medium", "large")  # the unused level "huge" is dropped
    assert kind.kind == ("ordinal" if ordered else "categorical")
    assert numbers == [0, 2, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("dtype", "levels"),
    [
        (pl.Enum(["small", "medium", "large"]), ("small", "medium", "large")),
        (pl.Categorical, ("large", "medium", "small")),
        (pl.String, ("large", "medium", "small")),
    ],
)
def test_categories_of_polars(dtype, levels):
    frame = pl.DataFrame({"x": range(6), "c": pl.Series(SIZES, dtype=dtype)})
    table = as_table(frame)
    assert table.kinds[1].kind == "categorical"
    assert table.kinds[1].levels == levels
    assert [levels[int(number)] for number in table.X[:, 1]] == SIZES


@pytest.mark.parametrize("ordered", [True, False])
def test_dictionaries_of_arrow(ordered):
    """Arrow's form of pandas categories, with a different dictionary in each chunk."""
    order = ["small", "medium", "large"]
    halves = [
        pa.Table.from_pandas(pd.DataFrame({"x": x, "c": pd.Categorical(c, order, ordered=ordered)}))
        for x, c in (((0, 1, 2), SIZES[:3]), ((3, 4, 5), SIZES[3:]))
    ]
    table = as_table(pa.concat_tables(halves))
    levels = tuple(order) if ordered else ("large", "medium", "small")
    assert table.kinds[1].kind == ("ordinal" if ordered else "categorical")
    assert table.kinds[1].levels == levels
    assert [levels[int(number)] for number in table.X[:, 1]] == SIZES


def test_codes_of_a_category_type_are_levels():
    numbers, kind = column(pd.Categorical([30, 10, 20, 10, 10, 30]))
    assert kind.levels == (10, 20, 30)
    assert numbers == [2, 0, 1, 0, 0, 2]


def test_gaps_in_text_are_missing_values():
    values = ["a", None, "b", "", "a", "b", float("nan"), " "]
    with pytest.raises(DataError, match=r"missing values \(NaN\) in 'c'"):
        column(values)
    numbers, kind = column(values, missing="keep")
    np.testing.assert_array_equal(numbers, [0, np.nan, 1, np.nan, 0, 1, np.nan, np.nan])
    assert kind.levels == ("a", "b")


def test_dropped_rows_take_their_levels_along():
    frame = pd.DataFrame({"x": [1, 2, np.nan, 4, 5], "c": list("abcab")})
    with pytest.warns(match="1 of 5 rows"):
        table = as_table(frame, missing="drop", declared=["c"])
    assert table.kinds[1].levels == ("a", "b")


def test_a_single_level_is_a_constant_column():
    numbers, kind = column(["only"] * 6)
    assert numbers == [0] * 6
    assert kind.levels == ("only",)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"patient {k}" for k in range(6)], "text that differs in most rows, such as 'patient 0'"),
        (list("abcdda"), "text that differs in most rows"),
        (["2024-01-02"] * 3 + ["2024-01-03"] * 3, "dates such as '2024-01-02'"),
        (["1.5", "2.5"] * 3, "numbers written as text, such as '1.5'"),
        (["1", "2", "3+"] * 2, "the value '3\\+'"),
        (["a", "b", "?"] * 2, "has the value '\\?': leave the cell empty"),
        (["12 %", "13 %"] * 3, "without a percent sign"),
    ],
)
def test_text_that_is_no_category_is_refused_unless_it_is_declared(values, words):
    with pytest.raises(DataError, match=words):
        column(values)
    numbers, kind = column(values, declared=["c"])
    assert [str(kind.levels[int(number)]) for number in numbers] == values


def test_bad_columns_of_a_file_are_refused_together(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"p{k},2024-01-{k + 10},{k},{'ab'[k % 2]},free text {k}" for k in range(8)]
    path.write_text("id,day,x,group,note\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match=r"3 columns .*'id' .*'day' .*--drop id,day,note\)"):
        read_table(path)
    table = read_table(path, drop=["id,day,note"])
    assert table.kinds[1].levels == ("a", "b")
    declared = read_table(path, drop=["day,note"], declared=["id"])
    assert len(declared.kinds[0].levels) == 8


def test_rows_of_a_list_keep_their_numbers():
    table = as_table([["a", 1.5], ["b", 2.5], ["a", 3.5]])
    assert table.X.tolist() == [[0, 1.5], [1, 2.5], [0, 3.5]]


def test_columns_and_rows_take_their_kinds_along():
    table = as_table(pd.DataFrame({"x": range(6), "c": SIZES}))
    swapped = table.of_columns([1, 0])
    assert swapped.names == ["c", "x"]
    assert swapped.kinds == table.kinds[::-1]
    assert table.of_rows(np.array([0, 0])).kinds == table.kinds


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_results_show_labels_of_whole_numbers_only(make):
    kinds = (ColumnKind("binary", ("no", "yes")), ColumnKind("binary", ("no", "yes")))
    given = make({"a": [1, 2], "b": [1, 2]})
    shown = like_table(np.array([[0.0, 0.4], [1.0, 1.0]]), given, ["a", "b"], kinds)
    assert list(shown["a"]) == ["no", "yes"]
    assert list(shown["b"]) == [0.4, 1.0]


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("lags", [0, 1])
def test_numbers_as_labels_come_back_from_arrays(lags):
    random = np.random.default_rng(0)
    group = random.choice([1.0, 2.0, 5.0], 200)
    X = np.column_stack([group, group + random.normal(size=200)])
    kinds = ["categorical", "continuous"]
    model = OrderSearch(kinds=kinds, lags=lags, random_state=0).fit(X)
    drawn = model.sample(100, random_state=0)
    assert set(drawn[:, 0]) == {1, 2, 5}
    assert np.isfinite(model.score(drawn))
    predicted = model.predict(X)[lags:, 0]
    assert set(predicted) <= {1, 2, 5}
    assert set(model.sample(9, random_state=0, do={"x0" if lags else 0: 5})[:, 0]) == {5}


def test_one_label_and_missing_numbers():
    values = np.array([[0.0, np.nan], [np.nan, 1.0]])
    kinds = [ColumnKind("categorical", (7,)), ColumnKind("categorical", (4, 9))]
    shown = with_number_labels(values, kinds)
    np.testing.assert_array_equal(shown, [[7, np.nan], [np.nan, 9]])
    assert values[0, 0] == 0
