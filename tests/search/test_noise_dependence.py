import numpy as np
import pytest
from noise_tables import NOISES
from scipy import sparse

from cosmodag.search.arc_checks import arc_curves, noise_dependence

ARC = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))


def residual_of(y, x):
    """Weight matrix of the arc x → y, by least squares."""
    weights = np.zeros((2, 2))
    weights[0, 1] = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    return sparse.csr_array(weights)


def dependence(x, y):
    return noise_dependence(np.column_stack([x, y]), residual_of(y, x))


@pytest.mark.parametrize("noise", [name for name in NOISES if name != "gaussian"])
def test_independent_noise_is_not_refuted(noise):
    refuted = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        x, e = NOISES[noise](random, 1000), NOISES[noise](random, 1000)
        refuted += dependence(x, 0.8 * x + e).refutes
    assert refuted == 0


@pytest.mark.parametrize(
    ("relation", "seen"),
    [
        (lambda x, e: x + 0.12 * x**2 + e, "curved relations"),
        (lambda x, e: x + 0.3 * x**2 + e, "curved relations"),
        (lambda x, e: np.tanh(2 * x) + 0.5 * e, "curved relations"),
        (lambda x, e: np.sin(2 * x) + 0.5 * e, "curved relations"),
        (lambda x, e: x + np.exp(0.5 * x) * e, "noise that depends on a parent"),
        (lambda x, e: x + np.abs(x) * e, "noise that depends on a parent"),
    ],
)
def test_what_contradicts_the_model_is_named(relation, seen):
    x, e = np.random.default_rng(0).normal(size=(2, 1000))
    found = dependence(x, relation(x, e))
    assert found.refutes
    assert found.share == 1.0
    assert found.worst == (0, 1)
    assert found.description.startswith(seen)


def test_the_wrong_direction_is_refuted():
    random = np.random.default_rng(0)
    x, e = random.exponential(size=(2, 2000))
    assert dependence(x + e, x).refutes
    assert not dependence(x, x + e).refutes


def test_rows_in_which_the_head_was_set_do_not_count():
    x, e = np.random.default_rng(0).laplace(size=(2, 600))
    X = np.column_stack([x, x + e])
    X[300:, 1] = X[300:, 0] ** 2
    counted = np.ones((600, 2))
    counted[300:, 1] = 0
    assert noise_dependence(X, ARC).refutes
    assert not noise_dependence(X, ARC, counted).refutes


def test_columns_that_others_determine_are_left_out():
    x = np.random.default_rng(0).normal(size=200)
    assert noise_dependence(np.column_stack([x, x]), ARC).arcs == 0
    assert not noise_dependence(np.column_stack([x, x]), ARC).refutes


def test_one_refuted_arc_of_many_may_be_chance():
    random = np.random.default_rng(1)
    d = 31
    X = random.laplace(size=(1000, d))
    X[:, 1:] += X[:, :1]
    weights = np.zeros((d, d))
    weights[0, 1:] = 1.0
    assert not noise_dependence(X, sparse.csr_array(weights)).refutes
    X[:, 1] += 0.3 * X[:, 0] ** 2
    assert not noise_dependence(X, sparse.csr_array(weights)).refutes
    X[:, 2:5] += 0.3 * X[:, :1] ** 2
    assert noise_dependence(X, sparse.csr_array(weights)).refutes


def test_an_arc_of_weight_zero_is_tested_and_one_from_a_constant_is_not():
    random = np.random.default_rng(0)
    x, noise = random.normal(size=(2, 500))
    X = np.column_stack([x, x**2 + 0.3 * noise, np.ones(500)])
    X -= X.mean(axis=0)
    arcs = sparse.csr_array(([0.0, 0.0], ([0, 2], [1, 1])), shape=(3, 3))
    found = noise_dependence(X, arcs)
    assert (found.arcs, found.certain, found.worst) == (1, 1, (0, 1))
    curves = arc_curves(X, arcs, found.suspects)
    assert (curves.arcs, curves.bent) == (1, 1)
