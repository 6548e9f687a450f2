"""Every learner, by name: the one list that the package, `load`, the command line and tests use.

Learners defined elsewhere are not in the list; `load` finds them among the classes of the program.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cosmodag.learners.base import StructureLearner

__all__ = ["LEARNERS", "LearnerEntry", "learner_named"]


@dataclass(frozen=True)
class LearnerEntry:
    """Module, names and summary of a learner.

    Attributes
    ----------
    name
        Of the class.
    module
        In which it is, below ``cosmodag.learners``.
    command
        Its name on the command line.
    summary
        A line for people who choose.
    """

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


LEARNERS: dict[str, LearnerEntry] = {
    entry.name: entry
    for entry in (
        LearnerEntry("Cosmo", "cosmo", "cosmo", "linear COSMO, its order refined to a graph"),
        LearnerEntry(
            "CosmoMLP", "cosmo_mlp", "cosmo-mlp", "COSMO with a network for each variable"
        ),
        LearnerEntry(
            "OrderSearch", "order_search", "order-search", "search over orders by a score alone"
        ),
        LearnerEntry(
            "BlockSearch",
            "block_search",
            "block-search",
            "search over orders for categories, counts and curves",
        ),
        LearnerEntry("Notears", "notears", "notears", "linear NOTEARS, and its other constraints"),
        LearnerEntry("NotearsMLP", "notears_mlp", "notears-mlp", "NOTEARS with networks"),
        LearnerEntry("Dagma", "dagma", "dagma", "linear DAGMA"),
        LearnerEntry("DagmaMLP", "dagma_mlp", "dagma-mlp", "DAGMA with networks"),
        LearnerEntry("NoCurl", "nocurl", "nocurl", "linear NOCURL"),
        LearnerEntry(
            "StochasticNotears",
            "notears",
            "stochastic-notears",
            "NOTEARS as in the COSMO paper",
        ),
        LearnerEntry("StochasticDagma", "dagma", "stochastic-dagma", "DAGMA as in the COSMO paper"),
        LearnerEntry(
            "StochasticNoCurl", "nocurl", "stochastic-nocurl", "NOCURL as in the COSMO paper"
        ),
        LearnerEntry("NoCurlU", "nocurl", "nocurl-u", "NOCURL-U of the COSMO paper"),
        LearnerEntry(
            "EqualVariance", "baselines", "equal-variance", "order by conditional variance"
        ),
        LearnerEntry("VarianceSort", "baselines", "variance-sort", "order by variance"),
        LearnerEntry("R2Sort", "baselines", "r2-sort", "order by R² on all others"),
        LearnerEntry("RandomSort", "baselines", "random-sort", "random order"),
        LearnerEntry("EmptyGraph", "baselines", "empty-graph", "no arcs at all"),
    )
}


def learner_named(name: str) -> "type[StructureLearner] | None":
    """Find a learner of the list, or one that the program has defined; None where there is none.

    Nothing but the list is imported: a name in a file must not run code. Of several classes of one
    name, as a notebook leaves them, the one defined last is taken.
    """
    if name in LEARNERS:
        return LEARNERS[name].load()
    base = import_module("cosmodag.learners.base").StructureLearner
    waiting, found = [base], None
    while waiting:
        known = waiting.pop(0)
        found = known if known.__name__ == name else found
        waiting += known.__subclasses__()
    return found
