"""The arrays of a fit are read-only, because a changed one would contradict the others."""

import copy
import pickle
from dataclasses import InitVar, dataclass, field, fields, is_dataclass, replace
from functools import cache

import joblib
import numpy as np
import pytest
from scipy import sparse

import cosmodag
from cosmodag import BlockSearch, OrderSearch, VarianceSort, selection
from cosmodag.fit.dag.linear_equations import FunctionEquations, LinearEquations
from cosmodag.fit.view.fitted import OfDAG
from cosmodag.model.mechanism import FittedMechanism, Linear
from learner_catalogue import chain_table, every_learner

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

READ_ONLY = "read-only"  # as in NumPy's error message


@cache
def fitted(make):
    return make().fit(chain_table())


def arrays_in(value):
    """The arrays of an attribute: the attribute itself, or the arrays in its fields."""
    if isinstance(value, np.ndarray):
        return [value]
    if sparse.issparse(value):
        return [value.data, value.indices, value.indptr]
    if isinstance(value, tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return [one for part in parts for one in arrays_in(part)]
    if is_dataclass(value):
        return [one for part in fields(value) for one in arrays_in(getattr(value, part.name))]
    return []


def attributes_of(model):
    """Attributes that a learner reads from its `FittedDAG`, by name."""
    names = [name for name in dir(type(model)) if isinstance(getattr(type(model), name), OfDAG)]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_read_only(model):
    shown = attributes_of(model)
    assert {"order_", "adjacency_", "weights_", "residuals_", "preparation_"} <= set(shown)
    dag = model.fitted_
    assert isinstance(dag.arrow_basis, tuple)
    edges = (dag.edges.data, dag.edges.row, dag.edges.col)
    for one in (*shown.values(), dag, dag.arcs, *edges):
        for array in arrays_in(one):
            with pytest.raises(ValueError, match=READ_ONLY):
                array[...] = array


@every_learner
def test_arrays_of_every_learner_refuse_writing(make):
    model = fitted(make)
    before = model.adjacency_.copy()
    with pytest.raises(ValueError, match=READ_ONLY):
        model.adjacency_[:] = 0
    assert_read_only(model)
    np.testing.assert_array_equal(model.edges_.toarray(), before)


@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: pickle.loads(pickle.dumps(model, protocol=5)),
        lambda model: selection.at_threshold(model, chain_table(), 0.1),
    ],
    ids=["copy", "deepcopy", "pickle", "pickle-5", "at_threshold"],
)
def test_so_do_those_of_copies(again):
    assert_read_only(again(VarianceSort().fit(chain_table())))


def test_so_do_those_of_files(tmp_path):
    model = VarianceSort().fit(chain_table())
    model.save(tmp_path / "model.safetensors", residuals=True)
    assert_read_only(cosmodag.load(tmp_path / "model.safetensors"))
    joblib.dump(model, tmp_path / "model.joblib")
    assert_read_only(joblib.load(tmp_path / "model.joblib"))


@pytest.mark.parametrize("what", ["interventions", "regimes"])
def test_so_do_targets(what):
    table = chain_table()
    entries = [None] * 60 + ["c"] * 60
    model = OrderSearch(noise="gaussian", random_state=0).fit(table, **{what: entries})
    assert {"interventions": "target_sets_", "regimes": "regimes_"}[what] in attributes_of(model)
    assert_read_only(model)


def test_so_do_equations_of_blocks_and_of_mechanisms():
    counts = chain_table().assign(c=np.random.default_rng(0).integers(0, 4, 120))
    model = BlockSearch(kinds={"c": "categorical"}, random_state=0).fit(counts)
    assert model.fitted_.equations.coefficients
    assert_read_only(model)
    functions = {"bend": np.zeros(5)}
    held = FunctionEquations(FittedMechanism(Linear(), np.zeros((5, 5)), functions), np.zeros(5))
    dag = replace(model.fitted_, equations=held)
    with pytest.raises(ValueError, match=READ_ONLY):
        dag.equations.functions.functions["bend"][0] = 1
    functions["bend"][0] = 1


def test_arrays_of_the_caller_can_still_be_written():
    table, targets = chain_table().to_numpy(copy=True), np.zeros((120, 5), bool)
    targets[60:, 2] = True
    model = VarianceSort().fit(table, interventions=targets)
    given, weights = model.fitted_, np.zeros((5, 5))
    replace(given, adjacency=weights)
    for array in (table, targets, weights, model.edges_.data, model.predict(table)):
        array[...] = 0


def test_a_sparse_graph_refuses_writing_and_can_be_asked():
    given = VarianceSort().fit(chain_table())
    unsorted = sparse.csr_array(
        (np.array([2.0, 1.0, 3.0]), np.array([2, 1, 3]), np.array([0, 2, 2, 3, 3, 3])), shape=(5, 5)
    )
    model = copy.copy(given)
    model.fitted_ = replace(given.fitted_, adjacency=unsorted, order=np.arange(5))
    with pytest.raises(ValueError, match=READ_ONLY):
        model.adjacency_[0, 1] = 5.0
    with pytest.raises(ValueError, match=READ_ONLY):
        model.adjacency_.data[:] = 0
    assert_read_only(model)
    np.testing.assert_array_equal(model.adjacency_.toarray(), unsorted.toarray())
    assert model.adjacency_.has_sorted_indices
    assert unsorted.indices.tolist() == [2, 1, 3]  # the caller's matrix is unchanged
    assert model.adjacency_[0, 2] == 2.0
    assert model.equivalence_class().shape == (5, 5)
    assert model.predict(chain_table()).shape == (120, 5)


@dataclass(frozen=True, eq=False)
class Shifted(LinearEquations):
    """Equations defined by a user, whose constructor takes an argument that is not a field."""

    size: InitVar[int]
    shifts: np.ndarray = field(init=False)

    def __post_init__(self, size):
        object.__setattr__(self, "shifts", np.zeros(size))


def test_equations_with_a_constructor_of_their_own_refuse_writing():
    given = VarianceSort().fit(chain_table()).fitted_
    own = Shifted(5)
    with pytest.raises(ValueError, match=READ_ONLY):
        replace(given, equations=own).equations.shifts[0] = 1
    own.shifts[0] = 1
