"""Scikit-learn estimators that learn a DAG from a table, each imported on first use."""

from typing import TYPE_CHECKING

from cosmodag.later import names_from
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    from cosmodag.fit.files.saved import load as load
    from cosmodag.fit.fitted_dag import FittedDAG as FittedDAG
    from cosmodag.fit.refining import refine as refine
    from cosmodag.learners.base import StructureLearner as StructureLearner
    from cosmodag.learners.baselines import EmptyGraph as EmptyGraph
    from cosmodag.learners.baselines import EqualVariance as EqualVariance
    from cosmodag.learners.baselines import R2Sort as R2Sort
    from cosmodag.learners.baselines import RandomSort as RandomSort
    from cosmodag.learners.baselines import VarianceSort as VarianceSort
    from cosmodag.learners.constrained.dagma import Dagma as Dagma
    from cosmodag.learners.constrained.dagma import DagmaMLP as DagmaMLP
    from cosmodag.learners.constrained.dagma import StochasticDagma as StochasticDagma
    from cosmodag.learners.constrained.nocurl import NoCurl as NoCurl
    from cosmodag.learners.constrained.nocurl import NoCurlU as NoCurlU
    from cosmodag.learners.constrained.nocurl import StochasticNoCurl as StochasticNoCurl
    from cosmodag.learners.constrained.notears import Notears as Notears
    from cosmodag.learners.constrained.notears import NotearsMLP as NotearsMLP
    from cosmodag.learners.constrained.notears import StochasticNotears as StochasticNotears
    from cosmodag.learners.cosmo import Cosmo as Cosmo
    from cosmodag.learners.cosmo_mlp import CosmoMLP as CosmoMLP
    from cosmodag.learners.order_search import BlockSearch as BlockSearch
    from cosmodag.learners.order_search import OrderSearch as OrderSearch
    from cosmodag.learners.trained.settings import default_mlp_settings as default_mlp_settings
    from cosmodag.learners.trained.settings import default_settings as default_settings
    from cosmodag.learners.trained.settings import paper_mlp_settings as paper_mlp_settings
    from cosmodag.learners.trained.settings import paper_settings as paper_settings

_HOMES = {
    "FittedDAG": "fit.fitted_dag",
    "StructureLearner": "learners.base",
    "load": "fit.files.saved",
    "refine": "fit.refining",
    **dict.fromkeys(
        ("default_mlp_settings", "default_settings", "paper_mlp_settings", "paper_settings"),
        "learners.trained.settings",
    ),
    **{name: f"learners.{entry.module}" for name, entry in LEARNERS.items()},
}

__all__ = [*_HOMES]

__getattr__ = names_from(__name__, _HOMES)
