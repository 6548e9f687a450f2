"""Networks whose inputs are blocks of columns, with several outputs, and their likelihood."""

import jax
import numpy as np
import pytest

from cosmodag.model.draws import HostKey
from cosmodag.model.mechanism import MLP, MixedMLP
from cosmodag.model.networks import InputBlocks
from cosmodag.model.objective import (
    AnnealedObjective,
    MixedLikelihood,
    Predicted,
    log_residual_variances,
)
from cosmodag.model.structure import Priority
from cosmodag.solve.recipe import Recipe

LEVELS = (0, 3, 2)
MIXED = MixedMLP((4,), "sigmoid", "norm", LEVELS)


def rows(n: int = 6, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    columns = [random.integers(0, k, n) if k else random.normal(size=n) for k in LEVELS]
    return np.column_stack(columns)


def test_a_block_holds_the_number_or_the_indicators_of_levels():
    blocks = InputBlocks(LEVELS).of(np.array([[0.5, 0, 1], [1.5, 2, 0]]))
    third, half = 3 / np.sqrt(2), 2.0
    expected = [[[0.5, 0], [0, 0], [half, 0]], [[1.5, 0], [0, third], [0, 0]]]
    np.testing.assert_allclose(blocks, expected, rtol=1e-6)


def test_blocks_of_some_variables_are_part_of_all_blocks():
    x, some = rows(), np.array([2, 0])
    blocks = InputBlocks(LEVELS)
    np.testing.assert_array_equal(blocks.of(x[:, some], some), blocks.of(x)[:, some])


def test_numeric_variables_are_predicted_as_by_plain_networks():
    plain, mixed = MLP((4, 3)), MixedMLP((4, 3), "sigmoid", "norm", (0, 0, 0))
    weights, functions = plain.start(HostKey.of(1), 3)
    output = functions["output"]
    several = {"weights": output["weights"][..., None], "biases": output["biases"][:, None]}
    x = np.random.default_rng(2).normal(size=(5, 3)).astype(np.float32)
    found = mixed.predict(x, weights, {**functions, "output": several})
    np.testing.assert_allclose(found[..., 0], plain.predict(x, weights, functions), rtol=1e-5)


def test_levels_act_along_arcs_only_and_padded_inputs_start_at_zero():
    weights, functions = MIXED.start(HostKey.of(3), 3)
    assert not weights[0, :, 4:].any()
    assert weights[1].all()
    x = rows().astype(np.float32)
    other = x.copy()
    other[:, 1] = (x[:, 1] + 1) % 3
    without = np.array(weights)
    without[1, 2] = 0
    before, after = (MIXED.predict(one, without, functions) for one in (x, other))
    np.testing.assert_array_equal(before[:, 2], after[:, 2])
    assert not np.allclose(before[:, 0], after[:, 0])


def likelihood(x, outputs, counted):
    return float(MixedLikelihood(LEVELS)(Predicted(x, outputs, counted)))


def test_the_loss_adds_log_variances_and_surprisals_of_levels():
    x, random = rows(), np.random.default_rng(4)
    outputs, counted = random.normal(size=(6, 3, 2)), np.ones((6, 1))
    variance = np.mean((x[:, 0] - outputs[:, 0, 0]) ** 2)
    surprises = []
    for v, k in ((1, 3), (2, 2)):
        utilities = np.column_stack([np.zeros(6), outputs[:, v, : k - 1]])
        shares = np.exp(utilities) / np.exp(utilities).sum(axis=1, keepdims=True)
        surprises.append(-2 * np.log(shares[np.arange(6), x[:, v].astype(int)]).mean())
    expected = (np.log(variance) + sum(surprises)) / 3
    assert likelihood(x, outputs, counted) == pytest.approx(expected, rel=1e-5)


def test_a_row_of_weight_two_counts_as_two_rows():
    x, outputs = rows(), np.random.default_rng(5).normal(size=(6, 3, 2))
    twice = np.r_[0, 0, 1:6]
    weights = np.array([2.0, 1, 1, 1, 1, 1])[:, None]
    assert likelihood(x, outputs, weights) == pytest.approx(
        likelihood(x[twice], outputs[twice], np.ones((7, 1))), rel=1e-5
    )


def test_numeric_variables_have_the_gaussian_likelihood():
    x, predicted = np.random.default_rng(6).normal(size=(2, 6, 3))
    mixed = MixedLikelihood((0, 0, 0))(Predicted(x, predicted[..., None], np.ones((6, 1))))
    gaussian = log_residual_variances(Predicted(x, predicted, np.ones((6, 1))))
    assert float(mixed) == pytest.approx(float(gaussian), rel=1e-6)


def test_slopes_equal_finite_differences_and_unused_outputs_have_none():
    with jax.enable_x64(True):
        recipe = Recipe(Priority(), MIXED, AnnealedObjective(MixedLikelihood(LEVELS)))
        settings = dict.fromkeys(("lambda1", "lambda2", "lambda_p", "shift"), 1e-2)
        settings["temperature"] = 0.2
        shapes = jax.eval_shape(lambda: recipe.start(0, 3, settings))
        random = np.random.default_rng(7)
        parameters = jax.tree.map(lambda value: random.uniform(0.3, 1.5, value.shape), shapes)
        loss = jax.jit(lambda one: recipe.loss(one, rows(), np.ones((6, 1)), settings))
        slopes = jax.jit(jax.grad(loss))(parameters)
        along = jax.tree.map(lambda value: random.normal(size=value.shape), parameters)
        ends = [
            loss(jax.tree.map(lambda value, step, h=h: value + h * step, parameters, along))
            for h in (1e-6, -1e-6)
        ]
    products = jax.tree.map(lambda slope, step: np.sum(slope * step), slopes, along)
    expected = float(sum(jax.tree.leaves(products)))
    assert float(ends[0] - ends[1]) / 2e-6 == pytest.approx(expected, rel=1e-5)
    # The first and the third variable have only one output each.
    assert not np.any(slopes["functions"]["output"]["weights"][[0, 2], :, 1])
