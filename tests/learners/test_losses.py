"""The loss with which networks are trained; the likelihood does not depend on units."""

import numpy as np
import pytest

import cosmodag
from cosmodag import CosmoMLP
from cosmodag.errors import DataError
from cosmodag.learners.networks.network_equations import NetworkEquations

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

SMALL = {"epochs": 150, "hidden": (4,), "random_state": 0, "verbose": False}
FACTORS = 2.0 ** np.array([6, -4, 0, 3])


def equal_noise(n: int = 300) -> np.ndarray:
    """A table of x₀ → x₁ → x₃ ← x₂ with noise of standard deviation one, far from zero."""
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[:, 1] += 4 * np.tanh(X[:, 0])
    X[:, 3] += 3 * np.tanh(X[:, 1] - X[:, 2]) + X[:, 2]
    return X + 20


@pytest.fixture(scope="module")
def by_likelihood() -> list[CosmoMLP]:
    """Models of the standardised table and of the same table in other units."""
    X = equal_noise() / equal_noise().std(axis=0)
    return [CosmoMLP(**SMALL).fit(table) for table in (X, X * FACTORS)]


def test_equal_noise_is_fitted_by_squared_error():
    model = CosmoMLP(**SMALL).fit(equal_noise())
    assert model.loss_ == "squared-error"
    assert "are similar" in model.loss_reason_
    assert model.noise_ == "equal-variance"


@pytest.mark.parametrize(
    ("factors", "refine", "loss"),
    [
        ([1.0, 2.0, 1.0, 2.0], None, "squared-error"),
        ([1.0, 2.0, 1.0, 2.0], "prune", "likelihood"),
        (FACTORS, None, "likelihood"),
    ],
)
def test_unequal_noise_is_fitted_by_squared_error_if_nothing_refines_the_order(
    factors, refine, loss
):
    model = CosmoMLP(**SMALL, refine=refine).fit(equal_noise() * factors)
    assert model.loss_ == loss
    assert "differ" in model.loss_reason_


def test_other_units_are_fitted_by_likelihood(by_likelihood):
    standardised, scaled = by_likelihood
    assert standardised.loss_ == scaled.loss_ == "likelihood"
    assert "common scale" in standardised.loss_reason_
    assert "differ" in scaled.loss_reason_
    assert standardised.noise_ == "gaussian"


def test_powers_of_two_change_no_arc_and_scale_predictions(by_likelihood):
    standardised, scaled = by_likelihood
    assert np.array_equal(standardised.adjacency_ != 0, scaled.adjacency_ != 0)
    assert standardised.causal_order_ == scaled.causal_order_
    X = equal_noise() / equal_noise().std(axis=0)
    np.testing.assert_allclose(
        scaled.predict(X * FACTORS) / FACTORS, standardised.predict(X), atol=1e-4
    )
    assert scaled.score(X * FACTORS) == pytest.approx(
        standardised.score(X) - np.log(FACTORS).mean(), abs=1e-3
    )


def test_a_saved_fit_keeps_its_loss(by_likelihood, tmp_path):
    by_likelihood[0].save(tmp_path / "model.cosmo")
    again = cosmodag.load(tmp_path / "model.cosmo")
    assert (again.loss, again.loss_) == ("auto", "likelihood")
    assert again.loss_reason_ == by_likelihood[0].loss_reason_


def test_a_loss_that_is_asked_for_is_used():
    X = equal_noise(100)
    model = CosmoMLP(**{**SMALL, "epochs": 2}, loss="likelihood", refine=None).fit(X)
    assert model.loss_ == "likelihood"
    assert model.loss_reason_ == "The parameter loss is 'likelihood'."
    assert model.backend_ == "numba-mlp-likelihood"
    with pytest.raises(DataError, match="loss is 'absolute'"):
        CosmoMLP(loss="absolute").fit(X)
    with pytest.raises(DataError, match="loss is 'auto'"):
        cosmodag.Cosmo(loss="auto").fit(X)


def test_both_trainings_of_one_fit_leave_no_checkpoint(tmp_path):
    X = equal_noise(100) * FACTORS
    model = CosmoMLP(**{**SMALL, "epochs": 2}, refine=None, checkpoint=tmp_path).fit(X)
    assert model.loss_ == "likelihood"
    assert not list(tmp_path.iterdir())


def test_networks_in_other_units_predict_the_same():
    random = np.random.default_rng(0)
    d, h = 3, 4
    networks = NetworkEquations(
        random.normal(size=(d, d, h)).astype(np.float32),
        random.normal(size=(d, h)).astype(np.float32),
        np.empty(0, np.float32),
        random.normal(size=(d, h)).astype(np.float32),
        random.normal(size=d).astype(np.float32),
        (h,),
        "sigmoid",
    )
    rows, units = random.normal(size=(20, d)), np.array([0.5, 30.0, 7.0])
    everything = ~np.eye(d, dtype=bool)
    np.testing.assert_allclose(
        networks.in_units(units).predict(rows * units, everything),
        networks.predict(rows, everything) * units,
        rtol=1e-5,
    )
