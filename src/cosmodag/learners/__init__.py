"""Learners: scikit-learn estimators that turn a table into a DAG."""

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
from cosmodag.learners.saved import load
from cosmodag.learners.settings import (
    default_mlp_settings,
    default_settings,
    paper_mlp_settings,
    paper_settings,
)

__all__ = [
    "Cosmo",
    "CosmoMLP",
    "Dagma",
    "DagmaMLP",
    "EmptyGraph",
    "EqualVariance",
    "NoCurl",
    "Notears",
    "NotearsMLP",
    "R2Sort",
    "RandomSort",
    "StructureLearner",
    "VarianceSort",
    "default_mlp_settings",
    "default_settings",
    "load",
    "paper_mlp_settings",
    "paper_settings",
]
