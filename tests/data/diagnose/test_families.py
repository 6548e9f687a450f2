"""Each family of findings is reported for tables that show it, and for no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.data.diagnose import before_fit, examine_arcs
from cosmodag.data.diagnose.row_findings import lag_correlations, valley

ARC = np.array([[False, True], [False, False]])


def names_of(X, **settings):
    columns = [f"x{place}" for place in range(X.shape[1])]
    return [finding.name for finding in before_fit(X, columns, **settings)]


def series(rows, columns, autocorrelation, seed=0):
    values = np.random.default_rng(seed).normal(size=(rows, columns))
    for row in range(1, rows):
        values[row] += autocorrelation * values[row - 1]
    return values


@pytest.mark.parametrize("autocorrelation", [0.8, -0.8])
def test_rows_that_follow_one_another(autocorrelation):
    X = series(300, 3, autocorrelation)
    assert names_of(X) == ["rows_follow"]
    assert "rows_follow" not in names_of(np.random.default_rng(1).permutation(X))
    np.testing.assert_allclose(lag_correlations(X), autocorrelation, atol=0.15)


def test_a_table_that_was_sorted_has_independent_rows():
    random = np.random.default_rng(0)
    x = np.sort(random.normal(size=300))
    assert names_of(np.column_stack([x, x + random.normal(size=300), -3 * x])) == ["collinear"]


def test_rows_that_were_set_are_not_compared():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[200:, 0] += 8
    untouched = np.arange(300) < 200
    assert names_of(X) == ["rows_follow"]
    assert names_of(X, untouched=untouched) == []


def test_several_populations():
    random = np.random.default_rng(0)
    X, second = random.normal(size=(400, 6)), random.random(400) < 0.4
    assert names_of(X) == []
    X[second] += [2, -2, 2, 2, -2, 2]
    assert names_of(X) == ["several_populations"]
    # A column that identifies the populations explains their difference.
    assert names_of(np.column_stack([X, second])) == ["binary"]


@given(seed=st.integers(0, 2**32), rows=st.integers(50, 400))
@settings(max_examples=30, deadline=None)
def test_a_valley_does_not_depend_on_units_or_sides(seed, rows):
    x = np.random.default_rng(seed).normal(size=rows) ** 3
    depth = valley(x)
    assert 0 <= depth < 0.5
    assert valley(1e3 * x + 7) == pytest.approx(depth, abs=1e-9)
    assert valley(-x) == pytest.approx(depth, abs=2 / rows)


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_copies_with_noise_are_found_and_strong_causes_are_not(noise):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    X[:, 1] += 3 * X[:, 0]
    for column in (2, 3):
        X[:, column] += 4 * X[:, 1] + 4 * X[:, 0]
    assert np.abs(np.corrcoef(X.T))[2, 3] > 0.99
    assert "near_duplicate" not in names_of(X)
    own = random.normal(size=300)
    copied = np.column_stack([X, own, own + noise * random.normal(size=300)])
    assert "near_duplicate" in names_of(copied)


class TestArcs:
    @pytest.fixture
    def drawn(self):
        return np.random.default_rng(0).normal(size=(2, 1000))

    def test_straight(self, drawn):
        x, noise = drawn
        found = examine_arcs(np.column_stack([x, 2 * x + noise]), ARC)
        assert abs(found.curved[0]) < 3.5
        assert abs(found.uneven[0]) < 3.5

    def test_curved(self, drawn):
        x, noise = drawn
        assert examine_arcs(np.column_stack([x, x + 0.3 * x**2 + noise]), ARC).curved[0] > 5

    def test_noise_that_grows_with_the_cause(self, drawn):
        x, noise = drawn
        found = examine_arcs(np.column_stack([x, x + noise * np.exp(x / 2)]), ARC)
        assert abs(found.curved[0]) < 3.5
        assert found.uneven[0] > 5

    def test_an_arc_the_wrong_way_round_is_not_taken_for_either(self):
        x, noise = np.random.default_rng(0).exponential(size=(2, 1000))
        found = examine_arcs(np.column_stack([x + noise, x]), ARC)
        assert max(abs(found.curved[0]), abs(found.uneven[0])) < 3.5

    @pytest.mark.parametrize(("stop", "tested"), [(1, 0), (2, 1)])
    def test_a_stop_leaves_arcs_untested_and_refutes_none(self, drawn, stop, tested):
        x, noise = drawn
        asked = []

        def should_stop():
            asked.append(None)
            return len(asked) >= stop  # before the arc, or before it is tested in reverse

        X = np.column_stack([x, x + 0.3 * x**2 + noise])
        found = examine_arcs(X, ARC, None, should_stop)
        assert found.curved.tolist() == [0.0] * tested

    def test_columns_that_are_left_out(self, drawn):
        x, noise = drawn
        found = examine_arcs(np.column_stack([x, noise]), ARC, np.array([True, False]))
        assert len(found.curved) == 0
