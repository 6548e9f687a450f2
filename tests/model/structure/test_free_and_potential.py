"""Free weights and potentials: W as a function of the parameters."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmodag.graph.dags import is_dag
from cosmodag.model.structure import Free, Potential

KEY = jax.random.key(0)


@partial(jax.jit, static_argnums=0)
def oriented(structure, arcs, order=None, support=1.0):
    order = jnp.zeros(0) if order is None else order
    return structure.orient({"arcs": arcs, "order": order}, {}, support)


def test_free_weights_are_their_parameters():
    arcs = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(oriented(Free(masked=False), arcs), arcs)


def test_a_masked_diagonal_is_zero_and_has_no_gradient():
    arcs = jnp.ones((3, 3))
    weights = oriented(Free(), arcs)
    assert np.array_equal(weights, 1 - np.eye(3))
    slope = jax.grad(lambda a: oriented(Free(), a).sum())(arcs)
    assert np.array_equal(slope, 1 - np.eye(3))


def test_the_mask_reaches_all_hidden_units():
    weights = oriented(Free(), jnp.ones((3, 3, 2)))
    assert np.array_equal(weights, np.repeat((1 - np.eye(3))[:, :, None], 2, axis=2))


def test_free_weights_have_no_order_and_start_at_zero_or_as_suggested():
    suggested = jnp.ones((5, 5))
    start = Free().start(KEY, suggested, {})
    assert start["order"].shape == (0,)
    assert not start["arcs"].any()
    assert Free().order_of(start) is None
    assert np.array_equal(Free(from_zero=False).start(KEY, suggested, {})["arcs"], suggested)


def test_forbidden_arcs_are_zero_and_have_no_gradient():
    support = np.array([[0, 1, 0], [1, 0, 1], [1, 0, 0]], np.float32)
    for structure, order in ((Free(), jnp.zeros(0)), (Potential(), jnp.array([1.0, 3.0, 2.0]))):
        arcs = jnp.arange(1.0, 10.0).reshape(3, 3)
        weights = np.asarray(oriented(structure, arcs, order, support))
        assert not weights[support == 0].any()
        assert weights.any()
    # Free weights of forbidden arcs have no gradient.
    slope = jax.grad(lambda a: (oriented(Free(), a, None, support) ** 2).sum())(arcs)
    assert np.array_equal(slope != 0, support != 0)


# Few sizes, because a program is compiled for each.
square = st.sampled_from([2, 3, 6]).flatmap(
    lambda d: st.tuples(
        hnp.arrays(np.float32, (d, d), elements=st.floats(-4, 4, width=32)),
        hnp.arrays(np.float32, d, elements=st.floats(-2, 2, width=32)),
    )
)


@given(square)
@settings(max_examples=25)
def test_potentials_make_a_dag_of_any_parameters(parameters):
    arcs, order = parameters
    weights = np.asarray(oriented(Potential(), arcs, order))
    assert is_dag(weights)
    tails, heads = np.nonzero(weights)
    assert np.all(order[tails] < order[heads])


@given(square)
@settings(max_examples=25)
def test_reversing_the_potentials_reverses_arcs_and_signs(parameters):
    arcs, order = parameters
    forward = np.asarray(oriented(Potential(), arcs, order))
    backward = np.asarray(oriented(Potential(), arcs, -order))
    assert np.array_equal(backward, -forward.T)
