"""Learn a directed acyclic graph from a table of data.

The names below are the public surface; they are imported when first used, so that importing the
package is cheap.
"""

from typing import TYPE_CHECKING

from cosmodag import learners as _learners
from cosmodag._version import __version__
from cosmodag.runtime.later import names_from as _names_from

if TYPE_CHECKING:
    from cosmodag import assess as assess
    from cosmodag import metrics as metrics
    from cosmodag import selection as selection
    from cosmodag import simulate as simulate
    from cosmodag.bench.paper_learner import paper_learner as paper_learner
    from cosmodag.data.diagnose import diagnose as diagnose
    from cosmodag.data.knowledge import Knowledge as Knowledge
    from cosmodag.learners import *  # noqa: F403
    from cosmodag.report import plot_graph as plot_graph
    from cosmodag.report import plot_history as plot_history
    from cosmodag.report import plot_matrix as plot_matrix
    from cosmodag.report import plot_stability as plot_stability

_MODULES = ("assess", "metrics", "selection", "simulate")
_HOMES = {
    "Knowledge": "data.knowledge",
    "diagnose": "data.diagnose",
    "paper_learner": "bench.paper_learner",
    **dict(zip(_MODULES, _MODULES, strict=True)),
    **dict.fromkeys(("plot_graph", "plot_history", "plot_matrix", "plot_stability"), "report"),
    **{name: "learners" for name in _learners.__all__ if name != "StructureLearner"},
}

__all__ = ["__version__", *_HOMES]

__getattr__ = _names_from(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
