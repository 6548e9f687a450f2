"""Search that adds hidden causes to a learnt graph one by one while the score rises.

Structural EM (Friedman 1998) alternates three steps: replace the hidden variables by their
expectations given the observed ones, search the graph with them, and fit its equations. The score
is the penalised log-likelihood of the observed columns, which is comparable between graphs with and
without hidden variables.
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
from cosmodag.order.moments import Moments
from cosmodag.order.scores import default_penalty

# A group is skipped if its common cause loses more than this per row before the graph is searched
# again. Most graphs without hidden causes have no other groups, so the search ends here for them.
_PROMISING = -0.3
# Seed groups that are tried up to _WIDE variables. A trial searches an order, in time that grows
# faster than the square of the variables; a hub among 100 would otherwise cost ten fits.
_SEEDS, _FEWEST_SEEDS, _WIDE = 48, 4, 30
_PURSUED = 4
# The first hidden cause may lower the score by up to this: a second one can compensate.
_HOPELESS = -5.0
_MOST = 8
_ROUNDS = 6
_ITERATIONS = 10
_SETTLED = 0.5
# A hidden variable with fewer effects is equivalent to one or two arcs.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """Hidden variables that make the observed columns more probable."""

    effects: tuple[tuple[int, ...], ...]  # effects of each hidden variable, by column number
    gain: float  # penalised log-likelihood minus that of the graph without hidden variables
    # Number of arcs without and with hidden variables, including the arcs of these
    arcs_before: int
    arcs_after: int


class _State(NamedTuple):
    """A graph over observed and hidden variables, its expected moments and its gain."""

    moments: Floats
    parents: Parents
    order: list[int]
    gain: float


class _Given(NamedTuple):
    """Correlations of the observed columns, what scores need, and when to end."""

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
    """Add hidden causes to a graph while they raise the score; None without a promising group.

    `correlations` (d, d) are those of varying columns; `arcs` (d, d) are those of a learnt DAG, and
    `order` (d,) has its causes first. `should_stop` is asked before every trial, a few hundredths
    of a second; then the best so far is returned.
    """
    d = len(correlations)
    given = _Given(correlations, rows, default_penalty(rows, d), should_stop)
    parents: Parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    best = _State(correlations, parents, order.tolist(), 0.0)
    if not _promising_groups(given, best):
        return None
    # The graph may have been learnt with another score, and superfluous arcs favour hidden causes:
    # the fair comparison is the best graph without hidden causes under this score.
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


def _best_without_hidden_causes(given: _Given, order: list[int]) -> tuple[_State, float]:
    """Search the best graph without hidden causes near an order; return it with its score."""
    correlations, rows, penalty, _ = given
    d = len(correlations)
    parents, order = _search_order(given, correlations.copy(), order, np.ones((d, d), np.bool_))
    base = float(Equations(correlations, parents, rows, penalty).scores.sum())
    return _State(correlations, parents, order, 0.0), base


def _with_best_hidden_cause(given: _Given, state: _State, base: float) -> _State | None:
    """Add the hidden cause of largest gain: one round per seed group, more for the best ones."""
    tried: list[tuple[_State, Iterator[_State]]] = []
    # The promising groups, extended by further columns, each set of columns once.
    groups = extended(_promising_groups(given, state), _equations(given, state))
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


def _effects(state: _State, hidden: int, d: int) -> tuple[int, ...]:
    return tuple(child for child in range(d) if hidden in state.parents[child])


def _promising_groups(given: _Given, state: _State) -> list[Groups]:
    """List groups of four columns that another hidden cause may explain, best first."""
    members = dense_groups(state.parents)
    if not len(members):
        return []
    groups = gains_of(members, _equations(given, state))
    share = min(1.0, (_WIDE / len(state.parents)) ** 2)
    best = np.argsort(-groups.gains, kind="stable")[: max(_FEWEST_SEEDS, round(_SEEDS * share))]
    best = best[groups.gains[best] > _PROMISING * given.rows]
    return [Groups(*(part[place] for part in groups)) for place in best.tolist()]


def _equations(given: _Given, state: _State) -> Equations:
    return Equations(state.moments, state.parents, given.rows, given.penalty)


def _structural_em(given: _Given, state: _State, seed: Groups, base: float) -> Iterator[_State]:
    """Add one hidden cause to a group; alternate search, expectation and fit while they gain."""
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
        reached = _State(moments, parents, order, gain)
        if any(len(_effects(reached, hidden, d)) < _FEWEST for hidden in range(d, size)):
            return
        if gain < best + _SETTLED:
            return
        best = gain
        yield reached


def _start_with_cause(state: _State, seed: Groups, observed: int) -> Model:
    """Start with a new hidden cause of a group in place of the arcs among its members.

    The other arcs are fitted by least squares.
    """
    new, inside = len(state.parents), set(seed.members.tolist())
    others = [
        [cause for cause in causes if child not in inside or cause not in inside]
        for child, causes in enumerate(state.parents)
    ]
    slopes, left = Equations(state.moments, others).fitted
    weights = np.zeros((new + 1, new + 1))
    weights[:new, :new] = slopes
    weights[new, seed.members] = seed.loadings
    noise = np.append(left, 1.0)
    noise[seed.members] = seed.noise
    return Model(weights, noise, observed)


def _search_order(
    given: _Given, moments: Floats, order: list[int], may_be: NDArray[np.bool_]
) -> tuple[list[list[int]], list[int]]:
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
    from cosmodag.order import search

    found = search(
        known,
        order,
        penalty=given.penalty,
        support=may_be,
        random=np.random.default_rng(0),
        restarts=0,
        threads=1,  # trials are short
    )
    starts, causes = found.graph.starts, found.graph.parents
    parents = [causes[starts[v] : starts[v + 1]].tolist() for v in range(size)]
    return parents, found.order.tolist()
