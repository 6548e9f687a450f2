"""The evidence equals its definition, and its gradient equals finite differences."""

import numpy as np
import pytest

from cosmodag.search.networks import process_evidence as evidence
from cosmodag.search.networks.kernel_fit import fit_kernel
from cosmodag.search.networks.process_evidence import (
    ProcessKernel,
    cost,
    cost_and_gradient,
    left_out_means,
)

ROWS = 60


def make_data(seed: int, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(ROWS, k))
    target = np.sin(2 * inputs[:, 0]) + 0.3 * inputs[:, -1] + 0.2 * rng.normal(size=ROWS)
    return inputs, target - target.mean()


def cost_by_definition(inputs: np.ndarray, target: np.ndarray, kernel: ProcessKernel) -> float:
    n = len(target)
    covariance = np.eye(n)
    for i in range(n):
        for j in range(n):
            products = [
                2 * (kernel.bias + sum(kernel.relevances * inputs[a] * inputs[b]))
                for a, b in [(i, j), (i, i), (j, j)]
            ]
            scale = np.sqrt((1 + products[1]) * (1 + products[2]))
            covariance[i, j] += kernel.amplitude * 2 / np.pi * np.arcsin(products[0] / scale)
    quadratic = target @ np.linalg.solve(covariance, target)
    return 0.5 * (n * np.log(quadratic / n) + np.linalg.slogdet(covariance)[1])


@pytest.mark.parametrize(("dtype", "within"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_cost_equals_its_definition(dtype: type, within: float) -> None:
    inputs, target = make_data(0)
    kernel = ProcessKernel(np.array([0.7, 0.1, 0.3]), amplitude=20.0, bias=0.5)
    found = cost(inputs.astype(dtype), target.astype(dtype), kernel)
    assert found == pytest.approx(cost_by_definition(inputs, target, kernel), abs=within)


def test_an_input_without_relevance_has_no_part_in_the_cost() -> None:
    inputs, target = make_data(1)
    kernel = ProcessKernel(np.array([0.7, 0.0, 0.3]), amplitude=20.0, bias=0.5)
    kept = np.array([True, False, True])
    without = cost(inputs[:, kept], target, kernel.only(kept))
    assert cost(inputs, target, kernel) == pytest.approx(without, abs=1e-9)


def test_without_inputs_the_cost_is_that_of_noise() -> None:
    inputs, target = make_data(2)
    kernel = ProcessKernel(np.zeros(0), amplitude=20.0, bias=0.5)
    noise = 0.5 * ROWS * np.log(np.mean(target**2))
    assert cost(inputs[:, :0], target, kernel) == pytest.approx(noise)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients_equal_finite_differences(dtype: type) -> None:
    inputs, target = make_data(3)
    start = np.log([0.7, 0.1, 0.3, 20.0, 0.5])

    def total(logarithms: np.ndarray) -> float:
        values = np.exp(logarithms)
        return cost(inputs, target, ProcessKernel(values[:3], values[3], values[4]))

    expected = [(total(start + h) - total(start - h)) / 2e-5 for h in 1e-5 * np.eye(5)]
    kernel = ProcessKernel(np.exp(start[:3]), 20.0, 0.5)
    gradient = cost_and_gradient(inputs.astype(dtype), target.astype(dtype), kernel)
    found = [*kernel.relevances * gradient.relevances, gradient.amplitude, gradient.bias]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_gradients_of_inputs_that_are_left_out() -> None:
    inputs, target = make_data(4)
    kernel = ProcessKernel(np.array([0.3]), amplitude=20.0, bias=0.5)
    gradient = cost_and_gradient(inputs[:, :1], target, kernel, inputs).relevances
    now = cost(inputs[:, :1], target, kernel)
    step = 1e-6
    raised = cost(inputs[:, [0, 2]], target, kernel.joined_by(step))
    assert gradient[2] == pytest.approx((raised - now) / step, rel=1e-3)


def test_fitting_tells_relevant_inputs_from_others() -> None:
    inputs, target = make_data(5, k=4)
    relevances = fit_kernel(inputs, target, steps=20).relevances
    assert relevances[[0, 3]].min() > 5 * relevances[[1, 2]].max()


def test_double_precision_takes_over_where_single_would_not_do() -> None:
    inputs, target = make_data(6)
    kernel = ProcessKernel(np.full(3, 0.01), amplitude=2e6, bias=0.5)
    single = cost(inputs.astype(np.float32), target.astype(np.float32), kernel)
    assert single == pytest.approx(cost(inputs, target, kernel), abs=1e-2)


def test_a_failed_factorisation_is_tried_again_in_double_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs, target = make_data(7)
    kernel = ProcessKernel(np.full(3, 0.3), amplitude=20.0, bias=0.5)
    monkeypatch.setattr(evidence.lapack, "spotrf", lambda a, **_: (a, 1))
    single = inputs.astype(np.float32), target.astype(np.float32)
    assert cost(*single, kernel) == pytest.approx(cost(inputs, target, kernel), abs=1e-3)
    found, expected = cost_and_gradient(*single, kernel), cost_and_gradient(inputs, target, kernel)
    np.testing.assert_allclose(found.relevances, expected.relevances, atol=1e-2)


@pytest.mark.parametrize("target", [np.zeros(ROWS), np.linspace(-1, 1, ROWS)])
def test_targets_without_noise_have_a_finite_cost(target: np.ndarray) -> None:
    inputs = np.repeat(np.linspace(-1, 1, ROWS)[:, None], 2, axis=1).astype(np.float32)
    kernel = fit_kernel(inputs, target.astype(np.float32), steps=10)
    assert np.isfinite(cost(inputs, target.astype(np.float32), kernel))


KERNEL = ProcessKernel(np.array([0.7, 0.3]), amplitude=20.0, bias=0.5)


def test_a_block_is_columns_of_one_relevance() -> None:
    inputs, target = make_data(8)
    blocks = np.stack([inputs[:, :2], np.column_stack([inputs[:, 2], np.zeros(ROWS)])], axis=1)
    single = KERNEL._replace(relevances=np.array([0.7, 0.7, 0.3]))
    assert cost(blocks, target, KERNEL) == pytest.approx(cost(inputs, target, single), abs=1e-9)
    found, by_column = (
        cost_and_gradient(blocks, target, KERNEL),
        cost_and_gradient(inputs, target, single),
    )
    first, second, third = by_column.relevances
    np.testing.assert_allclose(found.relevances, [first + second, third], rtol=1e-9)


def test_several_targets_have_the_evidence_of_their_joint_variance() -> None:
    inputs, target = make_data(9, k=2)
    both = np.column_stack([target, np.cos(inputs[:, 1])])
    both -= both.mean(axis=0)
    one = cost(inputs, both[:, 0], KERNEL)
    assert cost(inputs, both[:, [0]], KERNEL) == pytest.approx(one, abs=1e-9)
    # Invertible combinations of the targets change the cost by a constant only.
    mixed = both @ np.array([[1.0, 0.5], [0.2, -1.0]])
    scale = np.log(abs(1.0 * -1.0 - 0.5 * 0.2))
    moved = cost(inputs, mixed, KERNEL) - cost(inputs, both, KERNEL)
    assert moved == pytest.approx(ROWS * scale, abs=1e-2)
    step = 1e-5
    gradient = cost_and_gradient(inputs, both, KERNEL)
    for place in range(2):
        change = step * np.eye(2)[place]
        ends = [
            cost(inputs, both, KERNEL._replace(relevances=KERNEL.relevances + sign * change))
            for sign in (1, -1)
        ]
        assert gradient.relevances[place] == pytest.approx(
            (ends[0] - ends[1]) / (2 * step), rel=1e-3
        )


def test_means_of_rows_that_are_left_out() -> None:
    inputs, target = make_data(10, k=2)
    found = left_out_means(inputs, target, KERNEL)[:, 0]
    others = np.arange(1, ROWS)
    scaled = np.column_stack([inputs * np.sqrt(2 * KERNEL.relevances), np.ones(ROWS)])
    products = scaled @ scaled.T
    norms = 1 + products.diagonal()
    kernel = 20.0 * 2 / np.pi * np.arcsin(products / np.sqrt(np.outer(norms, norms)))
    inverse = np.linalg.solve(np.eye(ROWS - 1) + kernel[1:, 1:], target[others])
    assert found[0] == pytest.approx(kernel[0, 1:] @ inverse, rel=1e-6)
