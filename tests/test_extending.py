"""Users can add learners, mechanisms and losses in a few lines, without changing the package."""

import ast
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import cosmodag
from cosmodag import FittedDAG, metrics, simulate
from cosmodag.assess import bootstrapping as stability
from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.learners import StructureLearner
from cosmodag.learners.declarations import Setting
from cosmodag.learners.structure_learner import Learnt
from cosmodag.learners.trained.trained_learner import TrainedLearner
from cosmodag.model.mechanism import Mechanism
from cosmodag.model.objective import LOSSES, AnnealedObjective
from cosmodag.model.structure import Priority
from cosmodag.search import LOCAL_SCORES
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.recipe import CosineAnnealing, Recipe

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "extend"

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@dataclass(frozen=True)
class Cubic(Mechanism):
    """x̂ = (x + a x³) W, with one coefficient a per cause."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        return 0.1 * jax.random.normal(key, (d, d)), {"bend": jnp.zeros(d)}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        return (x + functions["bend"] * x**3) @ weights


@dataclass(kw_only=True, eq=False, repr=False)
class CubicCosmo(TrainedLearner):
    """COSMO with cubic mechanisms."""

    lambda1: Setting = "auto"

    automatic: ClassVar = {"lambda1": 1e-3}

    def solver_for(self, n, d):
        return OneProblem(Recipe(Priority(), Cubic(), AnnealedObjective(), CosineAnnealing(), 64))

    def _constants(self, n, d):
        rates = {"learning_rate": 1e-2, "priority_learning_rate": 3e-3, "beta1": 0.9, "beta2": 0.99}
        path = {"temperature_start": 0.4, "temperature_end": 1e-3, "shift": 5e-3, "rounds": 120.0}
        return {**rates, **path, "lambda2": 0.0, "lambda_p": 0.0}

    def _length(self, n, d):
        return 120


def test_a_learner_and_a_mechanism_from_outside_work_at_once():
    data = simulate.load("n300_d5_ER1_gauss", seed=1)
    model = CubicCosmo(random_state=0).fit(data.X)
    assert model.backend_ == "reference"
    assert is_dag(model.adjacency_)
    missed = (data.graph != 0) & (model.raw_weights_ == 0)
    assert not missed.any()
    found = np.abs(model.raw_weights_[data.graph != 0])
    assert np.median(found) > 0.3


@dataclass(kw_only=True, eq=False, repr=False)
class Correlations(StructureLearner):
    """Correlations as weights; it knows neither knowledge nor time."""

    def _learn(self, given, watch):
        return Learnt(np.corrcoef(given.data.T.astype(np.float64)) - np.eye(len(given.names)))


def test_knowledge_and_time_hold_for_a_learner_that_does_not_know_them():
    X = pd.DataFrame(simulate.load("n300_d5_ER2_gauss", seed=1).X, columns=list("abcde"))
    known = {"required_edges": [["e", "b"]], "tiers": [["c", "e"], ["a", "b"]], "sinks": ["d"]}
    model = Correlations(threshold=0.0, knowledge=known).fit(X)
    arcs = {(str(u), str(v)) for u, v in model.graph_.edges}
    assert ("e", "b") in arcs
    assert not arcs & {("a", "c"), ("b", "c"), ("a", "e"), ("b", "e"), ("b", "e")}
    assert not any(u == "d" for u, _ in arcs)
    lagged = Correlations(threshold=0.0, lags=1).fit(X)
    assert not any(str(v).endswith("[t-1]") for _, v in lagged.graph_.edges)
    assert lagged.summary_graph_.number_of_nodes() == 5


@pytest.mark.parametrize("is_set", [False, True])
def test_a_mechanism_without_constants_predicts_the_means(is_set, tmp_path):
    X = simulate.load("n300_d5_ER1_gauss", seed=1).X + 2.0
    was_set = np.zeros(X.shape, bool)
    if is_set:
        was_set[200:, 1] = True
        X[200:, 1] = 9.0
    # A high threshold drops arcs whose effects do not have mean zero.
    model = CubicCosmo(threshold=0.8, random_state=0)
    model.fit(X, interventions=was_set if is_set else None)
    left = X - model.predict(X)
    np.testing.assert_allclose(np.average(left, axis=0, weights=~was_set), 0.0, atol=1e-5)
    model.save(tmp_path / "model")
    model.fitted_.save(tmp_path / "dag")
    np.testing.assert_array_equal(cosmodag.load(tmp_path / "model").predict(X), model.predict(X))
    np.testing.assert_array_equal(FittedDAG.load(tmp_path / "dag").predict(X), model.predict(X))


@pytest.fixture
def example(monkeypatch):
    """A function that imports an example as a new module; `load` then finds its learner there."""
    if not EXAMPLES.is_dir():
        pytest.skip("examples are not distributed")

    def imported(name):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    registries = LOSSES, LOCAL_SCORES
    before = [dict(one) for one in registries]
    yield imported
    for registry, names in zip(registries, before, strict=True):
        registry.clear()
        registry.update(names)


def golem(module):
    X = simulate.load("n300_d5_ER1_gauss", seed=1).X
    return module.GolemEV(steps=150, random_state=0), X


def quadratic(module):
    return module.QuadraticCosmo(epochs=60, random_state=0), module.sample(
        300, np.random.default_rng(0)
    )


def laplace(module):
    settings = {"scale": "standardize", "lambda1": 0.01, "lambda2": 0.0, "refine": None}
    X = module.sample(300, np.random.default_rng(0))[0]
    return cosmodag.Cosmo(loss="laplace", epochs=30, random_state=0, **settings), X


@pytest.mark.parametrize(
    ("name", "make"),
    [("golem_ev", golem), ("quadratic", quadratic), ("laplace_noise", laplace)],
)
def test_an_example_is_fitted_cloned_saved_loaded_reported_and_bootstrapped(
    name, make, example, tmp_path
):
    learner, X = make(example(name))
    model = clone(learner).fit(X)
    assert is_dag(model.adjacency_)
    assert model.edges_.nnz
    again = clone(model).fit(X)
    np.testing.assert_array_equal(again.raw_weights_, model.raw_weights_)

    model.save(tmp_path / "model", residuals=True)
    loaded = cosmodag.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.sample(9, 0), model.sample(9, 0))

    loaded.report(tmp_path / "page.html")
    assert type(model).__name__ in (tmp_path / "page.html").read_text("utf-8")
    result = stability.bootstrap(model, X, n=2, random_state=0, verbose=False)
    assert result.arc_probabilities.shape == model.adjacency_.shape


def test_the_order_of_a_new_learner_is_refined(example):
    data = simulate.load("n300_d5_ER1_gauss", seed=1)
    learner = example("golem_ev").GolemEV
    model = learner(steps=20, refine="order", noise="equal-variance", random_state=0).fit(data.X)
    assert (model.noise_, model.refinement_) == ("equal-variance", "order")
    assert metrics.evaluate(data.graph, model.adjacency_, threshold=0.0)["shd"] == 0
    with pytest.raises(DataError, match=r"^steps is 0"):
        learner(steps=0).fit(data.X)
    assert "refine : " in inspect.getdoc(learner)


def test_a_noise_is_refused_where_equations_cannot_be_refined(example):
    learner = example("quadratic").QuadraticCosmo
    with pytest.raises(DataError, match=r"^noise is 'gaussian', .* leave noise out"):
        learner(noise="gaussian").fit(np.eye(5))


def test_an_arc_of_a_new_mechanism_has_as_many_parameters_as_weights(example):
    module = example("quadratic")
    model = module.QuadraticCosmo(epochs=20, random_state=0)
    X = module.sample(100, np.random.default_rng(0))
    dag = model.fit(X).fitted_
    assert dag.edges.nnz
    assert dag.equations.arc_parameters(dag.edges).sum() == 2 * dag.edges.nnz


def test_a_new_local_score_is_searched_saved_and_reported(example, tmp_path):
    module = example("laplace_score")
    X, truth = module.sample(400, np.random.default_rng(1))
    X = pd.DataFrame(X * [1.0, 5.0, 0.1, 1.0, 30.0], columns=list("abcde"))  # in any units
    model = cosmodag.OrderSearch(noise="laplace", random_state=0).fit(X)
    np.testing.assert_array_equal(model.adjacency_ != 0, truth != 0)
    assert (model.noise_, set(model.arrow_basis_)) == ("laplace", {"score 'laplace'"})
    parent = np.cov(X["a"], X["b"])
    assert model.adjacency_[1, 0] == pytest.approx(parent[0, 1] / parent[1, 1])
    known = {"required_edges": [["a", "e"]], "forbidden_edges": [["b", "a"]]}
    ruled = cosmodag.OrderSearch(noise="laplace", knowledge=known, random_state=0).fit(X)
    assert ruled.graph_.has_edge("a", "e")
    assert not ruled.graph_.has_edge("b", "a")
    model.save(tmp_path / "model")
    loaded = cosmodag.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.adjacency_, model.adjacency_)
    assert loaded.arrow_basis_ == model.arrow_basis_
    model.report(tmp_path / "page.html")
    assert "laplace" in (tmp_path / "page.html").read_text("utf-8")
    LOCAL_SCORES.pop("laplace")
    with pytest.raises(DataError, match="noise"):
        clone(model).fit(X)


def test_names_that_examples_import_are_public():
    page = (ROOT / "docs" / "surface.md").read_text("utf-8")
    for script in EXAMPLES.glob("*.py"):
        for node in ast.walk(ast.parse(script.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cosmodag"):
                section = page.partition(f"### `{node.module}`\n")[2].partition("\n### ")[0]
                for alias in node.names:
                    assert f"| `{alias.name}` |" in section, f"{node.module}.{alias.name}"


@dataclass(frozen=True)
class OfOneColumn(Cubic):
    """Predicts one column, which would broadcast with the table."""

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        return super().predict(x, weights, functions)[:, :1]


@dataclass(frozen=True)
class WithoutNeeds(Priority):
    """Reads settings that it does not list."""

    needs: ClassVar[frozenset[str]] = frozenset()


@pytest.mark.parametrize(
    ("structure", "mechanism", "named"),
    [
        (Priority(), OfOneColumn(), r"^OfOneColumn\.predict must return the shape \(6, 5\)"),
        (WithoutNeeds(), Cubic(), r"^A part of the recipe reads the setting 'shift'"),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_training(structure, mechanism, named):
    @dataclass(kw_only=True, eq=False, repr=False)
    class Misfit(CubicCosmo):
        def solver_for(self, n, d):
            parts = (structure, mechanism, AnnealedObjective(), CosineAnnealing(), 64)
            return OneProblem(Recipe(*parts))

    with pytest.raises(DataError, match=named):
        Misfit(random_state=0).fit(simulate.load("n300_d5_ER1_gauss", seed=1).X)
