"""Simulated experiments change the equations of their targets and no others."""

import numpy as np
import pytest

from cosmodag import simulate
from cosmodag.errors import DataError
from cosmodag.simulate import interventional

NAME = "n400_d6_ER2_gauss"


def residuals(data):
    return data.X - data.X @ data.weights


def test_observations_come_first_and_are_those_of_load():
    data, plain = interventional(NAME, rows=20, seed=2), simulate.load(NAME, seed=2)
    assert np.array_equal(data.X[:400], plain.X)
    assert np.array_equal(data.graph, plain.graph)
    assert data.X.shape == data.targets.shape == (520, 6)
    assert not data.targets[:400].any()
    assert data.targets[400:].sum(axis=0).tolist() == [20] * 6


@pytest.mark.parametrize("kind", ["perfect", "imperfect"])
def test_other_equations_hold_and_the_targets_own_does_not(kind):
    data = interventional(NAME, rows=400, seed=2, kind=kind)
    left = residuals(data)
    for v in np.flatnonzero(data.graph.any(axis=0)):
        assert left[~data.targets[:, v], v].std() == pytest.approx(1, abs=0.1)
        assert left[data.targets[:, v], v].std() > 1.3
    set_rows, parents = data.targets, data.graph
    for u, v in np.argwhere(parents):
        seen = abs(np.corrcoef(data.X[set_rows[:, v]][:, [u, v]].T)[0, 1])
        if kind == "perfect":
            assert seen < 0.2


def test_an_imperfect_intervention_doubles_the_noise():
    data = interventional(NAME, rows=2000, seed=2, kind="imperfect")
    roots = np.flatnonzero(~data.graph.any(axis=0))
    assert len(roots)
    for v in roots:
        assert data.X[data.targets[:, v], v].std() == pytest.approx(2, abs=0.15)


def test_targets_may_be_named_counted_or_set_together():
    data = interventional(NAME, targets=["x1", (2, "x3")], rows=5)
    assert data.interventions[400:] == ["x1"] * 5 + ["x2;x3"] * 5
    for count in (3, np.int64(3)):
        assert interventional(NAME, targets=count, rows=5).targets.any(axis=0).sum() == 3
    assert interventional(NAME, targets=[], rows=5).X.shape == (400, 6)


def test_non_linear_mechanisms_keep_their_functions():
    data = interventional("n100_d5_ER1_mlp", targets=[0], rows=50, seed=1)
    assert data.X.shape == (150, 5)
    assert np.isfinite(data.X).all()
    with pytest.raises(DataError, match="linear"):
        interventional("n100_d5_ER1_mlp", kind="imperfect")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": ["y"]}, "'y'"),
        ({"targets": 7}, "from 0 to 6"),
        ({"targets": "x1"}, "'all'"),
        ({"kind": "soft"}, "'soft'"),
        ({"rows": -1}, "rows"),
        ({"rows": 2.5}, "rows is 2.5"),
        ({"targets": True}, "targets is True"),
        ({"shift": np.nan}, "finite"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(DataError, match=words):
        interventional(NAME, **options)
    with pytest.raises(DataError, match="no rows"):
        interventional("ninf_d6_ER2_gauss")


@pytest.mark.parametrize("name", [NAME, "n400_d6_ER2_mlp"])
def test_a_shift_moves_the_values_that_were_set(name):
    plain, moved = (interventional(name, rows=50, shift=shift, seed=2) for shift in (0.0, 3.0))
    assert np.array_equal(plain.X[:400], moved.X[:400])
    difference = (moved.X - plain.X)[moved.targets]
    scale = plain.X[:400].std(axis=0)[np.nonzero(moved.targets)[1]]
    np.testing.assert_allclose(difference, 3 * scale)
