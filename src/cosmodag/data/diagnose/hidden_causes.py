"""A search that adds hidden causes to a learnt graph one by one while the score rises.

Structural EM (Friedman 1998) alternates three steps: replace the moments of the hidden variables by
their expectations given the observed ones, search for the graph of all variables, and fit its
equations. The score is the penalised log-likelihood of the observed columns, which is comparable
between graphs with and without hidden variables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.hidden_groups import (
    Equations,
    Floats,
    Groups,
    Model,
    Parents,
    dense_groups,
    extended,
    gains_of,
)
from cosmodag.search.gaussian_scores import default_penalty
from cosmodag.search.moments import Moments

# A group of columns is tried if its common cause gains more than this per row before the graph is
# searched again. Most graphs without hidden causes have no such groups, so the search ends early.
_PROMISING = -0.3
# Number of groups that are tried with up to _WIDE variables. With d > _WIDE variables, it is
# multiplied by (_WIDE / d)², but is at least _FEWEST_SEEDS: a trial searches an order, in time that
# grows faster than d², and a hub among 100 variables would otherwise cost ten fits.
_SEEDS, _FEWEST_SEEDS, _WIDE = 48, 4, 30
# Largest number of groups for which structural EM continues after one round.
_PURSUED = 4
# Smallest gain of the first hidden cause after which the search continues: a second one can
# compensate a loss.
_HOPELESS = -5.0
# Largest numbers of hidden causes, of rounds of structural EM, and of EM iterations per round.
_MOST, _ROUNDS, _ITERATIONS = 8, 6, 10
# Smallest increase of the gain with which the search continues.
_SETTLED = 0.5
# A hidden variable with fewer effects is equivalent to one or two arcs.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """Hidden variables that make the observed columns more probable."""

    effects: tuple[tuple[int, ...], ...]  # effects of each hidden variable, by column number
    gain: float  # penalised log-likelihood minus that of the best graph without hidden variables
    arcs_before: int  # number of arcs of the best graph without hidden variables
    arcs_after: int  # number of arcs with hidden variables, including the arcs of these


class _HiddenGraph(NamedTuple):
    """A graph of observed and hidden variables, their expected moments, and its gain."""

    moments: Floats
    parents: Parents
    order: list[int]
    gain: float


class _Scoring(NamedTuple):
    """Correlations of the observed columns, the numbers that scores need, and when to stop."""

    correlations: Floats
    rows: float
    penalty: float
    should_stop: Callable[[], bool]


def find_hidden_causes(
    correlations: Floats,
    arcs: NDArray[np.bool_],
    rows: float,
    order: NDArray[np.integer],
    should_stop: Callable[[], bool] = lambda: False,
) -> HiddenCauses | None:
    """Add hidden causes to a graph while they raise the score; None if no group is promising.

    `correlations` (d, d) are those of varying columns, `arcs` (d, d) those of a learnt DAG, and
    `order` (d,) is a causal order of the DAG. `should_stop` is called before every trial, which
    takes a few hundredths of a second; once it returns True, the best result so far is returned.
    """
    d = len(correlations)
    given = _Scoring(correlations, rows, default_penalty(rows, d), should_stop)
    parents: Parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    best = _HiddenGraph(correlations, parents, order.tolist(), 0.0)
    if not _promising_groups(_equations(given, best)):
        return None
    # The graph may have been learnt with another score, and superfluous arcs favour hidden causes:
    # a fair comparison is with the best graph without hidden causes under this score.
    best, base = _best_without_hidden_causes(given, best.order)
    found = None
    for _ in range(_MOST):
        raised = _with_best_hidden_cause(given, best, base)
        if raised is None or (found is not None and raised.gain < best.gain + _SETTLED):
            break
        best = found = raised
        if best.gain < _HOPELESS:
            break
    if found is None:
        return None
    own = [variable for variable in found.order if variable < d]
    rival, again = _best_without_hidden_causes(given, own)
    return HiddenCauses(
        tuple(_effects(found, hidden, d) for hidden in range(d, len(found.parents))),
        found.gain - max(0.0, again - base),
        sum(map(len, rival.parents)),
        sum(map(len, found.parents)),
    )


def _best_without_hidden_causes(given: _Scoring, order: list[int]) -> tuple[_HiddenGraph, float]:
    """Search for the best graph without hidden causes near an order; return it with its score."""
    correlations, rows, penalty, _ = given
    d = len(correlations)
    parents, order = _search_order(given, correlations.copy(), order, np.ones((d, d), np.bool_))
    base = float(Equations(correlations, parents, rows, penalty).scores.sum())
    return _HiddenGraph(correlations, parents, order, 0.0), base


def _with_best_hidden_cause(
    given: _Scoring, state: _HiddenGraph, base: float
) -> _HiddenGraph | None:
    """Add the hidden cause of largest gain: one round for each group, more for the best ones."""
    tried: list[tuple[_HiddenGraph, Iterator[_HiddenGraph]]] = []
    equations = _equations(given, state)
    groups = extended(_promising_groups(equations), equations)
    # Different groups may have been extended to the same columns.
    seeds = {tuple(sorted(group.members.tolist())): group for group in groups}
    for seed in seeds.values():
        if given.should_stop():
            break
        rounds = _structural_em(given, state, seed, base)
        first = next(rounds, None)
        if first is not None:
            tried.append((first, rounds))
    tried.sort(key=lambda one: -one[0].gain)
    grown = []
    for best, rounds in tried[: min(_PURSUED, -(-len(tried) // 4))]:
        while not given.should_stop() and (later := next(rounds, None)) is not None:
            best = later
        grown.append(best)
    return max(grown, key=lambda one: one.gain, default=None)


def _effects(state: _HiddenGraph, hidden: int, d: int) -> tuple[int, ...]:
    return tuple(child for child in range(d) if hidden in state.parents[child])


def _promising_groups(equations: Equations) -> list[Groups]:
    """List the groups of four columns that another hidden cause may explain, best first."""
    members = dense_groups(equations.parents)
    if not len(members):
        return []
    groups = gains_of(members, equations)
    share = min(1.0, (_WIDE / len(equations.parents)) ** 2)
    best = np.argsort(-groups.gains, kind="stable")[: max(_FEWEST_SEEDS, round(_SEEDS * share))]
    best = best[groups.gains[best] > _PROMISING * equations.rows]
    return [Groups(*(part[place] for part in groups)) for place in best.tolist()]


def _equations(given: _Scoring, state: _HiddenGraph) -> Equations:
    return Equations(state.moments, state.parents, given.rows, given.penalty)


def _structural_em(
    given: _Scoring, state: _HiddenGraph, seed: Groups, base: float
) -> Iterator[_HiddenGraph]:
    """Add a hidden cause of a group; yield the state after each round of structural EM that gains.

    A round searches the graph, and then alternates fits of its equations and expected moments.
    """
    correlations, rows, penalty, _ = given
    d, size = len(correlations), len(state.parents) + 1
    model = _start_with_cause(state, seed, d)
    order = [size - 1, *state.order]
    may_be = np.ones((size, size), np.bool_)
    may_be[:, d:] = False  # hidden variables have no causes
    best = -np.inf
    for _ in range(_ROUNDS):
        moments = model.expected(correlations)
        parents, order = _search_order(given, moments, order, may_be)
        for _ in range(_ITERATIONS):
            model = Model(*Equations(moments, parents).fitted, d)
            moments = model.expected(correlations)
        arcs = sum(map(len, parents))
        gain = model.log_likelihood(correlations, rows) - penalty * arcs - base
        reached = _HiddenGraph(moments, parents, order, gain)
        if any(len(_effects(reached, hidden, d)) < _FEWEST for hidden in range(d, size)):
            return
        if gain < best + _SETTLED:
            return
        best = gain
        yield reached


def _start_with_cause(state: _HiddenGraph, seed: Groups, observed: int) -> Model:
    """Replace the arcs among the members of a group by a new hidden cause.

    The other arcs are fitted by least squares.
    """
    new, inside = len(state.parents), set(seed.members.tolist())
    others = [
        [cause for cause in causes if child not in inside or cause not in inside]
        for child, causes in enumerate(state.parents)
    ]
    slopes, residual_variances = Equations(state.moments, others).fitted
    weights = np.zeros((new + 1, new + 1))
    weights[:new, :new] = slopes
    weights[new, seed.members] = seed.loadings
    noise = np.append(residual_variances, 1.0)
    noise[seed.members] = seed.noise
    return Model(weights, noise, observed)


def _search_order(
    given: _Scoring, moments: Floats, order: list[int], may_be: NDArray[np.bool_]
) -> tuple[list[list[int]], list[int]]:
    """Search for the best graph near an order; return the parents of each variable and the order.

    The diagonal of `moments` is set to one in place.
    """
    size = len(moments)
    np.fill_diagonal(moments, 1.0)
    known = Moments(
        moments[None],
        np.zeros(size, np.int64),
        np.array([float(given.rows)]),
        np.zeros((1, size)),
        np.ones((1, size)),
    )
    # The search imports Numba, which constructing a learner does not need.
    from cosmodag.search import ColumnScore, Constraints, Run, search

    score = ColumnScore.of(known, penalty=given.penalty, constraints=Constraints(may_be))
    run = Run(np.random.default_rng(0), restarts=0, threads=1)  # trials are short
    found = search(score, order, run)
    starts, causes = found.graph.starts, found.graph.parents
    parents = [causes[starts[v] : starts[v + 1]].tolist() for v in range(size)]
    return parents, found.order.tolist()
