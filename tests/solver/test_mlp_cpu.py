"""The compiled loop for networks takes the steps of the loop; permuted problems stay permuted."""

import itertools

import jax
import numpy as np
import pytest
from solver_problems import SETTINGS, make_table

from cosmodag.mechanism import MLP, MaskedMLP
from cosmodag.solver.kernels.backends import BACKENDS, choose
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Batch, Problem
from cosmodag.solver.training.shuffle import row_order

COMPILED, XLA = (next(b for b in BACKENDS if b.name == name) for name in ("numba-mlp", "xla"))


def make_batch(problems, mechanism=None):
    return Batch.of(Anneal(mechanism or MLP((4,))).recipe, problems, jax.devices("cpu")[0])


def run(backend, batch, *marks, state=None):
    state = batch.start() if state is None else state
    for first, last in itertools.pairwise(marks):
        state = backend.advance(batch, state, first, last)
    return jax.tree.map(np.array, state)


@pytest.fixture
def batch():
    """Two problems with settings of their own; the last batch of rows is short."""
    table = make_table()
    settings = {**SETTINGS, "lambda1": 1e-2, "learning_rate": 2e-3, "shift": 3e-3}
    return make_batch([Problem(table, SETTINGS, 0), Problem(make_table(seed=1), settings, 1)])


def test_it_is_chosen_where_it_is_written_for(batch):
    problems = [Problem(make_table(), SETTINGS, 0)]
    assert choose(batch) is COMPILED
    for other in (MLP((4, 3)), MLP((4,), "tanh"), MaskedMLP((4,))):
        assert choose(make_batch(problems, other)) is XLA
    with jax.enable_x64(True):
        doubles = [Problem(make_table(dtype=np.float64), SETTINGS, 0)]
        assert choose(make_batch(doubles)) is XLA


def test_backends_agree(batch):
    # 34 epochs of 3 steps; the bar for 100 steps in float32 is 1e-4.
    compiled, xla = (run(backend, batch, 0, 34) for backend in (COMPILED, XLA))
    assert compiled.step.tolist() == [102, 102]
    for ours, theirs in zip(
        jax.tree.leaves(compiled.parameters), jax.tree.leaves(xla.parameters), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    np.testing.assert_allclose(compiled.loss, xla.loss, rtol=1e-3)


def plain_adam(problem, start, epochs, size):
    """The problem solved step by step with NumPy in float64, from the formulas in the paper."""
    s, x_all = problem.settings, problem.data.astype(np.float64)
    names = ("arcs", "order", "biases", "weights", "constants")
    values = [np.array(start[name], np.float64) for name in names]
    means, squares = [0 * v for v in values], [0 * v for v in values]
    step = 0
    for epoch in range(epochs):
        wave = 0.5 * (1 + np.cos(np.pi * epoch / s["epochs"]))
        t = s["temperature_end"] + wave * (s["temperature_start"] - s["temperature_end"])
        order = np.array(row_order(problem.seed, epoch, len(x_all)))
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


@pytest.mark.parametrize("backend", [COMPILED, XLA], ids=lambda b: b.name)
def test_steps_are_those_of_the_paper(backend):
    problem = Problem(make_table(), SETTINGS, seed=7)
    batch = make_batch([problem])

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
    found = flat(run(backend, batch, 0, 34))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-4, err_msg=name)


def test_chunks_do_not_matter(batch):
    straight, chunked = run(COMPILED, batch, 0, 40), run(COMPILED, batch, 0, 1, 17, 40)
    assert jax.tree.all(jax.tree.map(np.array_equal, straight, chunked))


def test_a_diverging_problem_leaves_its_neighbour_bit_identical():
    table = make_table()
    broken = np.full_like(table, np.float32(1e30))
    alone = run(COMPILED, make_batch([Problem(table, SETTINGS, 0)]), 0, 10)
    both = [Problem(table, SETTINGS, 0), Problem(broken, SETTINGS, 1)]
    state = run(COMPILED, make_batch(both), 0, 10)
    assert state.diverged_at.tolist() == [-1, 0]
    assert np.array_equal(state.parameters["arcs"][0], alone.parameters["arcs"][0])


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


@pytest.mark.parametrize("mechanism", [MLP((4,)), MLP((4, 3)), MaskedMLP((4,))], ids=repr)
def test_permuting_variables_and_start_permutes_the_answer(mechanism):
    with jax.enable_x64(True):
        table = make_table(dtype=np.float64)
        order = np.random.default_rng(5).permutation(table.shape[1])
        batch, moved = (
            make_batch([Problem(np.ascontiguousarray(data), SETTINGS, 3)], mechanism)
            for data in (table, table[:, order])
        )
        start = batch.start()
        plain = run(XLA, batch, 0, 34, state=jax.tree.map(np.array, start))
        state = start._replace(parameters=permuted(start.parameters, order))
        other = run(XLA, moved, 0, 34, state=state)
        expected = permuted(plain.parameters, order)
        # Sums are taken in another order: rounding of 1e-16, grown over 102 steps.
        for ours, theirs in zip(
            jax.tree.leaves(other.parameters), jax.tree.leaves(expected), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_permuting_permutes_the_compiled_answer():
    table = make_table()
    order = np.random.default_rng(5).permutation(table.shape[1])
    batch = make_batch([Problem(table, SETTINGS, 3)])
    moved = make_batch([Problem(np.ascontiguousarray(table[:, order]), SETTINGS, 3)])
    start = jax.tree.map(np.array, batch.start())
    state = start._replace(parameters=permuted(start.parameters, order))
    other = run(COMPILED, moved, 0, 34, state=jax.tree.map(np.array, state))
    plain = run(COMPILED, batch, 0, 34, state=jax.tree.map(np.array, start))
    for ours, theirs in zip(
        jax.tree.leaves(other.parameters),
        jax.tree.leaves(permuted(plain.parameters, order)),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
