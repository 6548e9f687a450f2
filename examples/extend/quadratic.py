"""A new mechanism: every variable a quadratic function of its parents.

    x̂_v = c_v + Σ_u (A_uv x_u + B_uv x_u²)

A mechanism says how x̂ depends on x, given weights that the structure has oriented. Here an arc
has two, A_uv and B_uv, that are switched off together. Predictions, scores, residuals and new
samples of the fitted model ask the mechanism, so that they are quadratic too.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import cosmodag
from cosmodag import Cosmo, stability


@dataclass(frozen=True)
class Quadratic:
    """x̂ = c + x A + x² B, the weights W (d, d, 2) holding A and B."""

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Draw A and B of a size 1/√d; c starts at zero."""
        return jax.random.normal(key, (d, d, 2)) / jnp.sqrt(2 * d), {"constants": jnp.zeros(d)}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ for a batch of rows."""
        return x @ weights[..., 0] + x**2 @ weights[..., 1] + functions["constants"]

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Give A and B themselves."""
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """√(A² + 2B²), the standard deviation of an arc's part for x of unit variance."""
        return jnp.sqrt(weights[..., 0] ** 2 + 2 * weights[..., 1] ** 2)


class QuadraticCosmo(Cosmo):
    """COSMO over quadratic relations; all parameters are those of `Cosmo`."""

    def _mechanism(self) -> Quadratic:
        return Quadratic()


def sample(n: int, random: np.random.Generator) -> np.ndarray:
    """Draw rows of a → b → c, a → c, in which b depends on a by a parabola alone."""
    a = random.normal(size=n)
    b = a**2 + 0.5 * random.normal(size=n)
    return np.column_stack([a, b, b - a + 0.5 * random.normal(size=n)])


def main() -> None:
    """Learn, predict, save, load, report and bootstrap."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer epochs and resamples")
    quick = parser.parse_args().quick
    random = np.random.default_rng(0)
    X, new = sample(500, random), sample(500, random)
    model = QuadraticCosmo(epochs=150 if quick else 1_000, random_state=0).fit(X)
    print("arcs:", ", ".join(f"{'abc'[u]} → {'abc'[v]}" for u, v in model.graph_.edges))
    explained = 1 - np.mean((new - model.predict(new)) ** 2, axis=0) / new.var(axis=0)
    print(f"R² on new rows: b {explained[1]:.2f}, c {explained[2]:.2f}")

    model.save("quadratic.safetensors", residuals=True)
    again = cosmodag.load("quadratic.safetensors")
    assert isinstance(again, QuadraticCosmo)
    assert np.array_equal(again.predict(new), model.predict(new))
    drawn = again.sample(1_000, random_state=0)
    bend = np.polyfit(drawn[:, 0], drawn[:, 1], 2)[0]
    model.report("quadratic.html")
    sure = stability.bootstrap(model, X, n=3 if quick else 30, random_state=0)
    size = Path("quadratic.html").stat().st_size
    print(f"saved, loaded; new samples bend by {bend:.2f}; a report of {size:,} bytes")
    print(f"a → b in {sure.arc_probabilities[0, 1]:.0%} of resamples")


if __name__ == "__main__":
    main()
