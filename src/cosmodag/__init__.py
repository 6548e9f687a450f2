"""Learn a directed acyclic graph from a table of data.

The names below are the public surface; they are imported when first used, so that importing the
package is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cosmodag import learners as _learners
from cosmodag._version import __version__

if TYPE_CHECKING:
    from cosmodag import assess as assess
    from cosmodag import metrics as metrics
    from cosmodag import selection as selection
    from cosmodag import simulate as simulate
    from cosmodag import stability as stability
    from cosmodag.data.knowledge import Knowledge as Knowledge
    from cosmodag.learners import *  # noqa: F403
    from cosmodag.report import plot_graph as plot_graph
    from cosmodag.report import plot_history as plot_history
    from cosmodag.report import plot_matrix as plot_matrix
    from cosmodag.report import plot_stability as plot_stability

_PLOTS = ("plot_graph", "plot_history", "plot_matrix", "plot_stability")
_MODULES = ("assess", "metrics", "selection", "simulate", "stability")

__all__ = [
    "Knowledge",
    "__version__",
    *_MODULES,
    *_PLOTS,
    *(name for name in _learners.__all__ if name != "StructureLearner"),
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cosmodag.{name}")
    if name == "Knowledge":
        return import_module("cosmodag.data.knowledge").Knowledge
    if name in _PLOTS:
        return getattr(import_module("cosmodag.report"), name)
    if name in __all__:
        return getattr(_learners, name)
    raise AttributeError(f"module 'cosmodag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
