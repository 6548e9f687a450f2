"""The kernels for one large problem take the steps of the loop, however the work is cut up.

They run here interpreted, on a CPU; `python benchmarks/gpu.py parity` does the same on a GPU.
"""

from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from solver_problems import SETTINGS

from cosmodag.mechanism import Linear
from cosmodag.solver.kernels.backends import BACKENDS
from cosmodag.solver.kernels.gpu import large as linear_gpu
from cosmodag.solver.kernels.gpu.arithmetic import round_at_random
from cosmodag.solver.methods.anneal import Anneal
from cosmodag.solver.problems import Batch, Problem

pytest.importorskip("jax.experimental.pallas.triton", reason="this JAX has no Pallas for Triton")

from cosmodag.solver.kernels.gpu import tiles

advance_xla = next(backend.advance for backend in BACKENDS if backend.name == "xla")

# Variables, rows, rows a step, and tiles: neither number of variables is a multiple of any tile,
# both last batches are short, the second batch size takes two blocks of rows, and in the second
# case tiles are visited five in turn, and then two.
SMALL = (40, 50, 16, tiles.Tiling(depth=16, width=32, splits=3, tall=16, wide=32, rows=16))
LARGE = (
    130,
    100,
    24,
    tiles.Tiling(depth=32, width=64, splits=2, tall=16, wide=16, span=5, busy=1, rows=16),
)


def make(case, **changes):
    d, n, size, _ = case
    noise = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    problem = Problem(noise + np.roll(noise, 1, axis=1) / 2, {**SETTINGS, **changes}, seed=3)
    return Batch.of(Anneal(Linear(), size).recipe, [problem], jax.devices("cpu")[0])


def advance(case, batch, state, first, last):
    return linear_gpu.advance(batch, state, first, last, case[3], interpret=True)


def trimmed(state, d):
    """Cut H out of a padded state, and check that nothing is around it."""
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


@pytest.mark.parametrize("case", [SMALL, LARGE], ids=["small", "large"])
def test_steps_are_those_of_the_loop(case):
    # Sums in another order differ in the last places of float32 (5e-8 here); Adam divides by the
    # root of the second moment, so that a slip in any formula shows at the size of a step, 1e-3.
    batch = make(case)
    state = advance(case, batch, linear_gpu.start(batch), 0, 8)
    assert_same(state, advance_xla(batch, batch.start(), 0, 8), 2e-6)


def test_pieces_are_bit_identical_and_padding_may_be_left_to_advance():
    batch = make(SMALL)
    whole = advance(SMALL, batch, linear_gpu.start(batch), 0, 7)
    part = advance(SMALL, batch, batch.start(), 0, 3)
    pieces = advance(SMALL, batch, part, 3, 7)
    assert_same(pieces, trimmed(whole, SMALL[0]), 0)


def test_start_draws_what_every_backend_starts_from():
    batch = make(SMALL)
    start, other = linear_gpu.start(batch), batch.start()
    assert_same(start._replace(loss=other.loss), other, 0)
    assert np.isnan(start.loss)


def test_norms_of_zero_pull_nowhere():
    batch = make(SMALL, lambda1=0.0)

    def nothing():
        return jax.tree.map(lambda value: value * 0, batch.start())

    assert_same(advance(SMALL, batch, nothing(), 0, 1), advance_xla(batch, nothing(), 0, 1), 2e-6)


def test_divergence_is_dated():
    batch = make(SMALL, learning_rate=1e25)
    state = advance(SMALL, batch, linear_gpu.start(batch), 2, 5)
    assert state.diverged_at[0] == advance_xla(batch, batch.start(), 2, 5).diverged_at[0] == 2


def test_moments_in_bfloat16_follow_those_in_float32():
    batch = make(SMALL)
    state = advance(SMALL, batch, linear_gpu.start(batch, jnp.bfloat16), 0, 8)
    exact = advance_xla(batch, batch.start(), 0, 8)
    assert state.mean["arcs"].dtype == state.square["arcs"].dtype == jnp.bfloat16
    assert state.parameters["arcs"].dtype == jnp.float32
    arcs, expected = trimmed(state, SMALL[0]).parameters["arcs"], exact.parameters["arcs"]
    moved = np.linalg.norm(expected - batch.start().parameters["arcs"])
    # Moments carry 8 bits, so each step errs by up to 2⁻⁸ of itself, up and down alike.
    assert np.linalg.norm(arcs - expected) < 2e-2 * moved


def test_rounding_at_random_has_no_bias():
    # A quarter of the way from 1 to the next bfloat16, 1 + 2⁻⁷: up in a quarter of the cases.
    value = jnp.full((64, 64), 1 + 2.0**-9)
    u = v = jnp.arange(64)
    shares = []
    for step in range(1, 5):
        pair = round_at_random(value, value, jnp.int32(step), u, v)
        for rounded in pair:
            assert set(np.unique(rounded)) == {1.0, 1 + 2.0**-7}
            shares.append(float((rounded > 1).mean()))
    # 32,768 draws: one standard error is 0.0024.
    assert np.mean(shares) == pytest.approx(0.25, abs=0.01)


def test_applies_to_one_large_linear_problem_on_a_gpu():
    gpu = SimpleNamespace(platform="gpu")
    d = linear_gpu.SMALLEST
    problem = Problem(np.zeros((4, d), np.float32), SETTINGS, seed=0)
    recipe, cpu = Anneal(Linear()).recipe, jax.devices("cpu")[0]
    large = replace(Batch.of(recipe, [problem], cpu), device=gpu)
    assert linear_gpu.applies(large)
    assert not linear_gpu.applies(replace(large, device=cpu))
    assert not linear_gpu.applies(replace(large, tables=large.tables[..., 1:]))
    assert not linear_gpu.applies(replace(large, tables=large.tables.astype(np.float64)))
    assert not linear_gpu.applies(replace(Batch.of(recipe, [problem] * 2, cpu), device=gpu))
    other = replace(recipe, schedule=lambda epoch, settings: settings)
    assert not linear_gpu.applies(replace(large, recipe=other))


@pytest.mark.skipif(
    jax.__version_info__ > (0, 10, 2), reason="newer JAX lowers to Triton only beside a GPU"
)
@pytest.mark.parametrize("moments", [jnp.float32, jnp.bfloat16])
def test_kernels_lower_to_triton_at_a_hundred_thousand_variables(moments):
    d, b = tiles.padded(100_000), 64

    def shape(*sizes, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(sizes, dtype)

    def step(place, rates, rows, columns, residuals, arcs, mean, square, order):
        tiling = tiles.Tiling()
        first = tiles.predict(place, rates, rows, arcs, order, tiling)
        moved = tiles.move_arcs(
            place, place, rates, columns, residuals, arcs, mean, square, order, tiling
        )
        return first, moved

    square = shape(d, d, dtype=moments)
    traced = jax.jit(step).trace(
        shape(1, dtype=jnp.int32),
        shape(len(tiles.Rates._fields)),
        shape(16, b, d),
        shape(16, d, b),
        shape(d, b),
        shape(d, d),
        square,
        square,
        shape(d),
    )
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("triton") >= 2
    # H and both moments are updated where they are.
    assert text.count("output_operand_alias<") == 3
