"""Helpers of the property tests: numbers of examples, and random tables and graphs."""

import os

import jax
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosmodag.model import orientation

seeds = st.integers(0, 2**32 - 1)
# Compiled as a whole: one program per shape instead of about ten for the single operations.
smooth_orientation = jax.jit(orientation.smooth_orientation)
hard_orientation = jax.jit(orientation.hard_orientation)


def gate_examples(count: int) -> settings:
    """Number of examples in the gate; the nightly profile keeps its own number."""
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
    """Draw rows of a random linear model, with shuffled columns in random units.

    The logarithm (base 10) of each unit is uniform between −decades and decades.
    """
    weights = np.triu(random.uniform(0.4, 1.5, (variables, variables)), 1)
    weights *= random.choice([-1, 1], weights.shape) * (random.random(weights.shape) < 0.4)
    drawn = getattr(random, noise)(size=(rows, variables))
    table = drawn @ np.linalg.inv(np.eye(variables) - weights)
    units = 10.0 ** random.uniform(-decades, decades, variables)
    return np.asarray(table[:, random.permutation(variables)] * units)


def random_dag(random: np.random.Generator, d: int) -> NDArray[np.bool_]:
    """Draw a DAG with a random density and a random order."""
    order = random.permutation(d)
    return np.triu(random.random((d, d)) < random.random(), 1)[np.ix_(order, order)]
