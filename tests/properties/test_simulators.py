"""Every simulated table comes from a DAG, for every graph family and every mechanism."""

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st
from property_examples import gate_examples, seeds

from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.simulate import NOISES, NONLINEAR, interventional, load

kinds = st.sampled_from(["ER", "SF", "BP"])
mechanisms = st.sampled_from([*NOISES, *NONLINEAR])


def has_room(kind: str, nodes: int, degree: int) -> bool:
    """Whether a DAG of the family can have this many arcs per node."""
    if kind == "ER":
        return 2 * degree <= nodes - 1
    if kind == "BP":
        return degree * nodes <= (nodes // 5) * (nodes - nodes // 5)
    return 1 <= degree < nodes


@gate_examples(100)
@given(kinds, st.integers(1, 15), st.integers(0, 4), mechanisms, st.integers(1, 12), seeds)
def test_simulated_graphs_are_acyclic_and_tables_finite(kind, nodes, degree, mechanism, n, seed):
    name = f"n{n}_d{nodes}_{kind}{degree}_{mechanism}"
    try:
        data = load(name, seed=seed)
    except DataError:
        assert not has_room(kind, nodes, degree)
        return
    assert has_room(kind, nodes, degree)
    assert is_dag(data.graph)
    missing = degree * (degree + 1) // 2 if kind == "SF" else 0
    assert data.graph.sum() == degree * nodes - missing
    assert data.X.shape == (n, nodes)
    assert np.isfinite(data.X).all()
    if data.weights is not None:
        np.testing.assert_array_equal(data.weights != 0, data.graph)
    assert load(name, seed=seed).X.tobytes() == data.X.tobytes()


@gate_examples(40)
@example("ER", "mlp", "perfect", 1, 1.0, 0)  # the observational rows once differed
@example("ER", "mim", "perfect", 1, 1.0, 0)
@given(
    kinds,
    mechanisms,
    st.sampled_from(["perfect", "imperfect"]),
    st.integers(1, 3),
    st.floats(0, 10),
    seeds,
)
def test_experiments_keep_the_graph_and_its_observations(
    kind, mechanism, sort, targets, strength, seed
):
    assume(sort == "perfect" or mechanism in NOISES)
    name = f"n8_d10_{kind}1_{mechanism}"
    data = interventional(name, targets, 5, kind=sort, strength=strength, seed=seed)
    before = load(name, seed=seed)
    assert is_dag(data.graph)
    np.testing.assert_array_equal(data.graph, before.graph)
    assert np.isfinite(data.X).all()
    assert data.X.shape == data.targets.shape == (8 + 5 * targets, 10)
    assert not data.targets[:8].any()
    assert (data.targets[8:].sum(axis=1) == 1).all()
    if not mechanism.startswith("gp"):  # a Gaussian process draws all rows at once
        # A matrix product with more rows may round each of its 100 terms differently.
        np.testing.assert_allclose(data.X[:8], before.X, rtol=1e-12, atol=1e-10)
