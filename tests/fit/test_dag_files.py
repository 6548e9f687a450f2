"""A fitted DAG is saved without its learner and read back, also from a learner's file."""

from dataclasses import dataclass, fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import BlockSearch, Cosmo, CosmoMLP, FittedDAG, Knowledge, OrderSearch, VarianceSort
from cosmodag.errors import DataError
from cosmodag.io import read_graph
from cosmodag.io.files import read_model, write_model
from cosmodag.model.mechanism import Mechanism
from learner_catalogue import CATALOGUE, chain_table, marks_of

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

N = 120


@dataclass(frozen=True)
class Powers(Mechanism):
    """x̂ = Σ_k x^k (B_k ∘ W), for a few powers k."""

    powers: tuple[int, ...] = (1, 2)

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        return 0.1 * jax.random.normal(key, (d, d)), (jnp.ones((d, d)),) * len(self.powers)

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        terms = zip(self.powers, functions, strict=True)
        return sum((x**power @ (weights * bends) for power, bends in terms), jnp.zeros_like(x))


class PowerCosmo(Cosmo):
    """COSMO with sums of powers as mechanisms."""

    def _mechanism(self) -> Powers:
        return Powers((1, 3))


@dataclass(frozen=True)
class Unfindable:
    """A mechanism that cannot be found by name, because it does not inherit from `Mechanism`."""

    start, predict = Powers.start, Powers.predict
    first_layer, strength = Powers.first_layer, Powers.strength
    powers: tuple[int, ...] = (1, 3)


class UnfindableCosmo(Cosmo):
    """COSMO with a mechanism that cannot be found."""

    def _mechanism(self) -> Unfindable:
        return Unfindable()


def mixed_table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    group = random.integers(0, 3, N)
    return pd.DataFrame(
        {
            "group": np.array(["a", "b", "c"])[group],
            "size": group + random.normal(size=N),
            "count": random.poisson(np.exp(0.5 * group)),
        }
    )


def series() -> pd.DataFrame:
    random = np.random.default_rng(1)
    X = random.normal(size=(N, 2))
    X[1:, 1] += 0.8 * X[:-1, 0]
    return pd.DataFrame(X, columns=["x", "y"]).assign(day=np.arange(N))


def curve() -> np.ndarray:
    random = np.random.default_rng(0)
    x = random.normal(size=500)
    return np.column_stack([np.sin(2 * x) + 0.3 * random.normal(size=500), x])


QUICK = {"epochs": 5, "random_state": 0}
KNOWN = Knowledge(required_edges=[("a", "e")], forbidden_edges=[("b", "a")])
FITS = {
    "names and knowledge": lambda: OrderSearch(knowledge=KNOWN).fit(chain_table()),
    "interventions": lambda: OrderSearch().fit(chain_table(), interventions=["a"] * 40 + [""] * 80),
    "found targets": lambda: OrderSearch(random_state=0).fit(
        chain_table() * np.where(np.arange(N) < 60, 1, 3)[:, None], regimes=["", "dose"] * 60
    ),
    "in time": lambda: OrderSearch(lags=2).fit(series(), time="day"),
    "categories in time": lambda: OrderSearch(lags=1).fit(mixed_table()),
    "gaps": lambda: OrderSearch(missing="impute").fit(chain_table().mask(chain_table() > 2)),
    "mixed": lambda: OrderSearch().fit(mixed_table()),
    "curves": lambda: BlockSearch().fit(curve()),
    "networks": lambda: CosmoMLP(**QUICK, hidden=(3, 2), activation="tanh").fit(curve()),
    "mixed networks": lambda: CosmoMLP(**QUICK).fit(mixed_table()),
    "another mechanism": lambda: PowerCosmo(**QUICK).fit(curve()),
}


def assert_same(first: FittedDAG, second: FittedDAG) -> None:
    """Assert that two fitted DAGs are equal in everything that a file contains."""
    for part in fields(FittedDAG):
        one, other = getattr(first, part.name), getattr(second, part.name)
        if part.name in ("preparation", "equations", "regimes"):
            assert type(one) is type(other), part.name
            one, other = (None if value is None else value.arrays() for value in (one, other))
        elif part.name in ("known", "window"):
            one, other = (None if value is None else vars(value) for value in (one, other))
            one, other = (value and {**value, "bounds": None} for value in (one, other))
        np.testing.assert_equal(other, one, err_msg=part.name)
    assert first.equations.facts() == second.equations.facts()
    assert first.arrow_basis == second.arrow_basis
    np.testing.assert_array_equal(first.equivalence_class(), second.equivalence_class())
    np.testing.assert_array_equal(first.sample(5, 0), second.sample(5, 0))
    np.testing.assert_array_equal(first.training_data(), second.training_data())


@pytest.mark.parametrize("name", FITS)
def test_what_was_saved_is_read_again(name, tmp_path):
    model = FITS[name]()
    dag = model.fitted_
    dag.save(tmp_path / "dag", residuals=True)
    assert_same(dag, FittedDAG.load(tmp_path / "dag"))
    model.save(tmp_path / "model.safetensors", residuals=True)
    assert_same(dag, FittedDAG.load(tmp_path / "model.safetensors"))
    assert_same(dag, FittedDAG.load(tmp_path))  # as a folder of ``cosmodag fit``
    # Both files have the same arrays, except for the learner's own.
    ours, theirs = (read_model(tmp_path / one)[0] for one in ("dag", "model.safetensors"))
    assert ours.keys() <= theirs.keys()
    assert theirs.keys() - ours.keys() <= {"raw_weights_", *model.extra_arrays}


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in CATALOGUE])
def test_the_dag_of_every_learner_is_read_again(name, tmp_path):
    dag = CATALOGUE[name]().fit(chain_table()).fitted_
    dag.save(tmp_path / "dag", residuals=True)
    assert_same(dag, FittedDAG.load(tmp_path / "dag"))


def test_residuals_are_written_on_request_only(tmp_path):
    dag = OrderSearch().fit(chain_table(), interventions=["a"] * 40 + [""] * 80).fitted_
    dag.save(tmp_path / "dag")
    again = FittedDAG.load(tmp_path / "dag")
    assert again.residuals is None
    assert again.known.targets is None
    assert again.score(chain_table()) == dag.score(chain_table())
    assert {"residuals_", "targets"}.isdisjoint(read_model(tmp_path / "dag")[0])


def test_a_sparse_graph_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("cosmodag.fit.settle.DENSE_LIMIT", 4)
    dag = OrderSearch().fit(chain_table()).fitted_
    dag.save(tmp_path / "dag")
    again = FittedDAG.load(tmp_path / "dag")
    assert again.weights is None
    assert (again.adjacency != dag.adjacency).nnz == 0


def test_a_file_without_a_learner_gives_a_graph_but_no_model(tmp_path):
    dag = VarianceSort().fit(chain_table()).fitted_
    dag.save(tmp_path / "dag.safetensors")
    with pytest.raises(DataError, match=r"without its learner: read it with cosmodag.FittedDAG"):
        cosmodag.load(tmp_path / "dag.safetensors")
    np.testing.assert_array_equal(read_graph(tmp_path / "dag.safetensors").weights, dag.adjacency)


def test_a_mechanism_that_no_name_leads_to_is_not_saved(tmp_path):
    model = UnfindableCosmo(**QUICK).fit(curve())
    with pytest.raises(DataError, match=r"mechanism Unfindable .*: save the learner instead"):
        model.fitted_.save(tmp_path / "dag")
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "model", residuals=True)
    assert_same(model.fitted_, FittedDAG.load(tmp_path / "model"))


def test_a_mechanism_that_is_not_defined_is_named(tmp_path):
    PowerCosmo(**QUICK).fit(curve()).fitted_.save(tmp_path / "dag")
    arrays, facts = read_model(tmp_path / "dag")
    facts["fitted_dag"]["equations"]["mechanism"] = "antigravity"
    write_model(tmp_path / "dag", arrays, facts)
    with pytest.raises(DataError, match="those of a antigravity, which is not defined here"):
        FittedDAG.load(tmp_path / "dag")


NETWORKS = {"hidden": [3, 2], "activation": "tanh"}


@pytest.mark.parametrize(
    "change",
    [
        {"learner": 1},
        {"lags": -1},
        {"lags": "2"},
        {"lags": 1},
        {"lags": True},
        {"follows_units": None},
        {"knowledge": []},
        {"knowledge": {"friends": []}},
        {"equations": None},
        {"equations": {**NETWORKS, "hidden": [3, 3]}},
        {"equations": {**NETWORKS, "hidden": [3, {}]}},
        {"equations": {**NETWORKS, "hidden": 10**12}},
        {"equations": {**NETWORKS, "activation": "eval"}},
        {"equations": {"mechanism": "Powers", "values": {"powers": [1, {}]}}},
        {"equations": {"mechanism": "Powers", "values": {"strength": 1}}},
        {"equations": {"mechanism": "Powers", "values": {"powers": [1]}}},
        {"equations": {"mechanism": "Mechanism", "values": {}}},
    ],
    ids=str,
)
def test_crafted_facts_are_refused(change, tmp_path):
    path = tmp_path / "dag"
    FITS["networks"]().fitted_.save(path)
    arrays, facts = read_model(path)
    FittedDAG.load(path)
    facts["fitted_dag"] |= change
    write_model(path, arrays, facts)
    with pytest.raises(DataError):
        FittedDAG.load(path)


@pytest.mark.parametrize("facts", [[], {"fitted_dag": None}, {"fitted_dag": {}}, {}], ids=str)
def test_other_facts_are_refused(facts, tmp_path):
    write_model(tmp_path / "dag", {"order": np.arange(2)}, {"facts": 0})
    arrays, _ = read_model(tmp_path / "dag")
    write_model(tmp_path / "dag", arrays, dict(facts))
    with pytest.raises(DataError, match="damaged"):
        FittedDAG.load(tmp_path / "dag")
