"""Every learner in the registry with settings for a quick fit, and a table to fit it on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cosmodag.learners import StructureLearner
from cosmodag.learners.registry import LEARNERS

# Settings by class name and variant. A learner that is not listed here fails
# `test_every_learner_has_quick_settings`.
QUICK: dict[str, dict[str, dict[str, Any]]] = {
    "Cosmo": {
        "": {"epochs": 30, "random_state": 0},
        "unrefined": {"epochs": 30, "refine": None, "random_state": 0},
        "searched": {"epochs": 30, "refine": "order", "random_state": 0},
        "trainings": {"epochs": 10, "trainings": 3, "random_state": 0},
    },
    "CosmoMLP": {
        "": {"epochs": 10, "hidden": (3,), "random_state": 0},
        "unrefined": {"epochs": 10, "hidden": (3,), "refine": None, "random_state": 0},
    },
    "Auto": {"": {"random_state": 0}},
    "OrderSearch": {"": {"random_state": 0}},
    "BlockSearch": {"": {"random_state": 0}, "curved": {"random_state": 0, "curves": True}},
    "Notears": {"": {}},
    "NotearsMLP": {"": {"max_iter": 1, "hidden": (3,), "random_state": 0}},
    "Dagma": {"": {"max_iter": 2000}},
    "DagmaMLP": {"": {"max_iter": 100, "hidden": (3,), "random_state": 0}},
    "NoCurl": {"": {}},
    "EqualVariance": {"": {}},
    "VarianceSort": {"": {}, "least-squares": {"criterion": "none"}, "pruned": {"refine": "prune"}},
    "R2Sort": {"": {}},
    "RandomSort": {"": {"random_state": 0}},
    "EmptyGraph": {"": {}},
    "GivenGraph": {"": {}},
}

CATALOGUE: dict[str, Callable[[], StructureLearner]] = {
    f"{name}-{variant}" if variant else name: partial(entry.load(), **settings)
    for name, entry in LEARNERS.items()
    for variant, settings in QUICK.get(name, {}).items()
}

# Learners that take seconds to compile, and whose code is also covered by other learners: networks
# by `CosmoMLP`, `Notears` and `Dagma`.
COMPILING_LONG = {"NotearsMLP", "DagmaMLP"}

# Learners tested on every container, data type and shape; for the others most of these tests are
# nightly.
EVERY_TABLE = {"Cosmo", "OrderSearch", "VarianceSort", "EqualVariance", "R2Sort", "EmptyGraph"}


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """Marks of a learner: the tests shared by all learners are nightly if it compiles long."""
    return [pytest.mark.nightly] if name in COMPILING_LONG else []


every_learner = pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=marks_of(name)) for name, make in CATALOGUE.items()],
)


def chain_table(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """A chain a → b → c → d → e whose variance grows along the chain, in float64."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=n)]
    for _ in range(4):
        columns.append(1.5 * columns[-1] + random.normal(size=n))
    return pd.DataFrame(dict(zip("abcde", columns, strict=True)))
