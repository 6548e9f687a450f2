"""Hidden common causes are reported if at least four variables share one, unless arcs suffice."""

import numpy as np
import pytest

from cosmodag.data.diagnose import after_fit
from cosmodag.data.diagnose.hidden_causes import find_hidden_causes
from cosmodag.data.diagnose.hidden_groups import Equations, Model, dense_groups, gains_of
from cosmodag.search import refine_linear
from cosmodag.search.search_run import Run

ROWS = 1000


def one_cause(seed=0):
    """Eight columns: five effects of one hidden cause, and a separate chain of three variables."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, 8))
    X[:, :5] += random.normal(size=(ROWS, 1)) * [1, -1, 1.2, 0.8, 1]
    X[:, 6] += X[:, 5]
    X[:, 7] -= X[:, 6]
    return X


def dense_graph(seed=0):
    """Eight columns with arcs between most pairs and no hidden cause."""
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(0.5, 1.5, (8, 8)) * random.choice([-1, 1], (8, 8)), 1)
    weights *= random.random((8, 8)) < 0.7
    return random.normal(size=(ROWS, 8)) @ np.linalg.inv(np.eye(8) - weights)


def learnt(X):
    found = refine_linear(X, {}, Run.seeded(0), score="gaussian")
    return found.weights.toarray() != 0, found.order


def test_a_hidden_cause_is_found_with_its_effects():
    X = one_cause()
    found = find_hidden_causes(np.corrcoef(X.T), *_arguments(X))
    assert found.gain > 15
    assert set(found.effects[0]) == {0, 1, 2, 3, 4}
    assert found.arcs_after < found.arcs_before


def test_several_hidden_causes_that_share_effects_are_found():
    random = np.random.default_rng(1)
    weights = np.zeros((4, 14))
    for cause in range(4):
        effects = random.choice(14, 6, replace=False)
        weights[cause, effects] = random.uniform(0.6, 1.4, 6) * random.choice([-1, 1], 6)
    X = random.normal(size=(ROWS, 4)) @ weights + random.normal(size=(ROWS, 14))
    found = find_hidden_causes(np.corrcoef(X.T), *_arguments(X))
    assert found.gain > 15
    assert len(found.effects) > 1


def test_a_stop_keeps_what_was_found():
    X = one_cause()
    arguments = np.corrcoef(X.T), *_arguments(X)
    assert find_hidden_causes(*arguments, lambda: True) is None
    asked = []

    def should_stop():
        asked.append(None)
        return len(asked) > 1  # one trial of several

    found = find_hidden_causes(*arguments, should_stop)
    assert found.gain > 15
    assert len(found.effects) == 1


def test_equations_of_parents_that_determine_each_other_have_slopes():
    copied = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    weights, noise = Equations(copied, [[], [], [0, 1]]).fitted
    assert weights[[0, 1], 2].sum() == pytest.approx(0.5)
    assert noise[2] == pytest.approx(0.75)


@pytest.mark.parametrize("seed", range(3))
def test_none_is_reported_where_arcs_suffice(seed):
    X = dense_graph(seed)
    arcs, order = learnt(X)
    assert after_fit(X, list("abcdefgh"), arcs, order) == []


def test_the_finding_names_the_effects():
    X = one_cause()
    arcs, order = learnt(X)
    (finding,) = after_fit(X, list("abcdefgh"), arcs, order)
    assert finding.name == "hidden_causes"
    assert finding.columns == ("a", "b", "c", "d", "e")
    assert "likely" in finding.sentence


def test_columns_that_repeat_others_do_not_break_it():
    X = one_cause()
    X = np.column_stack([X, X[:, 0], np.ones(ROWS)])
    arcs = np.zeros((10, 10), bool)
    arcs[0, [1, 2, 3, 8]] = arcs[1, [2, 3]] = arcs[2, 3] = True
    assert after_fit(X, list("abcdefghij"), arcs, np.arange(10)) == []


def test_groups_have_five_of_six_arcs():
    parents = [[], [0], [0, 1], [0, 1, 2], [3]]
    assert dense_groups(parents).tolist() == [[0, 1, 2, 3]]
    assert dense_groups([[], [0], [0, 1], [0], [3]]).tolist() == []


def test_the_likelihood_is_that_of_the_implied_covariance():
    """The covariance of four effects of one hidden cause is computed directly."""
    loadings, noise = np.array([0.9, -0.7, 0.5, 0.6]), np.array([0.3, 0.5, 0.8, 0.6])
    weights = np.zeros((5, 5))
    weights[4, :4] = loadings
    sample = np.corrcoef(one_cause()[:, :4].T)
    implied = np.outer(loadings, loadings) + np.diag(noise)
    expected = (
        -50 / 2 * (np.linalg.slogdet(implied)[1] + np.trace(np.linalg.solve(implied, sample)) - 4)
    )
    model = Model(weights, np.append(noise, 1.0), 4)
    assert model.log_likelihood(sample, 50) == pytest.approx(expected)


def test_a_group_gains_what_one_factor_is_worth():
    """With exact one-factor correlations, four loadings replace six arcs: two penalties less."""
    loadings = np.array([0.8, 0.7, -0.6, 0.5])
    correlations = np.outer(loadings, loadings)
    np.fill_diagonal(correlations, 1.0)
    equations = Equations(correlations, [[], [0], [0, 1], [0, 1, 2]], 1000.0, 7.0)
    groups = gains_of(np.array([[0, 1, 2, 3]]), equations)
    assert groups.gains[0] == pytest.approx(2 * 7.0, abs=0.2)  # EM stops just before it converges
    np.testing.assert_allclose(np.abs(groups.loadings[0]), np.abs(loadings), atol=0.03)


def _arguments(X):
    arcs, order = learnt(X)
    return arcs, len(X), order
