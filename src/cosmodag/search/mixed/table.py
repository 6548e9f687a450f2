"""A table as blocks of columns, and the search problem that it defines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds import ColumnKind
from cosmodag.data.kinds.embedding import CURVE_COLUMNS, Embedding
from cosmodag.search import BlockProblem
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.moments import Moments

ROWS_OF_LEVELS = 2000
"""Maximum effective number of rows of an equation in a search among categories. The Gaussian
density of indicators is an approximation whose error per row does not fall with the number of rows:
from 25,000 rows it found 53, 55 and 71 arcs where there are 36, 44 and 44 (d = 20, three tables).
Correlations are those of all rows. Multinomial likelihoods take more time, and are computed from at
most this number of evenly spaced rows."""

# With fewer rows, chance explains any variable: `most_parents` would be zero but for its minimum of
# one. In 2 to 8 rows of three independent columns, one of them a category, 0 to 2 arcs were found.
_FEWEST_ROWS = 9

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BlockTable:
    """A table and the columns that represent its variables."""

    X: NDArray[np.float64]  # (n, d): in its own units; categories are numbers of levels
    embedding: Embedding  # how variables become columns
    columns: NDArray[np.float64]  # (n, m): of all variables
    # (n, d): 0 where an entry was set or imputed, so that it is not used for the equation of its
    # variable; None for 1 everywhere.
    counted: NDArray[np.float64] | None = None
    share: float = 1.0  # of the rows that count as measured if values were imputed

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        kinds: Sequence[ColumnKind] = (),
        *,
        curves: bool = True,
        counted: NDArray[np.float64] | None = None,
        share: float = 1.0,
    ) -> "BlockTable":
        """Represent a table by columns, with or without those for curves."""
        table = np.asarray(X, np.float64)
        embedding = Embedding.of(table, kinds, CURVE_COLUMNS if curves else 1)
        return cls(table, embedding, embedding.columns(table), counted, share)

    def rows_of(self, v: int) -> Any:
        """Index of the rows that count in the equation of a variable."""
        return slice(None) if self.counted is None else self.counted[:, v] > 0

    def with_columns(self, places: NDArray[np.int64]) -> "BlockTable":
        """Select variables, in a new order."""
        embedding = self.embedding.with_columns(places)
        X = self.X[:, places]
        counted = None if self.counted is None else self.counted[:, places]
        return BlockTable(X, embedding, embedding.columns(X), counted, self.share)

    def design(
        self, widths: NDArray[np.integer], rows: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """(n, p): a constant, and the first ``widths[u]`` columns of each variable u."""
        starts = self.embedding.starts
        places = [starts[u] + k for u in np.flatnonzero(widths) for k in range(widths[u])]
        used = self.columns[:, places] if rows is None else self.columns[np.ix_(rows, places)]
        return np.column_stack([np.ones(len(used)), used])

    def problem(self, constraints: Constraints = NO_CONSTRAINTS) -> BlockProblem:
        r"""Define the search problem, with a penalty per parameter and one per arc.

        A parameter costs ½ log n, as in BIC. An arc with one parameter costs `default_penalty` in
        total, as between single columns, since the number of graphs grows with the number of arcs,
        not of columns. Without a penalty per arc, class errors were 17 instead of 11 with
        categories and lines, and 19 instead of 1 with Gaussian processes (d = 20 and 50,
        n = 1,000); at log n per parameter, 3.3 true arcs were lost instead of 0.

        Examples
        --------
        >>> x = np.random.default_rng(0).normal(size=(300, 2))
        >>> problem = BlockTable.of(x).problem()
        >>> round(problem.penalty + problem.arc_penalty - default_penalty(300, 2), 9)
        0.0
        """
        embedding, counted = self.embedding, self.counted
        if counted is not None:
            counted = np.repeat(counted, embedding.widths, axis=1)
        moments = Moments.of(self.columns, counted)
        if self.share < 1:
            moments = replace(moments, rows=np.maximum(moments.rows * self.share, 2.0))
        if any(embedding.is_levels(v) for v in range(len(embedding.widths))):
            moments = replace(moments, rows=np.clip(moments.rows, 2.0, ROWS_OF_LEVELS))
        rows = moments.rows[moments.group[embedding.starts[:-1]]]
        n, d = float(moments.rows.max()), len(embedding.widths)
        if (rows < _FEWEST_ROWS).any():
            given = constraints.support, constraints.required
            may_exist = np.ones((d, d), np.bool_) if given[0] is None else given[0]
            must_exist = False if given[1] is None else given[1]
            support = (may_exist & (rows >= _FEWEST_ROWS)) | must_exist
            constraints = replace(constraints, support=support)
        half = 0.5 * math.log(max(n, 2.0))
        return BlockProblem(
            moments,
            embedding.widths,
            penalty=half,
            targets=embedding.targets,
            shortest=embedding.shortest,
            arc_penalty=default_penalty(n, d) - half,
            constraints=constraints,
        )
