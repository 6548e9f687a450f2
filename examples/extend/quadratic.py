"""A new mechanism: each variable is a quadratic function of its parents.

    x̂_v = c_v + Σ_u (A_uv x_u + B_uv x_u²)

A mechanism defines how x̂ depends on x, given weights that the structure has oriented. Here each
arc has two weights, A_uv and B_uv, which the orientation switches off together. Predictions,
scores, residuals and samples of the fitted model use the mechanism, so they are quadratic too.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag import Cosmo
from cosmodag.model.mechanism import Mechanism


@dataclass(frozen=True)
class Quadratic(Mechanism):
    """x̂ = c + x A + x² B, where the weights W (d, d, 2) hold A and B."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Draw A and B with standard deviation 1/√(2d); c starts at zero."""
        return jax.random.normal(key, (d, d, 2)) / jnp.sqrt(2 * d), {"constants": jnp.zeros(d)}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """Compute x̂ for a batch of rows."""
        return x @ weights[..., 0] + x**2 @ weights[..., 1] + functions["constants"]

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Compute √(A² + 2B²), the standard deviation of A x + B x² for a standard normal x."""
        return jnp.sqrt(weights[..., 0] ** 2 + 2 * weights[..., 1] ** 2)


class QuadraticCosmo(Cosmo):
    """COSMO with quadratic relations; it has the parameters of `Cosmo`."""

    def _mechanism(self) -> Quadratic:
        return Quadratic()


def sample(n: int, random: np.random.Generator) -> np.ndarray:
    """Sample a → b → c, a → c, where b is a parabola of a plus noise."""
    a = random.normal(size=n)
    b = a**2 + 0.5 * random.normal(size=n)
    return np.column_stack([a, b, b - a + 0.5 * random.normal(size=n)])


def main() -> None:
    """Fit, predict and sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer epochs")
    epochs = 150 if parser.parse_args().quick else 1_000
    random = np.random.default_rng(0)
    X, new = sample(500, random), sample(500, random)
    model = QuadraticCosmo(epochs=epochs, random_state=0).fit(X)
    print("arcs:", ", ".join(f"{'abc'[u]} → {'abc'[v]}" for u, v in model.graph_.edges))
    explained = 1 - np.mean((new - model.predict(new)) ** 2, axis=0) / new.var(axis=0)
    print(f"R² on new rows: b {explained[1]:.2f}, c {explained[2]:.2f}")
    drawn = model.sample(1_000, random_state=0)
    coefficient = np.polyfit(drawn[:, 0], drawn[:, 1], 2)[0]
    print(f"coefficient of a² in the equation of b, in new samples: {coefficient:.2f} (true: 1)")
    model.save("quadratic.safetensors")
    model.report("quadratic.html")


if __name__ == "__main__":
    main()
