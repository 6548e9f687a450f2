"""NOCURL's two stages: the Hodge projection, and batches of problems."""

import jax
import networkx as nx
import numpy as np
import pytest
from constrained_problems import Scripted, batch_of, free_recipe, solve
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmodag.graph.constraint import EXPONENTIAL, POLYNOMIAL
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error, mean_squared_error
from cosmodag.model.structure import Potential
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.methods.two_stage import TwoStage, potentials
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton
from cosmodag.solve.recipe import Recipe

graphs = st.integers(1, 8).flatmap(
    lambda d: hnp.arrays(np.bool_, (d, d), elements=st.booleans(), fill=st.just(False))
)


def test_a_cycle_has_no_potential():
    assert np.array_equal(potentials(np.roll(np.eye(5), 1, axis=1)), np.zeros(5))


@given(graphs)
def test_every_arc_of_a_dag_raises_the_potential_by_at_least_one_dth(graph):
    dag = np.triu(graph, 1)
    phi = potentials(dag)
    tails, heads = np.nonzero(dag)
    # Sums of halves divided by d are exact up to rounding.
    assert np.all(phi[heads] - phi[tails] >= 1 / len(dag) - 1e-12)


@given(graphs)
def test_it_is_the_least_squares_solution(graph):
    d = len(graph)
    closure = nx.transitive_closure(nx.from_numpy_array(graph, create_using=nx.DiGraph))
    reach = nx.to_numpy_array(closure, nodelist=range(d)) > 0
    flow = 0.5 * (reach.astype(float) - reach.T)
    rows = [(u, v) for u in range(d) for v in range(d) if u != v]
    differences = np.zeros((len(rows), d))
    for place, (u, v) in enumerate(rows):
        differences[place, v], differences[place, u] = 1, -1
    wanted = np.array([flow[u, v] for u, v in rows])
    best = np.linalg.lstsq(differences, wanted, rcond=None)[0] if rows else np.zeros(d)
    np.testing.assert_allclose(potentials(graph), best - best[-1], atol=1e-9)


STOCHASTIC = TwoStage(
    free_recipe(Penalised(mean_squared_error, EXPONENTIAL), masked=False),
    Recipe(Potential(), Linear(), Penalised(mean_squared_error), batch_size=64),
    (QuasiNewton(), Stochastic()),
)
ORIGINAL = TwoStage(
    free_recipe(Penalised(half_squared_error, POLYNOMIAL)),
    Recipe(Potential(from_zero=True), Linear(), Penalised(half_squared_error)),
    (QuasiNewton(), Stochastic()),
)


def weights_of(solution, support=1.0):
    with jax.enable_x64(True):
        return np.asarray(solution.recipe.strengths(solution.parameters, {}, support))


@pytest.mark.parametrize("solver", [STOCHASTIC, ORIGINAL], ids=["stochastic", "original"])
def test_both_stages_of_a_batch(solver):
    own = {"lambda1": 0.0, "rounds": 2000.0}
    if solver is STOCHASTIC:
        own = {"learning_rate": 1e-2, "rounds": 60.0, "beta1": 0.9}
    assert solver.trained_recipes == (
        (solver.preliminary, solver.recipe) if solver is STOCHASTIC else ()
    )
    for solution in solve(solver, batch_of(solver.recipe, [own, own], also=[solver.preliminary])):
        assert solution.recipe == solver.recipe
        assert solution.converged
        phi, weights = solution.parameters["order"], weights_of(solution)
        assert phi[-1] == 0
        assert len(set(phi.tolist())) > 2
        assert np.all(weights[phi[:, None] >= phi] == 0)
        assert np.abs(weights).max() > 0.1
        assert [record["multiplier"] for record in solution.history] == [10, 1000, 0]


def test_settings_that_the_stages_set_are_not_needed():
    assert ORIGINAL.needs == {"lambda1", "rounds"}
    assert STOCHASTIC.needs == {"lambda1", "rounds", "learning_rate", "beta1", "beta2"}


class StopAt:
    """A watch that stops the run after a number of checks."""

    def __init__(self, looks):
        self.looks = looks

    @property
    def stop(self):
        self.looks -= 1
        return "time" if self.looks < 0 else None

    def advance(self, rounds, note=""):
        pass


@pytest.mark.parametrize("looks", [0, 1, 2])
def test_stopped_early_it_returns_the_weights_of_the_first_stage(looks):
    """K ~ N(0, 1), the random start of the last stage, is not a result."""
    scripted = Scripted([[0.5], [0.4], [9.0]])
    solver = TwoStage(STOCHASTIC.preliminary, STOCHASTIC.recipe, (scripted,))
    batch = batch_of(solver.recipe, [{}], also=[solver.preliminary])
    [solution] = solver.solve(batch, StopAt(looks))
    assert solution.stopped == "time"
    assert not solution.converged
    assert solution.recipe == solver.preliminary
    weights = weights_of(solution)
    assert weights[0, 1] == pytest.approx(0.5 if looks == 0 else 0.4)
    assert np.count_nonzero(weights) == 1


def test_potentials_respect_the_order_and_weights_the_support():
    gaps, support = np.full((6, 6), -np.inf), np.ones((6, 6))
    gaps[5, 0], support[0, 1] = 1.0, 0.0
    batch = batch_of(ORIGINAL.recipe, [{"rounds": 2000.0}], gaps=gaps, support=support)
    [solution] = solve(ORIGINAL, batch)
    phi = solution.parameters["order"]
    assert phi[0] >= phi[5] + 1 / 6 - 1e-12
    weights = weights_of(solution, support)
    assert weights[0, 1] == 0
    assert np.count_nonzero(weights) > 3


def test_the_joint_problem_moves_the_potentials_too():
    solver = OneProblem(STOCHASTIC.recipe)
    batch = batch_of(solver.recipe, [{"rounds": 5.0, "beta1": 0.9}])
    start = np.asarray(batch.start().parameters["order"][0])
    [solution] = solve(solver, batch)
    assert np.all(solution.parameters["order"] != start)
