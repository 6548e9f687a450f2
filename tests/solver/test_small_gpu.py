"""The kernel for many small problems takes the steps of the loop.

It runs here interpreted, on a CPU; `python benchmarks/gpu.py parity` does the same on a GPU.
"""

from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from solver_problems import SETTINGS, make_batch, make_table

from cosmodag.mechanism import Linear
from cosmodag.solver.kernels.backends import BACKENDS
from cosmodag.solver.kernels.gpu import small as small_gpu
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Batch, Problem

pytest.importorskip("jax.experimental.pallas.triton", reason="this JAX has no Pallas for Triton")

advance_xla = next(backend.advance for backend in BACKENDS if backend.name == "xla")


def advance(batch, state, first, last):
    state = small_gpu.advance(batch, state, first, last, interpret=True)
    return jax.tree.map(np.array, state)


def test_steps_are_those_of_the_loop(batch):
    # Three problems on two tables; 10 variables in a tile of 16, and a short last batch of rows.
    # Sums in another order differ in the last places of float32; values are of size 100 at most.
    state = advance(batch, batch.start(), 0, 6)
    expected = advance_xla(batch, batch.start(), 0, 6)
    assert list(state.step) == [18, 18, 18]
    for value, other in zip(jax.tree.leaves(state), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=2e-6)


def test_pieces_and_neighbours_make_no_difference(batch):
    whole = advance(batch, batch.start(), 0, 5)
    pieces = advance(batch, advance(batch, batch.start(), 0, 2), 2, 5)
    wild = dict(batch.settings, learning_rate=np.array([8e-3, 1e25, 8e-3], np.float32))
    beside = advance(replace(batch, settings=wild), batch.start(), 0, 5)
    assert list(beside.diverged_at) == [-1, 0, -1]
    for a, b, c in zip(*map(jax.tree.leaves, (whole, pieces, beside)), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[[0, 2]], c[[0, 2]])


def test_applies_to_small_linear_problems_on_a_gpu():
    gpu = SimpleNamespace(platform="gpu")
    small = replace(make_batch([Problem(make_table(), SETTINGS, 0)]), device=gpu)
    assert small_gpu.applies(small)
    assert not small_gpu.applies(replace(small, device=jax.devices("cpu")[0]))
    many_rows = Anneal(Linear(), batch_size=500).recipe
    assert not small_gpu.applies(replace(small, recipe=many_rows))
    wide = np.zeros((1, 4, small_gpu.LARGEST + 1), np.float32)
    assert not small_gpu.applies(replace(small, tables=wide))
    assert not small_gpu.applies(replace(small, tables=small.tables.astype(np.float64)))


@pytest.mark.skipif(
    jax.__version_info__ > (0, 10, 2), reason="newer JAX lowers to Triton only beside a GPU"
)
@pytest.mark.parametrize("d", [10, 64])
def test_kernel_lowers_to_triton(d):
    table = np.zeros((100, d), np.float32)
    batch = Batch.of(Anneal(Linear()).recipe, [Problem(table, SETTINGS, 0)], jax.devices("cpu")[0])
    traced = small_gpu._run_epochs.trace(
        batch.recipe,
        False,
        batch.start(),
        batch.tables,
        batch.table,
        batch.seeds,
        batch.settings,
        0,
        1,
    )
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "triton" in text
    # H, p and their moments are updated where they are.
    assert text.count("output_operand_alias<") == 6
