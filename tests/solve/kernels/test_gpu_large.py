"""The kernels for one large problem match the reference loop, for any division into tiles.

Here they are interpreted on a CPU, which is slow, so most of these tests are nightly. `python
benchmarks/gpu.py parity` makes the same comparison on a GPU.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from solver_problems import RECIPE, SETTINGS, OtherPriority

from cosmodag.model.mechanism import MLP
from cosmodag.model.objective import AnnealedObjective, log_residual_variances
from cosmodag.solve.kernels.gpu import large
from cosmodag.solve.kernels.gpu.shared import TileScalars, Tiling, padded
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.recipe import Schedule
from cosmodag.solve.training.loop import REFERENCE

pytest.importorskip("jax.experimental.pallas.triton", reason="this JAX has no Pallas for Triton")

from cosmodag.solve.kernels.gpu.tiles import move_arcs, predict

CPU = jax.devices("cpu")[0]

# Variables, rows, rows per step, and tiles. In the first two cases, the number of variables is not
# a multiple of any tile and the last mini-batch is short. In the second, a mini-batch takes two
# blocks of rows, and tiles are visited in groups of five, of which the last has two. In the
# third, a pass takes two rounds, of 33 and of 32 steps, and the last mini-batch is short.
SMALL = (40, 50, 16, Tiling(depth=16, width=32, splits=3, tall=16, wide=32, rows=16))
LARGE = (
    130,
    100,
    24,
    Tiling(depth=32, width=64, splits=2, tall=16, wide=16, span=5, busy=1, rows=16),
)
LONG = (20, 129, 2, Tiling(depth=32, width=64, splits=2, tall=32, wide=64, rows=16))


def make(case, given=None, **changes):
    d, n, size, _ = case
    noise = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    data = noise + np.roll(noise, 1, axis=1) / 2
    problem = Problem(data, {**SETTINGS, **changes}, seed=3, **(given or {}))
    recipe = replace(RECIPE, batch_size=size)
    return Batch.of(recipe, [problem], CPU, {recipe: large.LARGE})


def advance(case, batch, state, first, last):
    return large.advance(batch, state, first, last, case[3], interpret=True)


def trimmed(state, d):
    """Remove the padding of a state and assert that it is zero."""
    groups = []
    for group in state[:3]:
        arcs = np.asarray(group["arcs"])
        assert not arcs[:, d:].any()
        assert not arcs[:, :, d:].any()
        groups.append({**group, "arcs": arcs[:, :d, :d]})
    return type(state)(*groups, *state[3:])


def assert_same(state, expected, tolerance):
    d = expected.parameters["order"].shape[1]
    values = jax.tree.leaves(trimmed(state, d))
    for value, other in zip(values, jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(value, other, rtol=0, atol=tolerance)


def some_support(case):
    return np.random.default_rng(1).random((case[0], case[0])) < 0.6


def some_counted(case, columns):
    return np.random.default_rng(2).integers(0, 3, (case[1], columns)).astype(np.float32)


# Covers every case and feature with few programs, because compilation takes most of the time.
PROBLEMS = {
    "nothing": (SMALL, 8, {}),
    "support": (SMALL, 4, {"support": some_support(SMALL)}),
    "counted rows": (SMALL, 4, {"counted": some_counted(SMALL, 1)}),
    "counted entries": (LONG, 3, {"counted": some_counted(LONG, LONG[0])}),
    "everything": (
        LARGE,
        4,
        {"support": some_support(LARGE), "counted": some_counted(LARGE, LARGE[0])},
    ),
}


@pytest.mark.parametrize(
    ("case", "rounds", "given"),
    [
        pytest.param(*values, id=name, marks=() if name == "support" else pytest.mark.nightly)
        for name, values in PROBLEMS.items()
    ],
)
def test_steps_are_those_of_the_reference_loop(case, rounds, given):
    # Sums in another order differ in the last digits of float32 (5e-8 here). Adam divides by the
    # root of the second moment, so an error in any formula changes the result by a step, 1e-3.
    batch = make(case, given)
    state = advance(case, batch, large.start(batch), 0, rounds)
    assert_same(state, REFERENCE.advance(batch, batch.start(), 0, rounds), 2e-6)
    if case is LONG:
        assert state.step[0] == 33 + 32 + 33


@pytest.mark.nightly
def test_an_arc_that_may_not_exist_learns_nothing_from_the_data():
    support = some_support(SMALL)
    batch = make(SMALL, {"support": support}, lambda1=0.0, lambda2=0.0)
    before = np.asarray(batch.start().parameters["arcs"][0])
    state = advance(SMALL, batch, large.start(batch), 0, 3)
    moved = trimmed(state, SMALL[0]).parameters["arcs"][0] != before
    np.testing.assert_array_equal(moved, support & ~np.eye(SMALL[0], dtype=bool))


@pytest.mark.nightly
def test_a_batch_in_which_nothing_counts_moves_by_the_penalties_alone():
    batch = make(SMALL, {"counted": np.zeros((SMALL[1], 1), np.float32)})
    state = advance(SMALL, batch, large.start(batch), 0, 2)
    assert np.isfinite(state.loss[0])
    assert_same(state, REFERENCE.advance(batch, batch.start(), 0, 2), 2e-6)


@pytest.mark.nightly
def test_pieces_are_bit_identical_and_padding_may_be_left_to_advance():
    batch = make(SMALL)
    whole = advance(SMALL, batch, large.start(batch), 0, 7)
    part = advance(SMALL, batch, batch.start(), 0, 3)
    pieces = advance(SMALL, batch, part, 3, 7)
    assert_same(pieces, trimmed(whole, SMALL[0]), 0)


def test_start_draws_what_every_backend_starts_from():
    batch = make(SMALL)
    start, other = large.start(batch), batch.start()
    assert_same(start._replace(loss=other.loss), other, 0)
    assert np.isnan(start.loss)


@pytest.mark.nightly
def test_norms_of_zero_have_no_gradient():
    batch = make(SMALL, lambda1=0.0)

    def nothing():
        return jax.tree.map(lambda value: value * 0, batch.start())

    assert_same(
        advance(SMALL, batch, nothing(), 0, 1), REFERENCE.advance(batch, nothing(), 0, 1), 2e-6
    )


@pytest.mark.nightly
def test_the_round_of_divergence_is_recorded():
    batch = make(SMALL, learning_rate=1e25)
    state = advance(SMALL, batch, large.start(batch), 2, 5)
    assert state.diverged_at[0] == REFERENCE.advance(batch, batch.start(), 2, 5).diverged_at[0] == 2


def test_implements_exactly_one_large_linear_problem_on_a_gpu():
    data = np.zeros((4, large.SMALLEST), np.float32)
    task = Problem(data, SETTINGS, seed=0).task(RECIPE, 1, "gpu")
    assert large.implements(task)
    assert large.implements(task._replace(recipe=replace(RECIPE, batch_size=None)))
    assert large.implements(task._replace(features=frozenset({"support", "counted"})))
    for change in (
        {"platform": "cpu"},
        {"lanes": 2},
        {"variables": large.SMALLEST - 1},
        {"dtype": np.dtype(np.float64)},
        {"features": frozenset({"required"})},
        {"features": frozenset({"support", "gaps"})},
        {"recipe": replace(RECIPE, schedule=Schedule())},
        {"recipe": replace(RECIPE, structure=OtherPriority())},
        {"recipe": replace(RECIPE, mechanism=MLP())},
        {"recipe": replace(RECIPE, objective=AnnealedObjective(log_residual_variances))},
    ):
        assert not large.implements(task._replace(**change)), change


@pytest.mark.machine
@pytest.mark.skipif(
    jax.__version_info__ > (0, 10, 2),
    reason="newer JAX lowers to Triton only if there is a GPU",
)
@pytest.mark.parametrize("supported", [False, True], ids=["all arcs", "support"])
def test_kernels_lower_to_triton_at_a_hundred_thousand_variables(supported):
    d, b = padded(100_000), 64

    def shape(*sizes, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(sizes, dtype)

    def step(place, scalars, rows, columns, residuals, arcs, mean, square, order, support):
        tiling = Tiling()
        first = predict(place, scalars, rows, arcs, order, support, tiling)
        moved = move_arcs(
            place, scalars, columns, residuals, arcs, mean, square, order, support, tiling
        )
        return first, moved

    traced = jax.jit(step).trace(
        shape(1, dtype=jnp.int32),
        shape(len(TileScalars._fields)),
        shape(16, b, d),
        shape(16, d, b),
        shape(d, b),
        *(shape(d, d) for _ in range(3)),
        shape(d),
        shape(d, d, dtype=jnp.int8) if supported else None,
    )
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("triton") >= 2
    # H and both moments are updated in place.
    assert text.count("output_operand_alias<") == 3
    # With a support, an array of one byte per arc; without one, no such array.
    assert ("xi8>" in text) == supported
