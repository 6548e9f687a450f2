"""Fixtures of the solvers' tests."""

import numpy as np
import pytest
from solver_problems import SETTINGS, make_batch, make_table

from cosmodag.solve.problems import Batch, Problem


@pytest.fixture
def table() -> np.ndarray:
    return make_table()


@pytest.fixture
def batch(table: np.ndarray) -> Batch:
    """Three problems on two tables with different settings; the last mini-batch is short."""
    other = make_table(seed=1)
    return make_batch(
        [
            Problem(table, SETTINGS, 0),
            Problem(other, {**SETTINGS, "lambda1": 1e-2, "learning_rate": 2e-3}, 1),
            Problem(table, {**SETTINGS, "shift": 3e-3, "temperature_end": 5e-4}, 2),
        ]
    )
