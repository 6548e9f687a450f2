"""Learners: scikit-learn estimators that turn a table into a DAG, imported when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
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
    from cosmodag.learners.fitting.refining import refine
    from cosmodag.learners.fitting.saved import load
    from cosmodag.learners.nocurl import NoCurl
    from cosmodag.learners.notears import Notears
    from cosmodag.learners.notears_mlp import NotearsMLP
    from cosmodag.learners.optimised.settings import (
        default_mlp_settings,
        default_settings,
        paper_mlp_settings,
        paper_settings,
    )
    from cosmodag.learners.order_search import OrderSearch

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
    "OrderSearch",
    "R2Sort",
    "RandomSort",
    "StructureLearner",
    "VarianceSort",
    "default_mlp_settings",
    "default_settings",
    "load",
    "paper_mlp_settings",
    "paper_settings",
    "refine",
]

_HOMES = {
    "StructureLearner": "base",
    "load": "fitting.saved",
    "refine": "fitting.refining",
    **dict.fromkeys(
        ("default_mlp_settings", "default_settings", "paper_mlp_settings", "paper_settings"),
        "optimised.settings",
    ),
    **{name: entry.module for name, entry in LEARNERS.items()},
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"cosmodag.learners.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'cosmodag.learners' has no attribute {name!r}")
