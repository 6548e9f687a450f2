import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.data.kinds import ColumnKind
from cosmodag.data.kinds.embedding import CURVE_COLUMNS, Embedding

KINDS = (
    ColumnKind("continuous"),
    ColumnKind("categorical", ("a", "b", "c")),
    ColumnKind("binary"),
    ColumnKind("count"),
    ColumnKind("ordinal"),
)


def table(seed=0, n=200):
    random = np.random.default_rng(seed)
    return np.column_stack(
        [
            random.normal(size=n) * 7 + 3,
            random.integers(0, 3, n),
            random.choice([-1.0, 4.0], n),
            random.poisson(3, n),
            random.integers(1, 4, n),
        ]
    )


def test_widths_follow_the_kinds():
    found = Embedding.of(table(), KINDS)
    assert found.widths.tolist() == [CURVE_COLUMNS, 2, 1, 1, 2]
    assert found.targets.tolist() == [1, 2, 1, 1, 1]
    assert Embedding.of(table(), KINDS, 1).widths.tolist() == [1, 2, 1, 1, 1]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(-20, 20))
def test_units_that_are_powers_of_two_change_no_bit(seed, power):
    x = np.random.default_rng(seed).normal(size=(50, 1)) + 5
    one, other = (Embedding.of(X).columns(X) for X in (x, x * 2.0**power))
    np.testing.assert_array_equal(one, other)


def test_levels_and_their_values_are_inverse():
    X = table()
    found = Embedding.of(X, KINDS)
    for v in (1, 2):
        np.testing.assert_array_equal(found.value_of(found.levels_of(X[:, v], v), v), X[:, v])


def test_a_value_between_levels_is_the_nearest_level():
    found = Embedding.of(table(), KINDS)
    assert found.levels_of(np.array([-3.0, 0.4, 1.6, 9.0]), 1).tolist() == [0, 0, 2, 2]


def test_columns_of_new_rows_are_those_of_the_same_rows_in_the_table():
    X = table()
    found = Embedding.of(X, KINDS)
    np.testing.assert_array_equal(found.columns(X[:7]), found.columns(X)[:7])


def test_a_saved_embedding_gives_the_same_columns():
    X = table()
    found = Embedding.of(X, KINDS)
    again = Embedding.from_arrays(found.arrays())
    np.testing.assert_array_equal(again.columns(X), found.columns(X))


@pytest.mark.parametrize("values", [np.ones(50), np.repeat([0.0, 1.0], 25), np.r_[np.zeros(49), 1]])
def test_columns_with_few_values_are_finite(values):
    X = np.column_stack([values, np.arange(50.0)])
    assert np.isfinite(Embedding.of(X).columns(X)).all()
