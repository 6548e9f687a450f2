"""The modules agree with the package's JAX functions, including gradients."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cosmodag.model.mechanism import MLP, Linear
from cosmodag.model.objective import AnnealedObjective, Predicted
from cosmodag.model.orientation import hard_orientation, smooth_orientation
from cosmodag.model.structure import Priority
from cosmodag.solve.training.adam import adam_step, fresh_state

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cosmodag.torch import (  # noqa: E402
    CosineTemperature,
    PriorityLayer,
    PriorityLinear,
    PriorityMLP,
    SmoothOrientation,
    regulariser,
)

TOLERANCE = 1e-6
D, SHIFT, TEMPERATURE = 5, 0.1, 0.3
PENALTIES = {"lambda1": 0.03, "lambda2": 0.2, "lambda_p": 0.05}
SETTINGS = {"shift": SHIFT, "temperature": TEMPERATURE, **PENALTIES}


def some_orientation(support: Any = None, temperature: float = TEMPERATURE) -> SmoothOrientation:
    orientation = SmoothOrientation(
        D, shift=SHIFT, temperature=temperature, support=support, dtype=torch.float64
    )
    torch.nn.init.normal_(orientation.priorities, generator=torch.Generator().manual_seed(0))
    return orientation


def some_support() -> np.ndarray:
    return np.random.default_rng(1).random((D, D)) < 0.7


def of_jax(value: Callable[[Any], jax.Array], parameters: Any) -> tuple[float, Any]:
    """Value and gradients in JAX, in double precision."""
    with jax.enable_x64(True):
        found, gradients = jax.jit(jax.value_and_grad(value))(parameters)
        return float(found), jax.tree.map(np.asarray, gradients)


def close(found: Any, expected: Any) -> None:
    found = found.numpy(force=True) if torch.is_tensor(found) else found
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("temperature", [0.45, 0.05, 8.5e-4])
def test_orientation_and_its_gradient(temperature: float) -> None:
    orientation = some_orientation(temperature=temperature)
    upstream = np.random.default_rng(2).normal(size=(D, D))
    value = (orientation() * torch.as_tensor(upstream)).sum()
    value.backward()
    expected, gradient = of_jax(
        lambda p: (smooth_orientation(p, temperature, SHIFT) * upstream).sum(),
        orientation.priorities.numpy(force=True),
    )
    close(value, expected)
    close(orientation.priorities.grad, gradient)


def test_hard_orientation() -> None:
    orientation = some_orientation()
    orientation.mode = "hard"
    with jax.enable_x64(True):
        expected = np.asarray(hard_orientation(orientation.priorities.numpy(force=True), SHIFT))
    np.testing.assert_array_equal(orientation().numpy(force=True), expected.astype(float))


def parameters_of(layer: PriorityLayer) -> dict[str, Any]:
    """Parameters of a layer in the format of the package's structures and mechanisms."""
    arrays = {name: p.numpy(force=True) for name, p in layer.named_parameters()}
    order, arcs = arrays.pop("orientation.priorities"), arrays.pop("strengths")
    if not arrays:
        return {"arcs": arcs, "order": order, "functions": {}}
    hidden = tuple(
        {"weights": arrays[f"hidden_weights.{i}"], "biases": arrays[f"hidden_biases.{i}"]}
        for i in range(len(arrays) // 2 - 1)
    )
    functions = {
        "biases": arrays["first_biases"],
        "hidden": hidden,
        "output": {"weights": arrays["output_weights"], "biases": arrays["output_biases"]},
    }
    return {"arcs": arcs, "order": order, "functions": functions}


LAYERS = [
    (lambda orientation: PriorityLinear(orientation), Linear()),
    (lambda orientation: PriorityMLP(orientation), MLP()),
    (
        lambda orientation: PriorityMLP(orientation, hidden=(4, 3, 2), activation="tanh"),
        MLP(hidden=(4, 3, 2), activation="tanh"),
    ),
    (
        lambda orientation: PriorityMLP(orientation, hidden=(4,), activation="relu"),
        MLP(hidden=(4,), activation="relu"),
    ),
]


@pytest.mark.parametrize("support", [None, some_support()], ids=["all arcs", "some arcs"])
@pytest.mark.parametrize(("make", "mechanism"), LAYERS)
def test_the_whole_objective_and_all_its_gradients(make, mechanism, support) -> None:
    torch.manual_seed(3)
    layer = make(some_orientation(support))
    x = np.random.default_rng(4).normal(size=(7, D))
    rows = torch.as_tensor(x)
    value = ((layer(rows) - rows) ** 2).mean() + regulariser(layer, **PENALTIES)
    value.backward()

    def objective(parameters: dict[str, Any]) -> jax.Array:
        allowed = 1.0 if support is None else jnp.asarray(support, float)
        weights = Priority().orient(parameters, SETTINGS, allowed)
        predicted = mechanism.predict(x, weights, parameters["functions"])
        batch = Predicted(x, predicted, jnp.ones((len(x), 1)))
        return AnnealedObjective()(parameters, weights, batch, SETTINGS)

    expected, gradients = of_jax(objective, parameters_of(layer))
    close(value, expected)
    for parameter in layer.parameters():
        parameter.data = parameter.grad
    jax.tree.map(close, parameters_of(layer), gradients)


@pytest.mark.parametrize("strength", ["norm", "sum"])
def test_one_number_per_arc(strength: str) -> None:
    layer = PriorityMLP(some_orientation(), arc_strength=strength)
    with jax.enable_x64(True):
        weights = Priority().orient(parameters_of(layer), SETTINGS, 1.0)
        close(layer.strength(), MLP(arc_strength=strength).strength(weights, {}))


def test_gradients_of_the_penalties_are_zero_at_zero() -> None:
    layer = PriorityLinear(some_orientation())
    for parameter in layer.parameters():
        torch.nn.init.zeros_(parameter)
    regulariser(layer, **PENALTIES).backward()
    assert not any(parameter.grad.any() for parameter in layer.parameters())


def test_a_short_training_ends_where_the_packages_own_loop_of_steps_does() -> None:
    """Fifty steps of Adam with falling t, on full batches so that both use the same rows."""
    layer, rounds, rate = PriorityLinear(some_orientation()), 50, 0.02
    x = np.random.default_rng(5).normal(size=(30, D))
    start = parameters_of(layer)
    start = {"arcs": start["arcs"].copy(), "order": start["order"].copy()}
    optimiser = torch.optim.Adam(layer.parameters(), lr=rate)
    scheduler = CosineTemperature(layer, rounds)
    temperatures, rows = [], torch.as_tensor(x)
    for _ in range(rounds):
        temperatures.append(scheduler.get_last_temperature())
        loss = ((layer(rows) - rows) ** 2).mean() + regulariser(layer, **PENALTIES)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        scheduler.step()
    trained = adam_of_jax(start, x, temperatures, rate)
    close(layer.strengths, trained["arcs"])
    close(layer.orientation.priorities, trained["order"])


def adam_of_jax(parameters: Any, x: np.ndarray, temperatures: list[float], rate: float) -> Any:
    @jax.grad
    def gradient(parameters: Any, settings: Any) -> jax.Array:
        weights = Priority().orient(parameters, settings, 1.0)
        batch = Predicted(x, x @ weights, jnp.ones((len(x), 1)))
        return AnnealedObjective()(parameters, weights, batch, settings)

    @jax.jit
    def step(state: Any, temperature: float) -> Any:
        settings = {**SETTINGS, "temperature": temperature, "beta1": 0.9, "beta2": 0.999}
        settings |= {"learning_rate": rate, "priority_learning_rate": rate}
        return adam_step(state, gradient(state.parameters, settings), settings)

    with jax.enable_x64(True):
        state = fresh_state(jax.tree.map(jnp.asarray, parameters))
        for temperature in temperatures:
            state = step(state, temperature)
        return jax.tree.map(np.asarray, state.parameters)
