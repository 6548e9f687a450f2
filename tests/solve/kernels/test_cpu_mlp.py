"""The compiled loop for networks takes the paper's steps; permuted problems stay permuted."""

import jax
import numpy as np
import pytest
from solver_problems import (
    SETTINGS,
    assert_close_after_100_steps,
    backend_named,
    cosmo_recipe,
    make_batch,
    make_table,
    run_rounds,
)

from cosmodag.model.mechanism import MLP, MaskedMLP
from cosmodag.solve.problems import Problem
from cosmodag.solve.training.reference import REFERENCE
from cosmodag.solve.training.shuffle import rows_at

COMPILED = backend_named("numba-mlp")


def plain_adam(problem, start, rounds, size):
    """The problem solved step by step with NumPy in float64, from the formulas in the paper."""
    s, x_all = problem.settings, problem.data.astype(np.float64)
    names = ("arcs", "order", "biases", "weights", "constants")
    values = [np.array(start[name], np.float64) for name in names]
    means, squares = [0 * v for v in values], [0 * v for v in values]
    step = 0
    for epoch in range(rounds):
        wave = 0.5 * (1 + np.cos(np.pi * epoch / s["rounds"]))
        t = s["temperature_end"] + wave * (s["temperature_start"] - s["temperature_end"])
        order = np.array(rows_at(problem.seed, epoch, np.arange(len(x_all)), len(x_all)))
        for begin in range(0, len(x_all), size):
            x = x_all[order[begin : begin + size]]
            arcs, p, biases, weights, constants = values
            orientation = 1 / (1 + np.exp(-(p[None, :] - p[:, None] - s["shift"]) / t))
            np.fill_diagonal(orientation, 0)
            w = arcs * orientation[..., None]
            z = 1 / (1 + np.exp(-(np.einsum("bu,uvi->bvi", x, w) + biases)))
            r = 2 / x.size * ((z * weights).sum(-1) + constants - x)
            delta = r[..., None] * weights * z * (1 - z)
            g = np.einsum("bu,bvi->uvi", x, delta)
            q = (g * w).sum(-1) * (1 - orientation) / t
            gradients = [
                g * orientation[..., None]
                + s["lambda1"] * np.sign(arcs)
                + s["lambda2"] * arcs / np.linalg.norm(arcs),
                q.sum(0) - q.sum(1) + s["lambda_p"] * p / np.linalg.norm(p),
                delta.sum(0),
                (r[..., None] * z).sum(0),
                r.sum(0),
            ]
            step += 1
            for i, gradient in enumerate(gradients):
                rate = s["priority_learning_rate"] if i == 1 else s["learning_rate"]
                means[i] = 0.9 * means[i] + 0.1 * gradient
                squares[i] = 0.999 * squares[i] + 0.001 * gradient**2
                corrected = np.sqrt(squares[i] / (1 - 0.999**step)) + 1e-8
                values[i] = values[i] - rate * means[i] / (1 - 0.9**step) / corrected
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("backend", [COMPILED, REFERENCE], ids=lambda b: b.name)
def test_steps_are_those_of_the_paper(backend):
    problem = Problem(make_table(), SETTINGS, seed=7)
    batch = make_batch([problem], cosmo_recipe(MLP((4,))))

    def flat(state):
        one = jax.tree.map(lambda stacked: np.array(stacked[0]), state.parameters)
        output = one["functions"]["output"]
        return {
            "arcs": one["arcs"],
            "order": one["order"],
            "biases": one["functions"]["biases"],
            "weights": output["weights"],
            "constants": output["biases"],
        }

    expected = plain_adam(problem, flat(batch.start()), 34, 64)
    found = flat(run_rounds(backend, batch, 0, 34))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-4, err_msg=name)


def permuted(parameters, order):
    """Parameters of the problem whose variable i is this one's variable order[i]."""
    functions = jax.tree.map(lambda value: value[:, order], parameters["functions"])
    if "directions" in functions:
        functions["directions"] = functions["directions"][:, :, order]
    return {
        "arcs": parameters["arcs"][:, order][:, :, order],
        "order": parameters["order"][:, order],
        "functions": functions,
    }


@pytest.mark.parametrize(
    "mechanism", [MaskedMLP((4,)), pytest.param(MLP((4, 3)), marks=pytest.mark.nightly)], ids=repr
)
def test_permuting_variables_and_start_permutes_the_answer(mechanism):
    with jax.enable_x64(True):
        table = make_table(dtype=np.float64)
        order = np.random.default_rng(5).permutation(table.shape[1])
        batch, moved = (
            make_batch([Problem(np.ascontiguousarray(data), SETTINGS, 3)], cosmo_recipe(mechanism))
            for data in (table, table[:, order])
        )
        # NumPy arrays both times: one program serves.
        start = jax.tree.map(np.array, batch.start())
        plain = run_rounds(REFERENCE, batch, 0, 34, state=start)
        state = start._replace(parameters=permuted(start.parameters, order))
        other = run_rounds(REFERENCE, moved, 0, 34, state=state)
        expected = permuted(plain.parameters, order)
        # Sums are taken in another order: rounding of 1e-16, grown over 102 steps.
        for ours, theirs in zip(
            jax.tree.leaves(other.parameters), jax.tree.leaves(expected), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_permuting_permutes_the_compiled_answer():
    table = make_table()
    order = np.random.default_rng(5).permutation(table.shape[1])
    batch, moved = (
        make_batch([Problem(np.ascontiguousarray(data), SETTINGS, 3)], cosmo_recipe(MLP((4,))))
        for data in (table, table[:, order])
    )
    start = jax.tree.map(np.array, batch.start())
    state = start._replace(parameters=permuted(start.parameters, order))
    other = run_rounds(COMPILED, moved, 0, 34, state=jax.tree.map(np.array, state))
    plain = run_rounds(COMPILED, batch, 0, 34, state=jax.tree.map(np.array, start))
    expected = plain._replace(parameters=permuted(plain.parameters, order))
    assert_close_after_100_steps(other, expected)
