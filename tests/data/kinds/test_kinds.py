"""Kinds of columns: inferred from the values, or set by the user and matched by label."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.data.kinds import check_kinds, declared_names, matched, plain_kinds, with_kinds
from cosmodag.errors import DataError
from cosmodag.io import ColumnKind, Table, as_table

RANDOM = np.random.default_rng(0)
ROWS = 60


def table_of(**columns):
    """A numeric table with named columns."""
    return Table(np.column_stack([np.asarray(one, float) for one in columns.values()]), [*columns])


def kinds_of(table, asked="auto"):
    return {n: k.kind for n, k in zip(table.names, with_kinds(table, asked).kinds, strict=True)}


def numbers():
    random = np.random.default_rng(0)
    return table_of(
        height=random.normal(170, 10, ROWS),
        smoker=random.integers(0, 2, ROWS),
        sex=random.integers(1, 3, ROWS),
        score=random.integers(1, 6, ROWS),
        visits=random.poisson(8, ROWS),
        age=np.round(random.normal(50, 9, ROWS)),
        halves=random.integers(0, 5, ROWS) / 2,
        same=np.ones(ROWS),
    )


def test_numbers_are_told_by_their_values_and_keep_them():
    table = numbers()
    found = with_kinds(table)
    assert kinds_of(table) == {
        "height": "continuous",
        "smoker": "binary",
        "sex": "binary",
        "score": "ordinal",
        "visits": "count",
        "age": "continuous",
        "halves": "continuous",
        "same": "continuous",
    }
    assert found.X is table.X
    assert not any(kind.is_levels for kind in found.kinds)
    assert all(kind.reason for kind in found.kinds)


def test_gaps_change_no_kind():
    table = numbers()
    holes = table.X.copy()
    holes[RANDOM.random(holes.shape) < 0.1] = np.nan
    assert kinds_of(Table(holes, table.names)) == kinds_of(table)


def test_few_rows_say_nothing():
    assert set(kinds_of(numbers().of_rows(np.arange(10))).values()) == {"continuous"}


def test_a_decided_table_is_not_examined_again():
    whole = with_kinds(numbers())
    part = whole.of_rows(np.flatnonzero(whole.X[:, 3] < 3))  # two distinct scores remain
    assert with_kinds(part).kinds == whole.kinds


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            {"score": "categorical"},
            ColumnKind("categorical", (1, 2, 3, 4, 5), "as given, 5 levels"),
        ),
        ({"score": "continuous"}, ColumnKind("continuous", (), "as given")),
        ({"score": "count"}, ColumnKind("count", (), "as given")),
        ({"score": [5, 4, 3, 2, 1]}, ColumnKind("ordinal", (5, 4, 3, 2, 1), "5 levels as given")),
    ],
)
def test_what_the_user_says_wins(asked, expected):
    table = numbers()
    found = with_kinds(table, asked)
    assert found.kinds[3] == expected
    if expected.is_levels:
        labels = [expected.levels[int(number)] for number in found.X[:, 3]]
        assert labels == table.X[:, 3].tolist()
    else:
        assert found.X is table.X
    again = with_kinds(found, asked)
    np.testing.assert_array_equal(again.X, found.X)


def test_the_kinds_of_a_fit_can_be_declared_for_another():
    frame = pd.DataFrame({"ward": ["b", "a", "c"] * 20, "smoker": ["no", "yes"] * 30})
    fitted = with_kinds(as_table(frame, declared=["ward", "smoker"]))
    again = with_kinds(as_table(frame, declared=["ward", "smoker"]), fitted.kinds)
    assert [kind.kind for kind in again.kinds] == ["categorical", "binary"]
    assert [kind.levels for kind in again.kinds] == [kind.levels for kind in fitted.kinds]
    np.testing.assert_array_equal(again.X, fitted.X)


def test_one_entry_for_each_column():
    table = numbers()
    asked = [None, "auto", "categorical", "categorical", None, None, None, None]
    assert kinds_of(table, asked)["sex"] == "categorical"
    with pytest.raises(DataError, match="3 entries, but the table has 8 columns"):
        with_kinds(table, ["binary"] * 3)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("categorical", "kinds is 'categorical': give 'auto', a mapping"),
        ({"score": "nominal"}, "entry 'nominal': it must be one of continuous"),
        ({"score": 3}, "the entry 3"),
        (7, "kinds is 7"),
        (np.array(["count", "binary"]), "give 'auto', a mapping such as"),
        ({"scores": "ordinal"}, "names the column 'scores'.*nearest is 'score'"),
        ({"score": "binary"}, "'score' as binary, but it has more than two"),
        ({"height": "count"}, "'height' as a count, but not all"),
        ({"score": [1, 2, 3]}, "'score' has no level [45], only"),
        ({"size": "ordinal"}, r"not the order of its levels.*size: \['large', 'medium', 'small'\]"),
        ({"size": "continuous"}, "'size' as continuous, but its values are labels"),
        ({"size": "binary"}, "'size' as binary, but it has 3 levels"),
        ({"size": ColumnKind("binary", ("a", "b", "c"))}, "'size' as binary, but with 3 levels"),
        ({"score": ColumnKind("count", ("1", "2"))}, "'score' as count, but with 2 levels"),
        ({"score": []}, "gives 'score' no levels"),
        ({"score": [1, 2, 3, 3.0, 4, 5]}, "gives 'score' a level twice"),
        ({"score": ["a", "b", "c", "d", "e"]}, "'score' has the number 5, which is not a level"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(asked, message):
    frame = pd.DataFrame(numbers().X, columns=numbers().names)
    frame["size"] = ["small", "medium", "large"] * (ROWS // 3)
    with pytest.raises(DataError, match=message):
        with_kinds(as_table(frame), asked)


def test_levels_are_ordered_as_the_user_says():
    sizes = ["small", "medium", "large", "small"]
    table = as_table(pd.DataFrame({"x": range(4), "size": sizes}), declared=["size"])
    found = with_kinds(table, {"size": ["small", "medium", "large"]})
    assert found.X[:, 1].tolist() == [0, 1, 2, 0]
    assert found.kinds[1].kind == "ordinal"


def test_numbers_written_as_text_are_labels_of_a_column_of_numbers():
    table = Table(np.array([[1.0, 1.0], [2.0, 2.0], [2.0, 5.0]]), ["x", "size"])
    found = with_kinds(table, {"size": ["1", "2", "5"]})
    assert found.X[:, 1].tolist() == [0, 1, 2]
    assert found.kinds[1].levels == (1, 2, 5)
    assert with_kinds(found, {"size": ["1", "2", "5"]}).kinds == found.kinds
    assert matched(table, found.kinds)[:, 1].tolist() == [0, 1, 2]
    truths = Table(np.array([[1.0, 1.0], [2.0, 0.0]]), ["x", "is_large"])
    assert with_kinds(truths, {"is_large": ["false", "true"]}).X[:, 1].tolist() == [1, 0]
    assert with_kinds(truths, {"is_large": ["True", "False"]}).X[:, 1].tolist() == [0, 1]


@given(st.data())
def test_new_data_is_matched_by_label_whatever_its_numbers(data):
    levels = data.draw(st.lists(st.text("abc", min_size=1), min_size=2, max_size=6, unique=True))
    fitted = (ColumnKind("categorical", tuple(levels), "text"), ColumnKind("continuous"))
    labels = data.draw(st.lists(st.sampled_from(levels), min_size=1, max_size=8))
    frame = pd.DataFrame({"g": labels, "x": 1.0})
    table = as_table(frame, fewest_rows=1, declared=["g"])
    numbers = matched(table, fitted)[:, 0]
    assert [levels[int(number)] for number in numbers] == labels


def test_labels_that_the_fit_has_not_seen_are_named():
    kinds = (ColumnKind("categorical", ("a", "b", "c"), "text"), ColumnKind("continuous"))
    unseen = as_table(pd.DataFrame({"g": ["a", "z"], "x": [1, 2]}), declared=["g"])
    with pytest.raises(DataError, match=r"'g' has no level 'z', only 'a', 'b', 'c'"):
        matched(unseen, kinds)
    with pytest.raises(DataError, match="'g' has the number 3, which is not a level"):
        matched(Table(np.array([[3.0, 1.0]]), ["g", "x"]), kinds)
    with pytest.raises(DataError, match="'g' holds text, 2 levels, but was fitted on numbers"):
        matched(unseen, (ColumnKind("continuous"), ColumnKind("continuous")))


def test_descriptions_that_files_can_hold():
    said = {"a": ColumnKind("ordinal", ("low", "high")), "b": "count", "c": (1, 2)}
    assert plain_kinds(said) == {"a": ["low", "high"], "b": "count", "c": [1, 2]}
    assert plain_kinds("auto") == "auto"
    check_kinds(plain_kinds(said))
    assert declared_names(said, None) == ["a", "c"]
