"""A new noise score: the likelihood of Laplace noise, with a scale of its own for each variable.

A score is a function of a batch of rows and what was predicted of them. For noise of density
exp(−|r| / s_v) / 2s_v the best s_v is the mean of |r|, and the negative log-likelihood is, but for
constants,

    (1/d) Σ_v log mean |x_v − x̂_v|,

in which units cancel out. Given a name in `LOSSES` it is a parameter of `Cosmo`. Unlike Gaussian
noise, Laplace noise shows directions even where its scales differ: a → b and b → a fit differently.
"""

import argparse
import warnings

import jax
import jax.numpy as jnp
import numpy as np

from cosmodag import Cosmo, metrics
from cosmodag.errors import ScaleWarning
from cosmodag.model.objective import LOSSES, Predicted


def log_mean_deviations(rows: Predicted) -> jax.Array:
    """(1/d) Σ_v log mean |x_v − x̂_v|, over the rows that count."""
    counted = jnp.broadcast_to(rows.counted, rows.x.shape)
    sums = jnp.sum(counted * jnp.abs(rows.predicted - rows.x), axis=0)
    return jnp.mean(jnp.log(jnp.maximum(sums / jnp.maximum(jnp.sum(counted, axis=0), 1e-9), 1e-9)))


LOSSES["laplace"] = log_mean_deviations


def sample(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of a chain whose noise shrinks along it, and give its graph."""
    X = random.laplace(size=(n, 4)) * [2.0, 1.0, 0.7, 0.5]
    for v in range(1, 4):
        X[:, v] += 0.6 * X[:, v - 1]
    return X, np.eye(4, k=1)


def main() -> None:
    """Learn by the Gaussian likelihood, and by the new one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer epochs")
    epochs = 30 if parser.parse_args().quick else 300
    X, truth = sample(1_000, np.random.default_rng(0))
    # Penalties on weights depend on units even where the score does not.
    warnings.simplefilter("ignore", ScaleWarning)
    settings = {"scale": "standardize", "lambda1": 0.01, "lambda2": 0.0, "refine": None}
    settings |= {"epochs": epochs, "trainings": 10, "random_state": 0}
    for loss in ("likelihood", "laplace"):
        model = Cosmo(loss=loss, **settings).fit(X)
        scores = metrics.evaluate(truth, model.adjacency_, threshold=0.0)
        print(f"{loss:>10}: {scores['shd']} wrong arcs of 3, by {model.backend_}")
    model.save("laplace.safetensors")
    model.report("laplace.html")


if __name__ == "__main__":
    main()
