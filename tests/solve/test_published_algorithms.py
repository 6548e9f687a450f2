"""NOTEARS and NOCURL agree with transcriptions of their authors' code on small data.

The transcriptions do not use the package: they work on rows rather than covariances, and with
SciPy's matrix exponential and the authors' constants.
"""

import jax
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from constrained_problems import batch_of, free_recipe, solve

from cosmodag.graph.constraint import EXPONENTIAL, POLYNOMIAL
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error
from cosmodag.model.structure import Potential
from cosmodag.solve.methods.lagrangian import Lagrangian
from cosmodag.solve.methods.two_stage import TwoStage
from cosmodag.solve.minimisers.minimiser import Stochastic
from cosmodag.solve.minimisers.quasi_newton import QuasiNewton
from cosmodag.solve.recipe import Recipe

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
D = 6


def score(data, weights, lambda1=0.0):
    """(1/2n) ‖X − XW‖_F² + λ₁‖W‖₁."""
    rest = data - data @ weights
    return 0.5 / len(data) * np.sum(rest**2) + lambda1 * np.abs(weights).sum()


def score_gradient(data, weights):
    return -data.T @ (data - data @ weights) / len(data)


def published_notears(data, lambda1):
    """Zheng et al. (2018): W = W⁺ − W⁻ by L-BFGS-B within an augmented Lagrangian."""
    d = data.shape[1]
    bounds = [(0, 0) if i == j else (0, None) for _ in range(2) for i in range(d) for j in range(d)]

    def join(parts):
        return (parts[: d * d] - parts[d * d :]).reshape(d, d)

    def h_of(weights):
        exponential = scipy.linalg.expm(weights * weights)
        return np.trace(exponential) - d, exponential.T * weights * 2

    def objective(parts):
        weights = join(parts)
        h, h_gradient = h_of(weights)
        value = score(data, weights) + 0.5 * rho * h * h + alpha * h + lambda1 * parts.sum()
        gradient = score_gradient(data, weights) + (rho * h + alpha) * h_gradient
        return value, np.concatenate([gradient + lambda1, -gradient + lambda1], axis=None)

    parts, rho, alpha, h = np.zeros(2 * d * d), 1.0, 0.0, np.inf
    for _ in range(100):
        while rho < 1e16:
            solved = scipy.optimize.minimize(
                objective, parts, method="L-BFGS-B", jac=True, bounds=bounds
            )
            new_h, _ = h_of(join(solved.x))
            if new_h > 0.25 * h:
                rho *= 10
            else:
                break
        parts, h = solved.x, new_h
        alpha += rho * h
        if h <= 1e-8 or rho >= 1e16:
            break
    return join(parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_notears(seed):
    recipe = free_recipe(Penalised(half_squared_error, EXPONENTIAL))
    solver = Lagrangian(recipe, (QuasiNewton(1e-8), Stochastic()))
    batch = batch_of(recipe, [{"lambda1": 0.1, "rounds": 15_000.0}] * (seed + 1), d=D)
    solution = solve(solver, batch)[seed]
    data = batch.of_lane("data", seed)
    theirs = score(data, published_notears(data, 0.1), 0.1)
    ours = score(data, solution.parameters["arcs"], 0.1)
    assert solution.converged
    assert ours == pytest.approx(theirs, rel=1e-3)


def published_nocurl(data):
    """Yu et al. (2021): two penalised problems, the Hodge projection, and K with φ frozen.

    As in their code, K is symmetric and C lacks its factor ½. This changes the scales of φ and K,
    but not the set of possible W = K ∘ ReLU(φ_v − φ_u).
    """
    d = data.shape[1]
    off = ~np.eye(d, dtype=bool)

    def minimise(function, start):
        options = {"ftol": 1e-8, "maxiter": 15_000}
        return scipy.optimize.minimize(
            function, start, method="L-BFGS-B", jac=True, options=options
        ).x

    def weights_of(entries):
        weights = np.zeros((d, d))
        weights[off] = entries
        return weights

    entries = np.zeros(d * (d - 1))
    for penalty in (10.0, 1000.0):

        def penalised(x, penalty=penalty):
            weights = weights_of(x)
            base = np.eye(d) + weights * weights / d
            power = np.linalg.matrix_power(base, d - 1)
            value = score(data, weights) + penalty * (np.sum(power.T * base) - d)
            return value, (score_gradient(data, weights) + penalty * power.T * weights * 2)[off]

        entries = minimise(penalised, entries)
    adjacency = (np.abs(weights_of(entries)) >= 0.3).astype(float)
    reach = (scipy.linalg.expm(adjacency) - np.eye(d) > 1e-12).astype(float)
    flow = reach - reach.T
    laplacian = np.ones((d - 1, d - 1)) - d * np.eye(d - 1)
    phi = np.append(np.linalg.solve(laplacian, flow.sum(axis=1)[:-1]), 0.0)
    gain = np.maximum(phi[None, :] - phi[:, None], 0.0)
    pairs = np.triu_indices(d, 1)

    def frozen(k):
        symmetric = np.zeros((d, d))
        symmetric[pairs] = k
        weights = (symmetric + symmetric.T) * gain
        gradient = score_gradient(data, weights) * gain
        return score(data, weights), (gradient + gradient.T)[pairs]

    symmetric = np.zeros((d, d))
    symmetric[pairs] = minimise(frozen, np.zeros(len(pairs[0])))
    return (symmetric + symmetric.T) * gain, phi


@pytest.mark.parametrize("seed", SEEDS)
def test_nocurl(seed):
    solver = TwoStage(
        free_recipe(Penalised(half_squared_error, POLYNOMIAL)),
        Recipe(Potential(from_zero=True), Linear(), Penalised(half_squared_error)),
        (QuasiNewton(1e-8), Stochastic()),
    )
    own = {"lambda1": 0.0, "rounds": 15_000.0}
    batch = batch_of(solver.recipe, [own] * (seed + 1), d=D)
    solution = solve(solver, batch)[seed]
    data = batch.of_lane("data", seed)
    theirs, phi = published_nocurl(data)
    with jax.enable_x64(True):
        ours = np.asarray(solution.recipe.strengths(solution.parameters, {}))
    assert solution.converged
    # With its factor ½, C gives half the potentials.
    np.testing.assert_allclose(2 * solution.parameters["order"], phi, atol=1e-9)
    assert score(data, ours) == pytest.approx(score(data, theirs), rel=1e-3)
