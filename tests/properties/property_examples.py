"""What the properties share: how many examples are tried, and tables, graphs and names drawn."""

import os

import jax
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosmodag.model import orientation

seeds = st.integers(0, 2**32 - 1)
# One program for each shape, where operations one by one are ten.
smooth_orientation = jax.jit(orientation.smooth_orientation)
hard_orientation = jax.jit(orientation.hard_orientation)


def in_gate(count: int) -> settings:
    """Try so many examples in the gate, and in the nightly profile as many as that one says."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "nightly":
        return settings()
    return settings(max_examples=count)


def linear_table(
    random: np.random.Generator,
    rows: int,
    variables: int,
    noise: str = "normal",
    decades: float = 2.0,
) -> NDArray[np.float64]:
    """Rows of a random linear model, its columns in random order and in units of their own.

    Units are powers of ten up to so many decades away from one.
    """
    weights = np.triu(random.uniform(0.4, 1.5, (variables, variables)), 1)
    weights *= random.choice([-1, 1], weights.shape) * (random.random(weights.shape) < 0.4)
    drawn = getattr(random, noise)(size=(rows, variables))
    table = drawn @ np.linalg.inv(np.eye(variables) - weights)
    units = 10.0 ** random.uniform(-decades, decades, variables)
    return np.asarray(table[:, random.permutation(variables)] * units)


def random_dag(random: np.random.Generator, d: int) -> NDArray[np.bool_]:
    """A DAG of random density in a random order."""
    order = random.permutation(d)
    return np.triu(random.random((d, d)) < random.random(), 1)[np.ix_(order, order)]
