"""The score of graphs over single columns, with the parents that were chosen on earlier orders."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.column_problem import OrderProblem, problem_of
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import Criterion, criterion_for, default_penalty
from cosmodag.search.local import Memory
from cosmodag.search.moments import Moments
from cosmodag.search.parents import choose_parents
from cosmodag.search.polish import POLISHED_UP_TO, polish
from cosmodag.search.regression_graph import RegressionGraph
from cosmodag.search.search_run import Run
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.tiles.tile_pruning import prune_in_tiles


@dataclass(frozen=True, eq=False)
class ColumnScore:
    r"""Score of a graph: a sum of local scores, each of one column given its parents.

    For Gaussian noise with a variance of each column, the score of the parents P is

    .. math:: \sum_v \Big( -\frac{n}{2} \log \mathrm{var}(v \mid P_v) - c\,|P_v| \Big).

    An order is scored by the parents that `choose_parents` finds on it, which do not depend on the
    criterion: scores made by `under` share them, and the records of searches.

    Attributes
    ----------
    moments : Moments
    criterion : Criterion
    penalty : float
        c, per arc.
    constraints : Constraints
    """

    moments: Moments
    criterion: Criterion
    penalty: float
    constraints: Constraints = NO_CONSTRAINTS
    memory: Memory = field(default_factory=Memory)
    pruned: dict[bytes, RegressionGraph] = field(default_factory=dict)  # by order

    @classmethod
    def of(
        cls,
        moments: Moments,
        name: str = "gaussian",
        *,
        penalty: float | None = None,
        constraints: Constraints = NO_CONSTRAINTS,
    ) -> "ColumnScore":
        """Create the score of a name in `SCORES`; the penalty is by default `default_penalty`."""
        if penalty is None:
            penalty = default_penalty(float(moments.rows.max()), moments.variables)
        return cls(moments, criterion_for(moments, name), float(penalty), constraints)

    def under(self, name: str) -> "ColumnScore":
        """Replace the criterion; records and chosen parents are shared."""
        return replace(self, criterion=criterion_for(self.moments, name))

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return self.moments.variables

    def problem(self, precision: NDArray[np.float64] | None = None) -> OrderProblem:
        """Return the arrays for compiled code."""
        return problem_of(self.moments, self.penalty, self.constraints, precision)

    def chosen(self, order: NDArray[np.int64], run: Run) -> RegressionGraph:
        """Choose the parents of all columns on an order, or look them up."""
        key = order.tobytes()
        if key not in self.pruned:
            if isinstance(self.moments, Columns):
                self.pruned[key] = prune_in_tiles(
                    self.moments,
                    order,
                    penalty=self.penalty,
                    device=run.device,
                    should_stop=run.should_stop,
                    threads=run.threads,
                )
            else:
                self.pruned[key] = choose_parents(
                    self.moments,
                    order,
                    penalty=self.penalty,
                    constraints=self.constraints,
                    threads=run.threads,
                )
        return self.pruned[key]

    def total(self, graph: RegressionGraph) -> float:
        """Compute the score of a graph."""
        return self.criterion.total(self.moments, graph, self.penalty)

    @property
    def can_polish(self) -> bool:
        """Whether parents can be polished, and few variables make that cheap."""
        is_small = not isinstance(self.moments, Columns) and self.variables <= POLISHED_UP_TO
        return is_small and not self.criterion.needs_table

    def polished(self, order: NDArray[np.int64], graph: RegressionGraph) -> RegressionGraph:
        """Improve the parents on an order beyond growing and shrinking."""
        return polish(
            self.moments,
            order,
            graph,
            score=self.criterion.name,
            penalty=self.penalty,
            constraints=self.constraints,
        )
