"""Scikit-learn estimators that learn a DAG from a table, each imported on first use."""

from typing import TYPE_CHECKING

from cosmodag.learners.registry import LEARNERS
from cosmodag.runtime.later import names_from

if TYPE_CHECKING:
    from cosmodag.fit.files.saved import load
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.refining import refine
    from cosmodag.learners.auto import Auto, learn
    from cosmodag.learners.baselines import (
        EmptyGraph,
        EqualVariance,
        R2Sort,
        RandomSort,
        VarianceSort,
    )
    from cosmodag.learners.constrained.dagma import Dagma, DagmaMLP
    from cosmodag.learners.constrained.nocurl import NoCurl
    from cosmodag.learners.constrained.notears import Notears, NotearsMLP
    from cosmodag.learners.cosmo import Cosmo
    from cosmodag.learners.cosmo_mlp import CosmoMLP
    from cosmodag.learners.given_graph import GivenGraph, given
    from cosmodag.learners.order_search import BlockSearch, OrderSearch
    from cosmodag.learners.structure_learner import StructureLearner
    from cosmodag.learners.trained.settings import (
        default_mlp_settings,
        default_settings,
        paper_mlp_settings,
        paper_settings,
    )

# Written out, since type checkers do not read a list that is computed.
__all__ = [
    "Auto",
    "BlockSearch",
    "Cosmo",
    "CosmoMLP",
    "Dagma",
    "DagmaMLP",
    "EmptyGraph",
    "EqualVariance",
    "FittedDAG",
    "GivenGraph",
    "NoCurl",
    "Notears",
    "NotearsMLP",
    "OrderSearch",
    "R2Sort",
    "RandomSort",
    "StructureLearner",
    "VarianceSort",
    "default_mlp_settings",
    "default_settings",
    "given",
    "learn",
    "load",
    "paper_mlp_settings",
    "paper_settings",
    "refine",
]

_HOMES = {
    "FittedDAG": "fit.fitted_dag",
    "StructureLearner": "learners.structure_learner",
    "given": "learners.given_graph",
    "learn": "learners.auto",
    "load": "fit.files.saved",
    "refine": "fit.refining",
    **dict.fromkeys(
        ("default_mlp_settings", "default_settings", "paper_mlp_settings", "paper_settings"),
        "learners.trained.settings",
    ),
    **{name: f"learners.{entry.module}" for name, entry in LEARNERS.items()},
}

__getattr__ = names_from(__name__, _HOMES)
