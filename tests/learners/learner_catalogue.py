"""Every learner, with settings that make it quick, and the problems they share."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from cosmodag import (
    Cosmo,
    Dagma,
    EmptyGraph,
    EqualVariance,
    NoCurl,
    Notears,
    R2Sort,
    RandomSort,
    VarianceSort,
)
from cosmodag.learners import StructureLearner

LEARNERS: dict[str, Callable[[], StructureLearner]] = {
    "Cosmo": partial(Cosmo, epochs=30, random_state=0),
    "Cosmo-restarts": partial(Cosmo, epochs=10, restarts=3, random_state=0),
    "VarianceSort": VarianceSort,
    "VarianceSort-least-squares": partial(VarianceSort, criterion="none"),
    "R2Sort": R2Sort,
    "RandomSort": partial(RandomSort, random_state=0),
    "EqualVariance": EqualVariance,
    "EmptyGraph": EmptyGraph,
    "Notears": Notears,
    "Notears-paper": partial(Notears, variant="paper", epochs=5, max_iter=2, random_state=0),
    "Dagma": partial(Dagma, max_iter=2000),
    "Dagma-paper": partial(Dagma, variant="paper", epochs=5, random_state=0),
    "NoCurl": NoCurl,
    "NoCurl-paper": partial(NoCurl, variant="paper", epochs=5, random_state=0),
    "NoCurl-joint": partial(NoCurl, joint=True, variant="paper", epochs=5, random_state=0),
}


def chain_table(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """A chain a → b → c → d → e with growing variance, rows in float64."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=n)]
    for _ in range(4):
        columns.append(1.5 * columns[-1] + random.normal(size=n))
    return pd.DataFrame(dict(zip("abcde", columns, strict=True)))
