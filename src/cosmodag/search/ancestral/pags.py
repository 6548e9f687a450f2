"""Partial ancestral graphs of a table, from the DAG that a search found and second moments.

There are three ways. `pag_of_dag` in `cosmodag.graph.mixed.ancestral` converts the DAG alone, which
cannot show a hidden cause. `pag_by_score` searches near the DAG for the ancestral graph of best
score and returns its class, so that the result is always the class of some ancestral graph.
`pag_by_tests` removes edges by tests of independence, as FCI does. Its result is right if all tests
are, but with many sets to condition on, some separate neighbours by chance or because effects
cancel.
"""

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.bounds import closure
from cosmodag.graph.mixed.ancestral import pag_from_dag, separators_in
from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Marks
from cosmodag.graph.mixed.pag_orientation import Separators, directed_by_rules
from cosmodag.search.ancestral.ancestral_search import best_ancestral_graph
from cosmodag.search.ancestral.partial_correlations import PartialCorrelations
from cosmodag.search.constraints import NO_CONSTRAINTS, Constraints
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.moments import Moments

# The absence of an edge supports no tail if the edge would gain more log-likelihood than this: a
# test at level .2. Missing weak edges cause false tails, and a tail means "is a cause". On 20
# tables each with 15 variables and 3 hidden ones, n = 1,000 and 10,000, the precision of tails was
# .46 and .44 without this rule, .49 and .49 at level .01, .50 and .52 at .05, .52 and .59 at .2;
# their recall was .85 and .91, .85 and .85, .78 and .83, .67 and .75.
_DOUBTFUL = 0.82


def pag_by_score(
    moments: Moments,
    dag: NDArray[np.bool_],
    constraints: Constraints = NO_CONSTRAINTS,
) -> Marks:
    """Search for the ancestral graph of best score near a DAG, and return its class.

    A tail becomes a circle if it follows from the absence of an edge that the data do not clearly
    exclude.

    Parameters
    ----------
    moments : Moments
        Moments of the rows in which no variable was set, as one group.
    dag : (d, d) array of bool
        The DAG of the search: True at [u, v] for u → v.
    constraints : Constraints
        If u cannot be a cause of v, directly or through others, an edge between them has an
        arrowhead at u.
    """
    correlations, rows = _of_one_group(moments)
    required = constraints.required
    fixed = None if required is None else required | required.T
    penalty = default_penalty(rows, len(dag))
    graph = best_ancestral_graph(correlations, rows, penalty, dag, fixed=fixed).marks()
    given = known_marks(len(dag), constraints)
    marks = np.where(graph != 0, np.where(given, given, CIRCLE), 0).astype(np.int8)
    separators = separators_in(graph)
    found = directed_by_rules(marks, separators)
    if not (found == TAIL).any():
        return found
    tests = PartialCorrelations(correlations, rows, _DOUBTFUL)
    careful = directed_by_rules(marks, separators, doubtful=_doubtful(graph, separators, tests))
    return np.where((found == TAIL) & (careful != TAIL), CIRCLE, found).astype(np.int8)


def _doubtful(
    graph: Marks, separators: Separators, tests: PartialCorrelations
) -> NDArray[np.bool_]:
    """Pairs with a common neighbour but no edge whose independence is doubtful."""
    steps = (graph != 0).astype(np.float32)
    outer = np.triu((steps @ steps > 0) & (graph == 0), 1)
    found = np.zeros(graph.shape, np.bool_)
    for u, v in np.argwhere(outer).tolist():
        found[u, v] = found[v, u] = tests.gain(u, v, separators(u, v)) >= tests.limit
    return found


def pag_by_tests(
    moments: Moments,
    dag: NDArray[np.bool_],
    constraints: Constraints = NO_CONSTRAINTS,
    *,
    limit: float = 3.32,
    largest: int = 3,
) -> Marks:
    """Remove and orient edges of a DAG by tests of partial correlations.

    Parameters
    ----------
    moments, dag, constraints
        As for :func:`pag_by_score`.
    limit : float
        Log-likelihood that an edge must gain: 3.32 is a test at level .01.
    largest : int
        Maximum size of a set that separates two variables.
    """
    tests, required = PartialCorrelations(*_of_one_group(moments), limit), constraints.required
    return pag_from_dag(
        dag,
        tests.find_separator,
        largest=largest,
        given=known_marks(len(dag), constraints),
        fixed=None if required is None else required | required.T,
    )


def known_marks(d: int, constraints: Constraints) -> Marks:
    """Find the marks that knowledge implies for the edge between each pair, if any; 0 for none.

    Examples
    --------
    Vertex 1 cannot be a cause of vertex 0, so an edge between them has an arrowhead at 1:

    >>> known_marks(2, Constraints(np.array([[False, True], [False, False]]))).tolist()
    [[0, 2], [0, 0]]
    """
    marks, support, required = np.zeros((d, d), np.int8), constraints.support, constraints.required
    if support is not None:
        marks[~closure(support).T] = ARROW
    if required is not None:
        causes = closure(required)
        marks[causes] = ARROW
        marks[causes.T] = TAIL
    np.fill_diagonal(marks, 0)
    return marks


def _of_one_group(moments: Moments) -> tuple[NDArray[np.float64], float]:
    """Correlations and number of rows; a constant column is uncorrelated with all others."""
    correlations = moments.correlations[0].copy()
    np.fill_diagonal(correlations, 1.0)
    return correlations, float(moments.rows[0])
