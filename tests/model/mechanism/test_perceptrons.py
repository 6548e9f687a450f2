"""Perceptrons as mechanisms: formulas, gradients and masked inputs."""

import itertools
from functools import partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads
from scipy.special import expit

from cosmodag.model.mechanism import MLP, Linear, MaskedMLP
from cosmodag.model.networks import ACTIVATIONS, forward
from cosmodag.model.objective import AnnealedObjective
from cosmodag.model.structure import Priority
from cosmodag.solve.recipe import Recipe

SETTINGS = {"lambda1": 1e-2, "lambda2": 1e-2, "lambda_p": 1e-2, "shift": 1e-2, "temperature": 0.2}
NETWORKS = [MLP((4,)), MLP((4, 3)), MLP((3, 2, 4), "tanh"), MaskedMLP((4,)), MaskedMLP((3, 2))]
every_mechanism = pytest.mark.parametrize("mechanism", [Linear(), *NETWORKS], ids=repr)
every_network = pytest.mark.parametrize("mechanism", NETWORKS, ids=repr)


# One compiled program for each mechanism, instead of dozens for single operations.
start = partial(jax.jit, static_argnums=(0, 2))(lambda mechanism, key, d: mechanism.start(key, d))
predict = partial(jax.jit, static_argnums=0)(lambda mechanism, *given: mechanism.predict(*given))
strength = partial(jax.jit, static_argnums=0)(lambda mechanism, *given: mechanism.strength(*given))


def drawn(mechanism, d=5, seed=0):
    arcs, functions = start(mechanism, jax.random.key(seed), d)
    return np.asarray(arcs), jax.tree.map(np.asarray, functions)


@every_mechanism
def test_gradients_against_finite_differences(mechanism):
    with jax.enable_x64(True):
        recipe = Recipe(Priority(), mechanism, AnnealedObjective())
        random = np.random.default_rng(1)
        d = 4
        shapes = jax.eval_shape(lambda: recipe.start(0, d, SETTINGS))
        # Values away from zero, because the one-norm has no derivative there.
        parameters = jax.tree.map(
            lambda value: (
                np.where(random.random(value.shape) < 0.5, -1, 1)
                * random.uniform(0.3, 1.5, value.shape)
            ),
            shapes,
        )
        parameters["order"] = random.normal(size=d) * 0.1
        x, counted = random.normal(size=(7, d)), np.r_[np.ones(6), 0.0][:, None]

        @jax.jit
        def loss(values):
            return recipe.loss(values, x, counted, SETTINGS)

        check_grads(loss, (parameters,), order=1, modes=["rev"], eps=1e-6, atol=1e-6, rtol=1e-6)


def test_the_formula_of_one_hidden_layer():
    d, h = 5, 3
    arcs, functions = drawn(MLP((h,)), d)
    x = np.random.default_rng(0).normal(size=(6, d))
    expected = np.zeros((6, d))
    for row, v in itertools.product(range(6), range(d)):
        expected[row, v] = functions["output"]["biases"][v]
        for i in range(h):
            unit = functions["biases"][v, i] + sum(x[row, u] * arcs[u, v, i] for u in range(d))
            expected[row, v] += functions["output"]["weights"][v, i] * expit(unit)
    np.testing.assert_allclose(forward(x, arcs, functions, expit), expected, rtol=1e-6)


def test_later_layers_are_local():
    """The second hidden layer of a variable's network depends only on its own first layer."""
    arcs, functions = drawn(MLP((4, 3)), 5)
    x = np.random.default_rng(0).normal(size=(6, 5))
    before = forward(x, arcs, functions, np.tanh)
    functions["hidden"][0]["weights"] = functions["hidden"][0]["weights"].copy()
    functions["hidden"][0]["weights"][2] += 1
    changed = np.any(forward(x, arcs, functions, np.tanh) != before, axis=0)
    assert changed.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_the_same_in_numpy(name):
    values = np.linspace(-9, 9, 37)
    with jax.enable_x64(True):
        in_jax, in_numpy = (function(values) for function in ACTIVATIONS[name])
    np.testing.assert_allclose(in_jax, in_numpy, rtol=1e-12)


@every_network
@given(seed=st.integers(0, 2**16), data=st.data())
@settings(max_examples=15)
def test_a_network_does_not_depend_on_inputs_where_w_is_zero(mechanism, seed, data):
    d = 5
    arcs, functions = drawn(mechanism, d, seed)
    random = np.random.default_rng(seed)
    hidden = random.random((d, d)) < data.draw(st.floats(0, 1))
    weights = np.where(hidden.reshape(d, d, *[1] * (arcs.ndim - 2)), 0, arcs)
    x = random.normal(size=(3, d))
    before = np.asarray(predict(mechanism, x, weights, functions))
    strengths = np.asarray(strength(mechanism, weights, functions))
    assert np.array_equal(strengths != 0, ~hidden)
    for u in range(d):
        moved = x.copy()
        moved[:, u] += 10
        same = np.asarray(predict(mechanism, moved, weights, functions)) == before
        assert np.all(same[:, hidden[u]])


@every_network
def test_first_layers_start_at_the_documented_length(mechanism):
    """First-layer weights have the length of draws from U(±1/√(dh)): 1/√(3d), 0.0816 if d = 50."""
    arcs, functions = drawn(mechanism, 50)
    layer = np.asarray(mechanism.first_layer(arcs, functions))
    h = mechanism.hidden[0]
    assert layer.shape == (50, 50, h)
    # With 2500 arcs, the standard error of the mean squared length is below 3 %.
    assert np.mean(layer**2) * h == pytest.approx(1 / 150, rel=0.05)
    assert np.abs(functions["biases"]).max() <= 1 / np.sqrt(50 * h)
    assert functions["output"]["weights"].shape == (50, mechanism.hidden[-1])


def test_strengths_are_norm_or_sum():
    weights = np.array([[[3.0, -4.0]]])
    assert MLP(arc_strength="norm").strength(weights, {}).item() == 5
    assert MLP(arc_strength="sum").strength(weights, {}).item() == -1


def test_the_norm_of_masked_inputs_is_the_gate():
    mechanism = MaskedMLP((6,))
    gates, functions = drawn(mechanism, 5)
    gates = gates * np.random.default_rng(0).normal(size=gates.shape)
    # Tolerance for float32 rounding of a sum of six squares.
    np.testing.assert_allclose(mechanism.strength(gates, functions), np.abs(gates), rtol=1e-5)
