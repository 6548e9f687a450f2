"""Refinement of networks: arcs are chosen by evidence, and networks are trained again on them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from cosmodag.fit.input_checks import seeds_from
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.settle import isolated
from cosmodag.fit.steps import Learnt, RefinedFit
from cosmodag.learners.networks.loss_choice import Encoding, encoding_of
from cosmodag.learners.networks.network_equations import NetworkEquations
from cosmodag.model.objective import AnnealedObjective
from cosmodag.model.structure import Priority
from cosmodag.search.networks.network_problem import NetworkProblem
from cosmodag.search.networks.network_pruning import PrunedNetworks, prune
from cosmodag.search.networks.network_search import search_networks
from cosmodag.search.networks.order_moves import FoundOrder
from cosmodag.search.search_run import Run, unreported
from cosmodag.solve.methods.one_problem import OneProblem
from cosmodag.solve.plan import solve_many
from cosmodag.solve.problems import Problem
from cosmodag.solve.readout import read_out
from cosmodag.solve.recipe import CosineAnnealing, Recipe
from cosmodag.solve.training.batch_rows import Passes
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.networks.learner import NetworkLearner

# Training on the chosen arcs: number of steps, batch size and learning rate.
_STEPS = 3_200
_BATCH = 64
_RATE = 2e-3
# Distance of priorities, shift and temperature at which S is one along the order.
_DISTANCE, _SHIFT, _TEMPERATURE = 4.0, 1.0, 0.05


def refined_networks(
    learner: "NetworkLearner", given: Prepared, learnt: Learnt, watch: Watch
) -> RefinedFit:
    """Choose the inputs of each network by evidence, and fit the networks to these again."""
    networks = learnt.equations
    assert isinstance(networks, NetworkEquations)
    in_units = learner.order_follows_units(None)
    encoding = encoding_of(networks, given, in_units)
    pruned, report = _chosen_arcs(learner, given, learnt, encoding, watch)
    if pruned.finished:
        fitted = _refitted(encoding.networks_of(networks), encoding, given, pruned, watch)
        networks = encoding.equations_of(fitted, given)
    strengths = isolated(networks.strengths(learner.arc_strength), given.preparation.constant)
    places = np.nonzero(pruned.adjacency)
    return RefinedFit(
        order=pruned.order,
        weights=sparse.csr_array((strengths[places], places), shape=strengths.shape),
        noise="equal-variance" if in_units else "gaussian",
        reason="Arcs were chosen by the evidence of a Gaussian process for each variable.",
        report=report,
        stopped=None if pruned.finished else watch.stop,
        equations=networks,
    )


def _chosen_arcs(
    learner: "NetworkLearner", given: Prepared, learnt: Learnt, encoding: Encoding, watch: Watch
) -> tuple[PrunedNetworks | FoundOrder, list[dict[str, Any]]]:
    """Choose arcs on the learnt order, and on other orders unless the order depends on units."""
    name, in_units = type(learner).__name__, learner.order_follows_units(None)
    (seed,) = seeds_from(learner.random_state, 1)
    assert isinstance(learnt.equations, NetworkEquations)
    assert learnt.order is not None
    problem = NetworkProblem(
        encoding.table_of_evidence(given),
        learnt.order,
        strengths=isolated(learnt.equations.strengths("norm"), given.preparation.constant),
        constraints=given.known.constraints,
        counted=given.known.counted,
        random=seed,
        embedding=encoding.embedding,
    )

    run = Run(
        np.random.default_rng(seed),
        should_stop=lambda: watch.stop is not None,
        on_progress=lambda done, total: watch.advance(1),
    )
    watch.begin(problem.d, f"{name}: pruning")
    pruned = prune(problem, run)
    if in_units or not pruned.finished:
        return pruned, [{"start": "learnt", "added": int(pruned.added.sum())}]
    watch.begin(1, f"{name}: searching")
    run = replace(run, on_progress=unreported)
    return search_networks(problem, pruned, learnt.orders, run)


def _refitted(
    networks: NetworkEquations,
    encoding: Encoding,
    given: Prepared,
    pruned: PrunedNetworks | FoundOrder,
    watch: Watch,
) -> NetworkEquations:
    """Continue to train the networks without penalties, each on its parents in a DAG only.

    This is COSMO's problem with the DAG as support and with priorities that are fixed and far
    apart, so that its kernels can be used.
    """
    data, adjacency = encoding.encoded(given), pruned.adjacency
    n, d = data.shape
    rounds = Passes.over(n, _BATCH).rounds_of(steps=_STEPS)
    priorities = np.empty(d, np.float32)
    priorities[pruned.order] = _DISTANCE * np.arange(d)
    start = {
        "arcs": np.asarray(networks.first_weights, np.float32) * adjacency[..., None],
        "order": priorities,
        "functions": networks.functions(),
    }
    settings = {
        "learning_rate": _RATE,
        "priority_learning_rate": 0.0,
        "lambda1": 0.0,
        "lambda2": 0.0,
        "lambda_p": 0.0,
        "shift": _SHIFT,
        "temperature_start": _TEMPERATURE,
        "temperature_end": _TEMPERATURE,
        "rounds": float(rounds),
        "beta1": 0.9,
        "beta2": 0.999,
    }
    counted = given.known.counted
    problem = Problem(data, settings, 0, support=adjacency, counted=counted, start=start)
    mechanism = encoding.mechanism(networks.hidden, networks.activation)
    objective = AnnealedObjective(encoding.refit_loss)
    recipe = Recipe(Priority(), mechanism, objective, CosineAnnealing(), _BATCH)
    watch.begin(rounds, "refitting")
    (solved,) = solve_many(OneProblem(recipe), [problem], device="cpu", watch=watch)
    if solved.solution.diverged_at is not None:
        return networks
    found = read_out(solved.solution, problem, 0.0, solved.plan.device)
    assert found.first_layer is not None
    functions = solved.solution.parameters["functions"]
    return NetworkEquations.of(found.first_layer, functions, networks.hidden, networks.activation)
