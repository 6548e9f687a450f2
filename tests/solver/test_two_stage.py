"""NOCURL's two stages: the Hodge projection, and the batch through all of it."""

import networkx as nx
import numpy as np
import pytest
from constrained_problems import batch_of, free_recipe
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmodag.constraint import EXPONENTIAL, POLYNOMIAL
from cosmodag.mechanism import Linear
from cosmodag.objective import Penalised, mean_squared_error
from cosmodag.solver.methods.two_stage import TwoStage, potentials
from cosmodag.solver.methods.unconstrained import Unconstrained
from cosmodag.solver.minimisers.quasi_newton import QuasiNewton
from cosmodag.solver.minimisers.stochastic import Stochastic
from cosmodag.solver.recipe import Recipe, from_normal, from_zero
from cosmodag.solver.training.schedules import constant
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free, Potential

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
    # Sums of halves divided by d: exact to rounding.
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


def potential_recipe(strengths):
    return Recipe(Potential(), Linear(), Penalised(mean_squared_error), constant, 64, strengths)


@pytest.mark.parametrize("kind", ["quasi-newton", "stochastic"])
def test_both_stages_of_a_batch(kind):
    if kind == "stochastic":
        first = free_recipe(Penalised(mean_squared_error, EXPONENTIAL.of), masked=False)
        parts = (first, potential_recipe(from_normal), Stochastic(), Stochastic())
        own = {"learning_rate": 1e-2, "epochs": 60.0, "beta1": 0.9}
    else:
        newton = QuasiNewton(Free(), POLYNOMIAL), QuasiNewton(Potential())
        parts = (free_recipe(), potential_recipe(from_zero), *newton)
        own = {"lambda1": 0.0, "epochs": 2000.0}
    solver = TwoStage(*parts)
    batch = batch_of(solver.recipe, [own, own])
    with Watch(1, "test") as watch:
        solutions = solver.solve(batch, watch)
    for solution in solutions:
        phi = solution.parameters["order"]
        weights = solver.read_out(solution.parameters)
        assert phi[-1] == 0
        assert len(set(phi.tolist())) > 2
        assert np.all(weights[phi[:, None] >= phi] == 0)
        assert np.abs(weights).max() > 0.1
        assert [record["multiplier"] for record in solution.history] == [10, 1000, 0]


def test_the_joint_problem_moves_the_potentials_too():
    solver = Unconstrained(potential_recipe(from_normal))
    batch = batch_of(solver.recipe, [{"epochs": 5.0, "beta1": 0.9}])
    start = np.asarray(batch.start().parameters["order"][0])
    with Watch(1, "test") as watch:
        [solution] = solver.solve(batch, watch)
    assert np.all(solution.parameters["order"] != start)
    assert solver.read_out(solution.parameters).shape == (6, 6)
