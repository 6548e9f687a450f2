"""A fitted graph and the class of graphs that fit as well, for effects over the class."""

from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from cosmodag.assess.effects.mixed_graph import MixedGraph
from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["ClassView", "Option"]

MOST_OPTIONS = 1_000
"""Sets of parents that are tried at most; a clique of k open edges has 2^k."""

_DECIDING_NOISE = ("equal-variance", "non-gaussian")


class Option(NamedTuple):
    """One possible set of parents of a variable, and the graph that follows from it."""

    parents: frozenset[int]
    graph: MixedGraph


@dataclass(frozen=True, eq=False)
class ClassView:
    """The DAG that was found, and the class of those that fit as well.

    Attributes
    ----------
    dag
        The fitted graph.
    mixed
        The class, narrowed by knowledge and interventions; the fitted graph itself where the
        assumption about the noise decides all directions.
    """

    dag: MixedGraph
    mixed: MixedGraph
    _kept: dict[int, tuple[Option, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, fitted: FittedDAG) -> "ClassView":
        """Read a fit."""
        dag = MixedGraph.of(fitted.arcs)
        if fitted.noise in _DECIDING_NOISE and not fitted.follows_units:
            return cls(dag, dag)
        return cls(dag, MixedGraph.of(fitted.equivalence_class()))

    def options(self, x: int) -> tuple[Option, ...]:
        """List the possible sets of parents of a variable; that of the DAG is the first."""
        if x not in self._kept:
            own = frozenset(self.dag.parents[x])
            found = islice(self.mixed.possible_parents(x), MOST_OPTIONS)
            sets = [own, *(one for one in found if one != own)]
            self._kept[x] = tuple(Option(one, self.mixed.with_parents(x, one)) for one in sets)
        return self._kept[x]

    def is_open(self, x: int, y: int) -> bool:
        """Whether the graphs of the class may differ in the effect of x on y.

        They agree exactly if every path that may be causal begins with an arrow (Perković 2020).
        """
        return any(
            y in option.graph.possible_descendants(s, avoiding=x)
            for option in self.options(x)
            for s in self.mixed.siblings[x] - option.parents
        )
