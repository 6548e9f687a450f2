"""The compiled CPU loops match the reference loop, for every feature that they declare."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from solver_problems import (
    SETTINGS,
    OtherPriority,
    assert_close_after_100_steps,
    backend_named,
    cosmo_recipe,
    make_batch,
    make_table,
    run_rounds,
)

from cosmodag.data.knowledge.bounds import longest_chains
from cosmodag.model.mechanism import MLP, Linear, MaskedMLP
from cosmodag.model.objective import (
    SMALLEST_VARIANCE,
    AnnealedObjective,
    log_residual_variances,
    log_squared_error,
)
from cosmodag.model.structure import Free
from cosmodag.solve.kernels import cpu
from cosmodag.solve.plan import choose_backend
from cosmodag.solve.problems import Problem
from cosmodag.solve.recipe import Schedule
from cosmodag.solve.training.batch_rows import Passes
from cosmodag.solve.training.loop import REFERENCE

RECIPES = {
    "numba-linear": cosmo_recipe(Linear()),
    "numba-mlp": cosmo_recipe(MLP((4,))),
    "numba-mlp-likelihood": cosmo_recipe(MLP((4,)), loss=log_residual_variances),
}
every_kernel = pytest.mark.parametrize("name", RECIPES)


def chosen_backend(recipe, problem=None, platform="cpu"):
    return choose_backend((problem or Problem(make_table(), SETTINGS, 0)).task(recipe, 1, platform))


@every_kernel
def test_it_is_chosen_for_its_recipe_at_any_batch_size(name):
    for size in (64, 7, None):
        recipe = replace(RECIPES[name], batch_size=size)
        assert chosen_backend(recipe).name == name


@every_kernel
@pytest.mark.parametrize(
    "part",
    [
        {"structure": OtherPriority()},
        {"structure": Free()},
        {"objective": AnnealedObjective(log_squared_error)},
        {"schedule": Schedule()},
    ],
    ids=["structure subclassed", "structure", "objective", "schedule"],
)
def test_another_part_goes_to_the_reference_loop(name, part):
    assert chosen_backend(replace(RECIPES[name], **part)) is REFERENCE


@pytest.mark.parametrize("mechanism", [MLP((4, 3)), MLP((4,), "tanh"), MaskedMLP((4,))], ids=repr)
def test_other_networks_go_to_the_reference_loop(mechanism):
    assert chosen_backend(cosmo_recipe(mechanism)) is REFERENCE


@every_kernel
def test_other_problems_go_to_the_reference_loop(name):
    recipe, table = RECIPES[name], make_table()
    square = np.zeros((10, 10))
    for problem in (
        Problem(table, SETTINGS, 0, required=square),
        Problem(table.astype(np.float64), SETTINGS, 0),
    ):
        assert chosen_backend(recipe, problem) is REFERENCE
    assert not any(
        backend.implements(Problem(table, SETTINGS, 0).task(recipe, 1, "gpu"))
        for backend in cpu.BACKENDS
    )


def lanes(*given: str, counted_columns: int = 10, n: int = 150, d: int = 10) -> list[Problem]:
    """Three problems with different settings and with the given optional inputs."""
    random = np.random.default_rng(4)
    tables = [make_table(n, d), make_table(n, d, seed=1)]
    other = {**SETTINGS, "lambda1": 1e-2, "learning_rate": 2e-3, "shift": 3e-3}
    problems = []
    for seed, settings in enumerate((SETTINGS, other, SETTINGS)):
        arrays = {
            "support": random.random((d, d)) < 0.6,
            # Random row weights, with a fifth of the entries set by intervention.
            "counted": random.random((n, counted_columns))
            * (random.random((n, counted_columns)) < 0.8),
            # Three tiers, and variables without a tier.
            "gaps": longest_chains(in_tiers(random.integers(0, 4, d))),
        }
        kept = {name: arrays[name] for name in given}
        problems.append(Problem(tables[seed % 2], settings, seed, **kept))
    return problems


def in_tiers(tiers: np.ndarray) -> np.ndarray:
    """(d, d) bool: u is in an earlier tier than v; the last tier means no tier."""
    return (tiers[:, None] < tiers) & (tiers < tiers.max())


def with_all_features(problem: Problem) -> Problem:
    """Add neutral values of all optional inputs, so that the reference loop compiles once."""
    n, d = problem.data.shape
    support = np.ones((d, d)) if problem.support is None else problem.support
    counted = np.ones((n, d)) if problem.counted is None else problem.counted
    counted = np.broadcast_to(counted, (n, d)).copy()
    gaps = np.full((d, d), -np.inf) if problem.gaps is None else problem.gaps
    return replace(problem, support=support, counted=counted, gaps=gaps)


FEATURES = [(), ("support",), ("counted",), ("gaps",), ("support", "counted", "gaps")]


@every_kernel
@pytest.mark.parametrize(
    ("given", "columns"), [*((given, 10) for given in FEATURES), (("counted",), 1)], ids=str
)
def test_steps_are_those_of_the_reference_loop(name, given, columns):
    # 34 rounds of 3 steps; the last mini-batch is short.
    problems = lanes(*given, counted_columns=columns)
    recipe = RECIPES[name]
    batch = make_batch(problems, recipe)
    assert batch.backend.name == name
    ours = run_rounds(batch.backend, batch, 0, 34)
    theirs = run_rounds(
        REFERENCE, make_batch([with_all_features(p) for p in problems], recipe), 0, 34
    )
    assert ours.step.tolist() == [102] * 3
    assert_close_after_100_steps(ours, theirs)


@pytest.mark.parametrize(
    "name", ["numba-linear", pytest.param("numba-mlp", marks=pytest.mark.nightly)]
)
def test_several_rounds_in_a_pass_over_many_rows(name):
    # 71 batches in two rounds; 1.5 passes are 107 steps.
    assert Passes.over(4500, 64) == (4500, 64, 36, 2)
    batch = make_batch(lanes(n=4500, d=4)[:1], RECIPES[name])
    ours, theirs = (run_rounds(b, batch, 0, 3) for b in (batch.backend, REFERENCE))
    assert ours.step.tolist() == theirs.step.tolist() == [107]
    assert_close_after_100_steps(ours, theirs)
    pieces = run_rounds(batch.backend, batch, 0, 1, 2, 3)
    assert jax.tree.all(jax.tree.map(np.array_equal, ours, pieces))


@every_kernel
@pytest.mark.parametrize("given", FEATURES, ids=str)
def test_pieces_and_neighbours_do_not_matter(name, given):
    problems, recipe = lanes(*given), RECIPES[name]
    kernel = backend_named(name)
    straight = run_rounds(kernel, make_batch(problems, recipe), 0, 40)
    pieces = run_rounds(kernel, make_batch(problems, recipe), 0, 1, 17, 40)
    assert jax.tree.all(jax.tree.map(np.array_equal, straight, pieces))
    alone = run_rounds(kernel, make_batch(problems[1:2], recipe), 0, 40)
    for ours, theirs in zip(jax.tree.leaves(straight), jax.tree.leaves(alone), strict=True):
        assert np.array_equal(ours[1:2], theirs)


@every_kernel
def test_values_in_rows_that_do_not_count_do_not_matter(name):
    """Values in rows of weight zero do not affect the result."""
    table, recipe = make_table(), RECIPES[name]
    counted = np.ones((150, 1))
    counted[::3] = 0
    changed = table.copy()
    changed[::3] = 100
    plain, other = (
        run_rounds(backend_named(name), make_batch([problem], recipe), 0, 5)
        for problem in (
            Problem(table, SETTINGS, 0, counted=counted),
            Problem(changed, SETTINGS, 0, counted=counted),
        )
    )
    np.testing.assert_allclose(plain.parameters["arcs"], other.parameters["arcs"], atol=1e-6)
    np.testing.assert_allclose(plain.loss, other.loss, rtol=1e-5)


# Under the likelihood, a variable without residuals is treated as predicted exactly.
LOSS_WITHOUT_ROWS = {"numba-mlp-likelihood": pytest.approx(np.log(SMALLEST_VARIANCE))}


@every_kernel
def test_batches_in_which_nothing_counts_give_no_loss(name):
    settings = {**SETTINGS, "lambda1": 0.0, "lambda2": 0.0, "lambda_p": 0.0}
    problem = Problem(make_table(), settings, 0, counted=np.zeros((150, 1)))
    batch = make_batch([problem], RECIPES[name])
    before = jax.tree.map(np.array, batch.backend.start(batch).parameters)
    state = run_rounds(batch.backend, batch, 0, 3)
    assert state.loss.tolist() == [LOSS_WITHOUT_ROWS.get(name, 0.0)]
    assert jax.tree.all(jax.tree.map(np.array_equal, state.parameters, before))


@every_kernel
def test_divergence_is_noticed_and_leaves_its_neighbours_bit_identical(name):
    recipe = RECIPES[name]
    healthy = lanes()
    broken = replace(healthy[1], data=np.full_like(healthy[1].data, 1e30))
    reference = run_rounds(backend_named(name), make_batch(healthy, recipe), 0, 10)
    state = run_rounds(
        backend_named(name), make_batch([healthy[0], broken, healthy[2]], recipe), 0, 4, 10
    )
    assert state.diverged_at.tolist() == [-1, 0, -1]
    for lane in (0, 2):
        assert np.array_equal(state.parameters["arcs"][lane], reference.parameters["arcs"][lane])
