"""Saved models, made into learners again."""

import os

from cosmodag.errors import DataError
from cosmodag.io.models import read_model
from cosmodag.learners.base import StructureLearner
from cosmodag.learners.baselines import (
    EmptyGraph,
    EqualVariance,
    R2Sort,
    RandomSort,
    VarianceSort,
)
from cosmodag.learners.cosmo import Cosmo
from cosmodag.learners.cosmo_mlp import CosmoMLP
from cosmodag.learners.dagma import Dagma
from cosmodag.learners.dagma_mlp import DagmaMLP
from cosmodag.learners.nocurl import NoCurl
from cosmodag.learners.notears import Notears
from cosmodag.learners.notears_mlp import NotearsMLP

__all__ = ["load"]

_LEARNERS: dict[str, type[StructureLearner]] = {
    learner.__name__: learner
    for learner in (
        Cosmo,
        CosmoMLP,
        Dagma,
        DagmaMLP,
        EmptyGraph,
        EqualVariance,
        NoCurl,
        Notears,
        NotearsMLP,
        R2Sort,
        RandomSort,
        VarianceSort,
    )
}


def load(path: str | os.PathLike[str]) -> StructureLearner:
    """Read a fitted model that ``model.save(path)`` wrote.

    Nothing that is read can run code: the file holds numbers, names and parameter values.
    """
    arrays, facts = read_model(path)
    learner = _LEARNERS.get(facts["learner"])
    if learner is None:
        raise DataError(f"'{path}' holds a {facts['learner']}, which this version does not know.")
    model = learner(**facts["parameters"])
    model._restore(arrays, facts)
    return model
