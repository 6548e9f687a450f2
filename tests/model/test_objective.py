"""Losses agree with their definitions, for any weights of rows and entries."""

import numpy as np
import pytest

from cosmodag.model.objective import LOSSES, Predicted

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(12, 3)).astype(np.float32) * [1.0, 5.0, 0.2]
GUESSED = X + RANDOM.normal(size=X.shape).astype(np.float32) * [0.5, 2.0, 0.1]
COUNTED = {
    "each row once": np.ones((12, 1), np.float32),
    "rows as often as drawn": RANDOM.integers(0, 3, (12, 1)).astype(np.float32),
    "single entries": RANDOM.integers(0, 2, X.shape).astype(np.float32),
}


@pytest.mark.parametrize("counted", COUNTED.values(), ids=COUNTED)
def test_losses_are_means_over_what_counts(counted):
    rows = Predicted(X, GUESSED, counted)
    weights = np.broadcast_to(counted, X.shape)
    squares = (GUESSED - X) ** 2
    assert LOSSES["squared-error"](rows) == pytest.approx(
        np.average(squares, weights=weights), rel=1e-5
    )
    variances = np.average(squares, axis=0, weights=weights)
    assert LOSSES["likelihood"](rows) == pytest.approx(np.log(variances).mean(), rel=1e-5)
