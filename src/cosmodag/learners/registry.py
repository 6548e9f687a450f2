"""Every learner, by name: the one list that the package, `load`, the command line and tests use.

Learners defined elsewhere are not in the list; `load` finds them among the classes of the program.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["LEARNERS", "LearnerEntry", "learner_named", "subclass_named"]


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


_ROWS = (
    ("Cosmo", "cosmo", "cosmo", "linear COSMO, its order refined to a graph"),
    ("CosmoMLP", "cosmo_mlp", "cosmo-mlp", "COSMO with a network for each variable"),
    ("OrderSearch", "order_search", "order-search", "search over orders by a score alone"),
    (
        "BlockSearch",
        "order_search",
        "block-search",
        "search over orders for categories, counts and curves",
    ),
    ("Notears", "constrained.notears", "notears", "linear NOTEARS, and its other constraints"),
    ("NotearsMLP", "constrained.notears", "notears-mlp", "NOTEARS with networks"),
    ("Dagma", "constrained.dagma", "dagma", "linear DAGMA"),
    ("DagmaMLP", "constrained.dagma", "dagma-mlp", "DAGMA with networks"),
    ("NoCurl", "constrained.nocurl", "nocurl", "linear NOCURL"),
    (
        "StochasticNotears",
        "constrained.notears",
        "stochastic-notears",
        "NOTEARS as in the COSMO paper",
    ),
    ("StochasticDagma", "constrained.dagma", "stochastic-dagma", "DAGMA as in the COSMO paper"),
    ("StochasticNoCurl", "constrained.nocurl", "stochastic-nocurl", "NOCURL as in the COSMO paper"),
    ("NoCurlU", "constrained.nocurl", "nocurl-u", "NOCURL-U of the COSMO paper"),
    ("EqualVariance", "baselines", "equal-variance", "order by conditional variance"),
    ("VarianceSort", "baselines", "variance-sort", "order by variance"),
    ("R2Sort", "baselines", "r2-sort", "order by R² on all others"),
    ("RandomSort", "baselines", "random-sort", "random order"),
    ("EmptyGraph", "baselines", "empty-graph", "no arcs at all"),
)

LEARNERS: dict[str, LearnerEntry] = {row[0]: LearnerEntry(*row) for row in _ROWS}


def learner_named(name: str) -> "type[StructureLearner] | None":
    """Find a learner of the list, or one that the program has defined; None where there is none.

    Nothing but the list is imported: a name in a file must not run code. Of several classes of one
    name, as a notebook leaves them, the one defined last is taken.
    """
    if name in LEARNERS:
        return LEARNERS[name].load()
    base = import_module("cosmodag.learners.base").StructureLearner
    found: type[StructureLearner] | None = subclass_named(base, name)
    return found


def subclass_named(base: Any, name: str) -> Any:
    """Find a class of this name that inherits from `base`, the one defined last; None for none."""
    waiting, found = [base], None
    while waiting:
        known = waiting.pop(0)
        found = known if known.__name__ == name else found
        waiting += known.__subclasses__()
    return found
