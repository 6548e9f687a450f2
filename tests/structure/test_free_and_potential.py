"""Free weights and potentials: what W they make of their parameters."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmodag.dags import is_dag
from cosmodag.structure import Free, Potential

KEY = jax.random.key(0)


def test_free_weights_are_their_parameters():
    arcs = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(Free(masked=False).orient(arcs, np.zeros(0), {}), arcs)


def test_a_masked_diagonal_is_zero_and_has_no_gradient():
    arcs = jnp.ones((3, 3))
    weights = Free().orient(arcs, jnp.zeros(0), {})
    assert np.array_equal(weights, 1 - np.eye(3))
    slope = jax.grad(lambda a: Free().orient(a, jnp.zeros(0), {}).sum())(arcs)
    assert np.array_equal(slope, 1 - np.eye(3))


def test_the_mask_reaches_all_hidden_units():
    weights = Free().orient(jnp.ones((3, 3, 2)), jnp.zeros(0), {})
    assert np.array_equal(weights, np.repeat((1 - np.eye(3))[:, :, None], 2, axis=2))


def test_free_weights_have_no_order():
    assert Free().start(KEY, 5, {}).shape == (0,)


square = st.integers(2, 6).flatmap(
    lambda d: st.tuples(
        hnp.arrays(np.float32, (d, d), elements=st.floats(-4, 4, width=32)),
        hnp.arrays(np.float32, d, elements=st.floats(-2, 2, width=32)),
    )
)


@given(square)
def test_potentials_make_a_dag_of_any_parameters(parameters):
    arcs, order = parameters
    weights = np.asarray(Potential().orient(arcs, order, {}))
    assert is_dag(weights)
    tails, heads = np.nonzero(weights)
    assert np.all(order[tails] < order[heads])


@given(square)
def test_reversing_the_potentials_reverses_arcs_and_signs(parameters):
    arcs, order = parameters
    forward = np.asarray(Potential().orient(arcs, order, {}))
    backward = np.asarray(Potential().orient(arcs, -order, {}))
    assert np.array_equal(backward, -forward.T)


@given(square)
def test_the_gain_in_numpy_is_the_one_in_jax(parameters):
    arcs, order = parameters
    d = len(order)
    potential = Potential()
    gain = potential.gain(d, order)
    complete = potential.complete(np.where(gain > 0, arcs, 0.0))
    # Single precision against double.
    np.testing.assert_allclose(
        potential.orient(complete, order, {}), complete * gain, rtol=1e-5, atol=1e-6
    )
    free = Free()
    # XLA takes numbers below the smallest normal one for zero.
    tiny = np.finfo(np.float32).tiny
    np.testing.assert_allclose(
        free.orient(arcs, order, {}), arcs * free.gain(d, order), rtol=0, atol=tiny
    )
