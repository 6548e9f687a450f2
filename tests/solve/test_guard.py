"""The guard of a recipe: a round that ends outside its domain is undone and counted."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from solver_problems import SETTINGS, make_table

from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, mean_squared_error
from cosmodag.model.structure import Free
from cosmodag.solve.problems import Batch, Problem
from cosmodag.solve.recipe import Domain, Recipe
from cosmodag.solve.training.loop import REFERENCE
from cosmodag.solve.training.train import train
from cosmodag.solve.watch import Watch


@dataclass(frozen=True)
class Wall:
    """Weights must stay below the setting "wall"; at most three rounds are undone."""

    needs = frozenset({"wall"})

    def holds(self, strengths, settings):
        return jnp.abs(strengths).max() < settings["wall"]

    def patience(self, settings):
        return jnp.int32(3)

    def refuses(self, undone, first_undone, first, settings):
        return undone > 0


def run(batch: Batch, rounds: int, first: int = 0):
    with Watch(rounds, "test") as watch:
        trained = train(batch, batch.start(), rounds, watch, first)
    return jax.tree.map(np.asarray, trained.state)


@pytest.fixture
def guarded() -> Batch:
    """Free weights from zero: one lane inside its wall, one outside, one that reaches it."""
    table = make_table()
    recipe = Recipe(Free(), Linear(), Penalised(mean_squared_error), batch_size=64, guard=Wall())
    backends = {recipe: REFERENCE, replace(recipe, guard=None): REFERENCE}
    problems = [Problem(table, {**SETTINGS, "wall": wall}, 0) for wall in (1e9, -1.0, 0.3)]
    return Batch.of(recipe, problems, jax.devices("cpu")[0], backends)


def test_without_a_guard_there_is_nothing_to_count(batch):
    assert batch.start().undone == ()
    assert run(batch, 2).undone == ()


def test_far_from_the_wall_nothing_changes(guarded):
    free = run(replace(guarded, recipe=replace(guarded.recipe, guard=None)), 5)
    held = run(guarded, 5)
    # Two different programs, so the results are equal up to rounding.
    np.testing.assert_allclose(
        held.parameters["arcs"][0], free.parameters["arcs"][0], rtol=1e-4, atol=1e-6
    )
    assert held.undone[0][0] == 0
    assert held.undone[1][0] == -1


def test_a_round_that_ends_outside_is_undone(guarded):
    start = jax.tree.map(np.asarray, guarded.start())
    held = run(guarded, 5, first=7)
    assert np.array_equal(held.parameters["arcs"][1], start.parameters["arcs"][1])
    assert np.any(held.mean["arcs"][1] != 0)
    assert held.undone[0][1] == 5
    assert held.undone[1][1] == 7


def test_a_lane_is_undone_on_its_own_and_frozen_when_patience_is_out(guarded):
    states = [run(guarded, rounds) for rounds in range(1, 25)]
    counts = np.array([state.undone[0] for state in states])
    assert np.all(counts[:, 0] == 0)
    reached = np.flatnonzero(counts[:, 2] >= 3)
    assert len(reached) > 2
    assert counts[0, 2] == 0
    frozen = [states[place].parameters["arcs"][2] for place in reached]
    assert all(np.array_equal(frozen[0], later) for later in frozen[1:])
    assert all(np.abs(state.parameters["arcs"][2]).max() < 0.3 for state in states)
    assert np.abs(states[-1].parameters["arcs"][0]).max() > 0.3


def test_the_domain_of_the_barrier():
    guard = Domain()
    inside = jnp.array([[0.0, 0.5], [0.5, 0.0]])
    settings = {"radius": np.float32(1.0), "learning_rate": np.float32(1e-3)}
    assert guard.holds(inside, settings)
    assert not guard.holds(3 * inside, settings)
    assert not guard.holds(inside * jnp.nan, settings)
    # 1e-3 can be halved ten times before it is below 1e-6.
    assert guard.patience(settings) == 10
    assert guard.patience({**settings, "radius": np.float32(0.9)}) == 1


@pytest.mark.parametrize(
    ("undone", "first_undone", "radius", "expected"),
    [(0, -1, 0.9, False), (1, 12, 1.0, False), (1, 10, 1.0, True), (1, 12, 0.9, True)],
)
def test_when_a_stage_restarts(undone, first_undone, radius, expected):
    settings = {"radius": np.float32(radius)}
    assert Domain().refuses(undone, first_undone, 10, settings) == expected
