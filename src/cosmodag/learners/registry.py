"""The list of learners.

The package, `load`, the command line and tests use this list. It has no learners that are defined
elsewhere; `load` finds these among the classes of the program.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

_ROWS = (
    ("Auto", "auto", "auto", "the referee's choice among lines, curves, networks and kinds"),
    ("Cosmo", "cosmo", "cosmo", "linear COSMO, whose order is refined to a graph"),
    ("CosmoMLP", "cosmo_mlp", "cosmo-mlp", "COSMO with one network per variable"),
    ("OrderSearch", "order_search", "order-search", "search over orders by a score, no training"),
    (
        "BlockSearch",
        "order_search",
        "block-search",
        "search over orders for categories, counts and curves",
    ),
    ("Notears", "constrained.notears", "notears", "linear NOTEARS, with a choice of constraints"),
    ("NotearsMLP", "constrained.notears", "notears-mlp", "NOTEARS with networks"),
    ("Dagma", "constrained.dagma", "dagma", "linear DAGMA"),
    ("DagmaMLP", "constrained.dagma", "dagma-mlp", "DAGMA with networks"),
    ("NoCurl", "constrained.nocurl", "nocurl", "linear NOCURL"),
    ("EqualVariance", "baselines", "equal-variance", "order by conditional variance"),
    ("VarianceSort", "baselines", "variance-sort", "order by variance"),
    ("R2Sort", "baselines", "r2-sort", "order by R² on all other variables"),
    ("RandomSort", "baselines", "random-sort", "random order"),
    ("EmptyGraph", "baselines", "empty-graph", "no arcs at all"),
    (
        "GivenGraph",
        "given_graph",
        "given-graph",
        "the graph that knowledge states",
    ),
)


@dataclass(frozen=True)
class LearnerEntry:
    """A learner: its class, the module below ``cosmodag.learners``, its command, and a summary."""

    name: str
    module: str
    command: str
    summary: str

    def load(self) -> "type[StructureLearner]":
        """Import the class."""
        learner: type[StructureLearner] = getattr(
            import_module(f"cosmodag.learners.{self.module}"), self.name
        )
        return learner


LEARNERS: dict[str, LearnerEntry] = {row[0]: LearnerEntry(*row) for row in _ROWS}


def learner_named(name: str) -> "type[StructureLearner] | None":
    """Find a learner by its class name, in the list or in the program; None if there is none.

    Only modules of the list are imported, since a name in a file must not run code. If the program
    has several classes of this name, as a notebook may, the one defined last is returned.
    """
    if name in LEARNERS:
        return LEARNERS[name].load()
    base = import_module("cosmodag.learners.structure_learner").StructureLearner
    found: type[StructureLearner] | None = subclass_named(base, name)
    return found


def subclass_named(base: Any, name: str) -> Any:
    """Find the subclass of `base` with this name, the one defined last; None if there is none."""
    queue, found = [base], None
    while queue:
        candidate = queue.pop(0)
        found = candidate if candidate.__name__ == name else found
        queue += candidate.__subclasses__()
    return found
