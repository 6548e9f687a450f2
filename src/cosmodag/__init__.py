"""Learn a directed acyclic graph from a table of data.

The names below are the public surface; they are imported when first used, so that importing the
package is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cosmodag._version import __version__

if TYPE_CHECKING:
    from cosmodag import metrics, simulate
    from cosmodag.learners import (
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
        default_mlp_settings,
        default_settings,
        load,
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
    "VarianceSort",
    "__version__",
    "default_mlp_settings",
    "default_settings",
    "load",
    "metrics",
    "paper_mlp_settings",
    "paper_settings",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in ("metrics", "simulate"):
        return import_module(f"cosmodag.{name}")
    if name in __all__:
        return getattr(import_module("cosmodag.learners"), name)
    raise AttributeError(f"module 'cosmodag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
