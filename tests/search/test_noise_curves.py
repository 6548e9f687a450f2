import numpy as np
import pytest
from noise_tables import NOISES
from scipy import sparse

from cosmodag import OrderSearch
from cosmodag.search.arc_checks import arc_curves
from cosmodag.search.entropy.spacings import log_densities

ARC = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
CURVES = {
    "square": lambda x: x + 0.5 * x**2,
    "tanh": lambda x: np.tanh(2 * x),
    "exponential": np.exp,
}


def pair(curve, seed, n=600):
    x, e = np.random.default_rng(seed).normal(size=(2, n))
    return np.column_stack([x, CURVES[curve](x) + 0.5 * e])


@pytest.mark.parametrize("curve", CURVES)
def test_a_curve_is_seen_from_both_ends(curve):
    X = pair(curve, 0)
    assert arc_curves(X, ARC, [(0, 1)]).refutes
    found = arc_curves(X[:, ::-1], ARC, [(0, 1)])
    assert found.refutes
    assert found.worst == (0, 1)
    assert found.description == "curved relations in 1 of 1 tested arc"


@pytest.mark.parametrize("noise", [name for name in NOISES if name != "gaussian"])
def test_lines_are_not_taken_for_curves(noise):
    random = np.random.default_rng(0)
    bent = 0
    for _ in range(20):
        x, e = NOISES[noise](random, 400), NOISES[noise](random, 400)
        bent += arc_curves(np.column_stack([x, 0.8 * x + e]), ARC, [(0, 1)]).refutes
    assert bent <= 1


def test_rows_in_which_a_variable_was_set_do_not_count():
    X = pair("square", 0)
    counted = np.ones_like(X)
    X[::2, 1], counted[::2, 1] = -10 * X[::2, 0] ** 2, 0
    own = arc_curves(X[1::2], ARC, [(0, 1)]).gains
    assert arc_curves(X, ARC, [(0, 1)], counted).gains == pytest.approx(own, rel=0.5)


def test_curves_of_arcs_beside_another_path():
    x, e = np.random.default_rng(0).laplace(size=(2, 400))
    X = np.column_stack([x, x + e, 0.5 * x**2 + x + e])
    weights = np.zeros((3, 3))
    weights[[0, 0, 1], [1, 2, 2]] = 1.0
    gains = arc_curves(X, sparse.csr_array(weights), [(0, 2), (0, 1)]).gains
    assert gains[0] > 20
    assert gains[1] < 5


def test_turning_an_arc_beside_another_path_gains_nothing():
    cause, e, f = np.random.default_rng(0).normal(size=(3, 400))
    bent = cause + 0.5 * cause**2 + e
    X = np.column_stack([bent, cause, 0.3 * bent + f])
    arcs = np.zeros((3, 3))
    arcs[0, 1:] = 1.0
    free = arc_curves(X, sparse.csr_array(arcs), [(0, 1)]).gains[0]
    arcs[2, 1] = 1.0  # 0 → 2 → 1
    assert arc_curves(X, sparse.csr_array(arcs), [(0, 1)]).gains[0] < free / 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("curve", CURVES)
def test_bent_pairs_get_no_arrow_from_the_shape_of_noise(curve):
    for seed in range(3):
        model = OrderSearch(random_state=0).fit(pair(curve, seed))
        assert model.noise_ == "gaussian"
        assert model.arrow_basis_ == ["free choice"]


def test_who_fits_curves_is_named():
    with pytest.warns(UserWarning, match="BlockSearch"):
        OrderSearch(random_state=0).fit(pair("square", 0))


def test_densities_of_rounded_values_are_finite_and_near():
    x = np.random.default_rng(0).normal(size=1000)
    rounded = log_densities(np.round(x, 1))
    assert np.isfinite(rounded).all()
    assert rounded.mean() == pytest.approx(log_densities(x).mean(), abs=0.1)


def test_densities_of_a_constant_are_numbers():
    assert np.isfinite(log_densities(np.zeros(9))).all()
