"""Gross cells, tests of independence, the choice among densities, and the climb by them."""

import numpy as np
import pytest

from cosmodag.evidence.departures import departures
from cosmodag.evidence.design import Entering
from cosmodag.evidence.gross_cells import about_gross_cells, gross_cells
from cosmodag.evidence.held_out import Density, HeldOut
from cosmodag.evidence.local_climb import LocalClimb
from cosmodag.evidence.verdict import verdict

UNEVEN = Density(Entering(), "uneven")


@pytest.mark.parametrize("draw", ["normal", "laplace", "exponential"])
def test_tails_are_no_gross_cells(draw):
    X = getattr(np.random.default_rng(0), draw)(size=(1000, 20))
    assert gross_cells(X).sum() <= 2


def test_a_repeated_code_is_named_with_its_count():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:23, 1], X[40, 2] = -999, 30
    cells = gross_cells(X)
    assert cells.sum(axis=0).tolist() == [0, 23, 1]
    finding = about_gross_cells(X, cells, ["a", "b", "c"])
    assert finding.columns == ("b", "c")
    assert "b is -999 in 23 rows: missing?; c in row 40 (30)" in finding.sentence


def test_entries_that_were_set_are_not_gross():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[5] = 40
    ignored = np.zeros(X.shape, bool)
    ignored[5, 0] = True
    assert np.argwhere(gross_cells(X, ignored)).tolist() == [[5, 1]]


def test_independent_noise_departs_in_few_tables():
    found = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        noise = random.laplace(size=(400, 6))
        arcs = np.triu(np.ones((6, 6), bool), 1)
        found += bool(departures(noise @ np.linalg.inv(np.eye(6) - 0.3 * arcs), noise, arcs))
    assert found <= 5


def test_products_of_causes_depart():
    X = np.random.default_rng(0).normal(size=(800, 3))
    X[:, 2] += 0.5 * X[:, 0] * X[:, 1]
    arcs = np.zeros((3, 3), bool)
    arcs[:2, 2] = True
    (found,) = (one for one in departures(X, X, arcs) if one.kind == "jointly")
    assert (found.tail, found.head) == (0, 2)


def test_the_simplest_near_the_best_is_kept():
    random = np.random.default_rng(0)
    base, noise = random.normal(size=(2, 500))
    rows = {
        ("lines", "a"): base,
        ("curves", "b"): base + 0.01 * (0.05 + noise),
        ("networks", "c"): base - 1,
    }
    found = verdict(rows, ["lines", "curves", "networks"], {})
    assert found.kept.density == "lines"
    rows["curves", "b"] = base + 0.01 * (0.5 + noise)
    found = verdict(rows, ["lines", "curves", "networks"], {})
    assert (found.kept.density, found.kept.graph) == ("curves", "b")
    assert [one.density for one in found.judged] == ["lines", "curves", "networks"]
    assert found.judged[2].behind > 1


def test_a_climb_turns_an_arc_by_uneven_noise():
    x, e = np.random.default_rng(3).normal(size=(2, 1000))
    X = np.column_stack([x + np.exp(0.7 * e) * x[::-1], e])  # e → x: its size, not its mean
    X[:, 0] += e
    wrong = np.array([[False, True], [False, False]])
    climb = LocalClimb(HeldOut(X), UNEVEN, wrong | wrong.T)
    assert climb.best([wrong], lambda: False).tolist() == [[False, False], [True, False]]
    bound = LocalClimb(HeldOut(X), UNEVEN, wrong | wrong.T, required=wrong)
    assert bound.best([wrong], lambda: False).tolist() == wrong.tolist()
