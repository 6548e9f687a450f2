"""DAGMA's sub-problems for networks on a CPU: Adam on all rows, fused into one compiled loop.

The steps that `cosmodag.solver.minimisers.stochastic.Stochastic` takes with one batch of all rows,
for one hidden layer of sigmoid units. With r = x̂ − x, c what entries count, E = Σ c r², ∂W' the
gradient of ½E and M = (sI − A)⁻¹, A_uv = Σ_i W_uvi²,

    ∂W = μ (d/E ∂W' + λ₁ sign(W) + λ₂ W) + 2 W_uvi M_vu,

and for all other parameters θ, ∂θ = μ (d/E ∂θ' + λ₂ θ). Units are kept *unit first*, as in
`cosmodag.solver.kernels.cpu.mlp`: unit i of network v at place i·d + v.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled, inlined
from cosmodag.mechanism import MLP, Mechanism
from cosmodag.objective import Barrier, Decayed, log_squared_error
from cosmodag.solver.backend import FEATURES
from cosmodag.solver.kernels.cpu.steps import ONE, ZERO, exp
from cosmodag.solver.minimisers.barrier_linear import DescentSettings, invert_m_matrix
from cosmodag.solver.minimisers.base import Mask, Minimised
from cosmodag.solver.minimisers.each_lane import Ended, each_lane
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.adam import EPSILON
from cosmodag.solver.training.guards import Inside
from cosmodag.solver.training.schedules import Constant
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free, Parameters, names_of

__all__ = ["NetworkDescent", "descend"]

Float32 = NDArray[np.float32]

# Iterations between looks at the watch.
_LOOK_EVERY = 50


class _StageSettings(NamedTuple):
    """Settings of one stage of one problem, as compiled code reads them."""

    score_weight: float
    radius: float
    lambda2: float
    learning_rate: float
    beta1: float
    beta2: float


class _Given(NamedTuple):
    """What one problem gives, float32: data and what counts (n, d), support and λ₁ (d, d)."""

    data: Float32
    counted: Float32
    support: Float32
    lambda1: Float32


class _State(NamedTuple):
    """W (d, h·d) and all other parameters (2·h·d + d,), with Adam's moments; changed in place.

    The others are the biases and output weights of all units, and the output biases.
    """

    arcs: Float32
    arcs_mean: Float32
    arcs_square: Float32
    functions: Float32
    functions_mean: Float32
    functions_square: Float32


class _AdamStep(NamedTuple):
    """Scalars of one step of Adam, in single precision, corrected for starting at zero."""

    beta1: np.float32
    beta2: np.float32
    rate: np.float32
    square_scale: np.float32


class NetworkDescent:
    """Minimise DAGMA's objective over networks; a stage that leaves the domain is refused."""

    trains: ClassVar[bool] = False

    @property
    def needs(self) -> frozenset[str]:
        """Adam's settings, and iterations at most."""
        return names_of(DescentSettings)

    def implements(self, recipe: Recipe, features: frozenset[str]) -> bool:
        """DAGMA's objective for one hidden layer of sigmoid units, all rows in every step."""
        return (
            recipe.structure in (Free(), Free(from_zero=False))
            and _is_one_sigmoid_layer(recipe.mechanism)
            and recipe.objective == Decayed(Barrier(log_squared_error), biases=True)
            and recipe.schedule == Constant()
            and recipe.batch_size is None
            and recipe.guard == Inside()
            and features <= FEATURES
        )

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another."""

        def solve_one(lane: int, start: Parameters) -> Ended:
            settings = batch.settings_of(lane)
            given = _given(batch, lane, settings["lambda1"])
            stage = _StageSettings(*(settings[name] for name in _StageSettings._fields))
            state = _flat(start, given.support)
            done, inside, value = 0, True, np.nan
            while done < int(settings["rounds"]) and inside and watch.stop is None:
                until = min(done + _LOOK_EVERY, int(settings["rounds"]))
                inside, value = descend(given, state, stage, done, until)
                watch.advance(until - done)
                done = until
            return Ended(_restored(state, start), value, done, inside, not inside)

        return each_lane(batch, parameters, active, watch, solve_one, np.float32)


def _is_one_sigmoid_layer(mechanism: Mechanism) -> bool:
    if type(mechanism) is not MLP:
        return False
    return len(mechanism.hidden) == 1 and mechanism.activation == "sigmoid"


def _given(batch: Batch, lane: int, lambda1: float) -> _Given:
    def of(name: str, otherwise: Any, shape: tuple[int, int]) -> Float32:
        given = batch.of_lane(name, lane)
        array = otherwise if given is None else np.asarray(given)
        return np.ascontiguousarray(np.broadcast_to(array, shape), np.float32)

    n, d = batch.rows, batch.variables
    support = of("support", 1.0, (d, d)) * (1 - np.eye(d, dtype=np.float32))
    price = np.float32(lambda1) * (1 - of("required", 0.0, (d, d)))
    return _Given(of("data", 0.0, (n, d)), of("counted", 1.0, (n, d)), support, price)


def _flat(parameters: Parameters, support: Float32) -> _State:
    """Parameters of one problem before the first step, unit first."""
    arcs = _unit_first(parameters["arcs"] * support[..., None])
    output = parameters["functions"]["output"]
    biases = _unit_first(parameters["functions"]["biases"])
    functions = np.concatenate([biases, _unit_first(output["weights"]), output["biases"]])
    still = [(np.zeros_like(array), np.zeros_like(array)) for array in (arcs, functions)]
    return _State(arcs, *still[0], functions, *still[1])


def _restored(state: _State, like: Parameters) -> Parameters:
    """Parameters of one problem, from unit first."""
    d, _, h = like["arcs"].shape
    biases, weights, constants = np.split(state.functions, [h * d, 2 * h * d])
    output = {"weights": _unit_last(weights, d), "biases": constants}
    functions = {**like["functions"], "biases": _unit_last(biases, d), "output": output}
    return {**like, "arcs": _unit_last(state.arcs, d), "functions": functions}


def _unit_first(array: NDArray[Any]) -> Float32:
    """(…, d, h) → (…, h·d)."""
    return np.ascontiguousarray(array.swapaxes(-1, -2), np.float32).reshape(*array.shape[:-2], -1)


def _unit_last(array: NDArray[Any], d: int) -> NDArray[Any]:
    """(…, h·d) → (…, d, h)."""
    return array.reshape(*array.shape[:-1], -1, d).swapaxes(-1, -2)


@inlined
def _adam(value: Any, mean: Any, square: Any, gradient: Any, adam: Any) -> Any:
    """One entry, and Adam's moments of its gradient, after a step."""
    mean = adam.beta1 * mean + (ONE - adam.beta1) * gradient
    square = adam.beta2 * square + (ONE - adam.beta2) * gradient * gradient
    value -= adam.rate * mean / (np.sqrt(square * adam.square_scale) + np.float32(EPSILON))
    return value, mean, square


@inlined
def _lengths(weights: Any, price: Any, lengths: Any) -> Any:
    """Write √A, and return Σ λ₁|W| and ‖W‖_F²."""
    d = weights.shape[0]
    total, squares = 0.0, 0.0
    for u in range(d):
        for v in range(d):
            lengths[u, v] = 0.0
        row = weights[u].reshape((weights.shape[1] // d, d))
        for i in range(row.shape[0]):
            for v in range(d):
                w = row[i, v]
                lengths[u, v] += w * w
                total += price[u, v] * abs(w)
        for v in range(d):
            squares += lengths[u, v]
            lengths[u, v] = np.sqrt(lengths[u, v])
    return total, squares


@inlined
def _backward(
    given: Any, units: Any, functions: Any, gradient: Any, residual: Any, z_w: Any
) -> Any:
    """Turn x W into δ in place, fill the gradients of ½E by the functions, and return E."""
    n, d = given.data.shape
    h, wide = units.shape[1] // d, units.shape[1]
    biases, weights = functions[:wide], functions[wide : 2 * wide]
    gradient[:] = ZERO
    bias_gradient, weight_gradient = gradient[:wide], gradient[wide : 2 * wide]
    total = ZERO
    for j in range(n):
        for k in range(wide):
            z = ONE / (ONE + exp(-(units[j, k] + biases[k])))
            units[j, k] = z
            z_w[k] = z * weights[k]
        products = z_w.reshape((h, d))
        for v in range(d):
            residual[v] = functions[2 * wide + v] - given.data[j, v]
        for i in range(h):
            for v in range(d):
                residual[v] += products[i, v]
        for v in range(d):
            counted = given.counted[j, v] * residual[v]
            total += counted * residual[v]
            residual[v] = counted
            gradient[2 * wide + v] += counted
        for i in range(h):
            for v in range(d):
                products[i, v] = residual[v]
        for k in range(wide):
            z, r = units[j, k], z_w[k]
            delta = r * weights[k] * z * (ONE - z)
            units[j, k] = delta
            weight_gradient[k] += r * z
            bias_gradient[k] += delta
    return total


@inlined
def _move_arcs(
    given: Any, state: Any, gradient: Any, inverse: Any, scale: Any, mu: Any, decay: Any, adam: Any
) -> None:
    """Move W by Adam, but for arcs that may not exist."""
    d = inverse.shape[0]
    shape = (state.arcs.shape[1] // d, d)
    for u in range(d):
        arcs, means = state.arcs[u].reshape(shape), state.arcs_mean[u].reshape(shape)
        squares, slopes = state.arcs_square[u].reshape(shape), gradient[u].reshape(shape)
        for i in range(shape[0]):
            for v in range(d):
                w = arcs[i, v]
                sign = ONE if w > ZERO else (-ONE if w < ZERO else ZERO)
                g = slopes[i, v] * scale + mu * given.lambda1[u, v] * sign
                g += (decay + np.float32(2.0 * inverse[v, u])) * w
                w, means[i, v], squares[i, v] = _adam(w, means[i, v], squares[i, v], g, adam)
                arcs[i, v] = w * given.support[u, v]


@compiled
def descend(given: Any, state: Any, stage: Any, done: int, until: int) -> tuple[bool, float]:
    """Run iterations done + 1 … until in place; tell whether W stayed inside, and the objective.

    The objective is that before the last step.
    """
    n, d = given.data.shape
    wide = state.arcs.shape[1]
    units, gradient = np.empty((n, wide), np.float32), np.empty((d, wide), np.float32)
    functions_gradient = np.empty_like(state.functions)
    residual, z_w = np.empty(d, np.float32), np.empty(wide, np.float32)
    lengths, inverse = np.empty((d, d)), np.empty((d, d))
    mu = stage.score_weight
    decay = np.float32(mu * stage.lambda2)
    rows = given.counted.sum() / d
    value = np.nan
    for step in range(done + 1, until + 1):
        one_norm, squares = _lengths(state.arcs, given.lambda1, lengths)
        if not invert_m_matrix(lengths, stage.radius, inverse):
            return False, value
        np.dot(given.data, state.arcs, units)
        error = _backward(given, units, state.functions, functions_gradient, residual, z_w)
        np.dot(given.data.T, units, gradient)
        if step == until:
            for k in range(state.functions.shape[0]):
                squares += state.functions[k] * state.functions[k]
            # log det(sI − A) = −log det M, and M has a positive determinant inside.
            barrier = np.linalg.slogdet(inverse)[1] + d * np.log(stage.radius)
            score = 0.5 * d * np.log(error / rows) + one_norm
            value = mu * (score + 0.5 * stage.lambda2 * squares) + barrier
        adam = _AdamStep(
            np.float32(stage.beta1),
            np.float32(stage.beta2),
            np.float32(stage.learning_rate / (1 - stage.beta1**step)),
            np.float32(1 / (1 - stage.beta2**step)),
        )
        scale = np.float32(mu * d / error)
        _move_arcs(given, state, gradient, inverse, scale, np.float32(mu), decay, adam)
        for k in range(state.functions.shape[0]):
            g = scale * functions_gradient[k] + decay * state.functions[k]
            moved = _adam(
                state.functions[k], state.functions_mean[k], state.functions_square[k], g, adam
            )
            state.functions[k], state.functions_mean[k], state.functions_square[k] = moved
    return True, value
