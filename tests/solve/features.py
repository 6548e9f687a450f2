"""Optional inputs of problems: allowed and required arcs, and row weights."""

import numpy as np

FEATURES = ("support", "counted", "required")
EVERY_FEATURE = [(), *((name,) for name in FEATURES), FEATURES]


def given_features(features, n: int = 150, d: int = 6) -> dict[str, np.ndarray]:
    """The requested inputs: allowed arcs, required arcs, row weights for variables 2 and 4."""
    random = np.random.default_rng(5)
    counted = np.ones((n, d))
    counted[: n // 3, 2] = 0
    counted[n // 2 :, 4] = random.integers(0, 3, n - n // 2)
    support = random.random((d, d)) < 0.7
    everything = {
        "support": support.astype(float),
        "counted": counted,
        "required": (support & (random.random((d, d)) < 0.2)).astype(float),
    }
    return {name: everything[name] for name in features}
