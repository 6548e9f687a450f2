"""The compiled loop for networks takes the paper's steps, for any order of the variables."""

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
    plain_adam,
    run_rounds,
)

from cosmodag.model.mechanism import MLP, MaskedMLP
from cosmodag.solve.problems import Problem
from cosmodag.solve.training.loop import REFERENCE

COMPILED = backend_named("numba-mlp")


def network_gradients(x, values, orientation, t):
    """Gradients of the mean squared error of networks with one hidden layer."""
    w, weights = values["arcs"] * orientation[..., None], values["weights"]
    z = 1 / (1 + np.exp(-(np.einsum("bu,uvi->bvi", x, w) + values["biases"])))
    r = 2 / x.size * ((z * weights).sum(-1) + values["constants"] - x)
    delta = r[..., None] * weights * z * (1 - z)
    g = np.einsum("bu,bvi->uvi", x, delta)
    q = (g * w).sum(-1) * (1 - orientation) / t
    return {
        "arcs": g * orientation[..., None],
        "order": q.sum(0) - q.sum(1),
        "biases": delta.sum(0),
        "weights": (r[..., None] * z).sum(0),
        "constants": r.sum(0),
    }


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

    expected = plain_adam(problem, flat(batch.start()), network_gradients, 34)
    found = flat(run_rounds(backend, batch, 0, 34))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-4, err_msg=name)


def permuted(parameters, order):
    """Parameters of the permuted problem, whose variable i is variable order[i] here."""
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
        # NumPy arrays in both runs, so that they share one program.
        start = jax.tree.map(np.array, batch.start())
        plain = run_rounds(REFERENCE, batch, 0, 34, state=start)
        state = start._replace(parameters=permuted(start.parameters, order))
        other = run_rounds(REFERENCE, moved, 0, 34, state=state)
        expected = permuted(plain.parameters, order)
        # Sums are taken in another order: rounding errors of 1e-16 grow over 102 steps.
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
