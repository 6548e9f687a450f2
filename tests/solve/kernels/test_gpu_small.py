"""The kernel for many small problems matches the reference loop.

Here it is interpreted on a CPU, which is slow, so most of these tests are nightly. `python
benchmarks/gpu.py parity` makes the same comparison on a GPU.
"""

from dataclasses import replace

import jax
import numpy as np
import pytest
from solver_problems import RECIPE, SETTINGS, make_table, reference_batch

from cosmodag.solve.kernels.gpu import small
from cosmodag.solve.problems import Problem
from cosmodag.solve.training.loop import REFERENCE

pytest.importorskip("jax.experimental.pallas.triton", reason="this JAX has no Pallas for Triton")


def advance(batch, state, first, last):
    state = small.advance(batch, state, first, last, interpret=True)
    return jax.tree.map(np.array, state)


def test_steps_are_those_of_the_reference_loop(batch):
    # Three problems on two tables, with 10 variables in a tile of 16 and a short last mini-batch.
    # Sums in another order differ in the last digits of float32; values are at most 100 in size.
    state = advance(batch, batch.start(), 0, 6)
    expected = REFERENCE.advance(batch, batch.start(), 0, 6)
    assert list(state.step) == [18, 18, 18]
    for value, other in zip(jax.tree.leaves(state), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=2e-6)


@pytest.mark.nightly
def test_pieces_and_neighbours_make_no_difference(batch):
    whole = advance(batch, batch.start(), 0, 5)
    pieces = advance(batch, advance(batch, batch.start(), 0, 2), 2, 5)
    wild = dict(batch.settings, learning_rate=np.array([8e-3, 1e25, 8e-3], np.float32))
    beside = advance(replace(batch, settings=wild), batch.start(), 0, 5)
    assert list(beside.diverged_at) == [-1, 0, -1]
    for a, b, c in zip(*map(jax.tree.leaves, (whole, pieces, beside)), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[[0, 2]], c[[0, 2]])


@pytest.mark.nightly
def test_a_pass_of_several_rounds(batch):
    # 150 rows, two per step: rounds of 38 and of 37 steps.
    batch = replace(batch, recipe=replace(batch.recipe, batch_size=2))
    state = advance(batch, batch.start(), 0, 3)
    expected = REFERENCE.advance(batch, batch.start(), 0, 3)
    assert list(state.step) == [38 + 37 + 38] * 3
    for value, other in zip(jax.tree.leaves(state), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-4, atol=1e-5)


def test_implements_exactly_small_linear_problems_on_a_gpu():
    task = Problem(make_table(), SETTINGS, 0).task(RECIPE, 3, "gpu")
    assert small.implements(task)
    many_rows = replace(RECIPE, batch_size=500)
    assert small.implements(task._replace(recipe=many_rows, rows=100))
    for change in (
        {"platform": "cpu"},
        {"recipe": many_rows, "rows": 500},
        {"recipe": replace(RECIPE, batch_size=None), "rows": 500},
        {"variables": small.LARGEST + 1},
        {"dtype": np.dtype(np.float64)},
        {"features": frozenset({"support"})},
        {"features": frozenset({"counted"})},
    ):
        assert not small.implements(task._replace(**change)), change


@pytest.mark.machine
@pytest.mark.skipif(
    jax.__version_info__ > (0, 10, 2),
    reason="newer JAX lowers to Triton only if there is a GPU",
)
@pytest.mark.parametrize("d", [10, 64])
def test_kernel_lowers_to_triton(d):
    batch = reference_batch([Problem(np.zeros((100, d), np.float32), SETTINGS, 0)])
    traced = small._run_rounds.trace(
        batch.recipe,
        False,
        batch.start(),
        batch.given["data"],
        batch.which["data"],
        batch.seeds,
        batch.settings,
        0,
        1,
    )
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "triton" in text
    # H, p and their moments are updated in place.
    assert text.count("output_operand_alias<") == 6
