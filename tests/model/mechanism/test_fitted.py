"""Fitted and saved learners predict by their mechanism."""

import json
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cosmodag
from cosmodag import Cosmo
from cosmodag.errors import DataError
from cosmodag.io.files import read_model, write_model
from cosmodag.model.mechanism import FittedMechanism

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@dataclass(frozen=True)
class Parabolas:
    """x̂ = x W + x² (B ∘ W) + c."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        functions = {"bends": jnp.zeros((d, d)), "constants": jnp.zeros(d)}
        return 0.1 * jax.random.normal(key, (d, d)), functions

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        squares = x**2 @ (weights * functions["bends"])
        return x @ weights + squares + functions["constants"]

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        return weights * jnp.sqrt(1 + 2 * functions["bends"] ** 2)


class ParabolicCosmo(Cosmo):
    """COSMO with parabolas."""

    def _mechanism(self) -> Parabolas:
        return Parabolas()


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    random = np.random.default_rng(0)
    a = random.normal(size=400)
    b = a**2 + a + 0.3 * random.normal(size=400)
    return np.column_stack([a, b, b - a + 0.3 * random.normal(size=400)])


@pytest.fixture(scope="module")
def model(table: np.ndarray) -> ParabolicCosmo:
    return ParabolicCosmo(epochs=200, random_state=0).fit(table)


def explained(X: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return 1 - np.mean((X - predicted) ** 2, axis=0) / X.var(axis=0)


def test_predictions_scores_and_residuals_come_from_the_mechanism(table, model):
    assert model.adjacency_[0, 1] != 0
    assert explained(table, model.predict(table))[1:].min() > 0.8
    residuals = model.residuals_ * model.preparation_.scales
    np.testing.assert_allclose(table - model.predict(table), residuals, atol=1e-5)
    variances = np.mean((table - model.predict(table)) ** 2, axis=0)
    expected = -0.5 * np.mean(np.log(2 * np.pi * variances) + 1)
    assert model.score(table) == pytest.approx(expected, abs=1e-4)


def test_sampled_rows_have_the_curvature_of_the_data(table, model):
    drawn = model.sample(4_000, random_state=0)
    bend = np.polyfit(drawn[:, 0], drawn[:, 1], 2)[0]
    assert bend == pytest.approx(np.polyfit(table[:, 0], table[:, 1], 2)[0], rel=0.15)


def test_a_saved_model_predicts_the_same(table, model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path, residuals=True)
    again = cosmodag.load(path)
    assert type(again) is ParabolicCosmo
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    np.testing.assert_array_equal(again.sample(5, 0), model.sample(5, 0))


@pytest.mark.parametrize("change", ["missing", "shape", "infinite"])
def test_damaged_parameters_of_a_mechanism_are_refused(model, tmp_path, change):
    path = tmp_path / "model.safetensors"
    model.save(path)
    arrays, facts = read_model(path)
    name = "mechanism.functions.0"
    if change == "missing":
        del arrays[name]
    else:
        arrays[name] = np.zeros((2, 3)) if change == "shape" else np.full((3, 3), np.inf)
    write_model(path, arrays, facts)
    with pytest.raises(DataError, match="damaged"):
        cosmodag.load(path)


def test_refinement_by_linear_regressions_is_refused(table):
    with pytest.raises(DataError, match="not linear: use refine=None"):
        ParabolicCosmo(refine="order").fit(table)


def test_an_unknown_learner_is_named_and_not_imported(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    arrays, facts = read_model(path)
    write_model(path, arrays, {**facts, "learner": "antigravity"})
    with pytest.raises(DataError, match="holds a antigravity, which is not defined here"):
        cosmodag.load(path)


def test_a_learner_with_the_name_of_another_is_not_saved(table, tmp_path):
    namesake = type("Cosmo", (Cosmo,), {"__init__": Cosmo.__init__})
    with pytest.raises(DataError, match="rename the class"):
        namesake(epochs=2).fit(table).save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_cannot_be_saved_is_named(table, tmp_path):
    model = Cosmo(epochs=2).fit(table)
    model.batch_size = json.dumps
    with pytest.raises(DataError, match="its parameter batch_size is a function"):
        model.save(tmp_path / "model.safetensors")


def test_arcs_that_were_cut_have_no_part_in_predictions(table):
    weights, arcs = np.full((3, 3), 2.0), np.zeros((3, 3), bool)
    arcs[0, 1] = True
    functions = {"bends": np.full((3, 3), 0.5), "constants": np.zeros(3)}
    predicted = FittedMechanism(Parabolas(), weights, functions).predict(table, arcs)
    np.testing.assert_allclose(predicted[:, 1], 2 * table[:, 0] + table[:, 0] ** 2, rtol=1e-5)
    assert not predicted[:, [0, 2]].any()
