"""Hidden causes added to a learnt graph one by one, as long as they explain more than they cost.

Structural EM (Friedman 1998): the hidden variables are replaced by what the observed ones let
expect of them, the graph is searched again with them, its equations are fitted, and so on. The
score is the penalised log-likelihood of the observed columns, the same for a graph with and
without hidden variables.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.hidden.equations import Equations, Floats, Model, Parents
from cosmodag.data.diagnose.hidden.groups import Groups, dense_groups, gains_of
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.order_search import search_order
from cosmodag.refinement.scores import default_penalty

__all__ = ["HiddenCauses", "find_hidden_causes"]

# A group whose common cause loses more than this before the graph is searched again is passed over.
# Tables with 6 hidden causes had groups above −30, nearly always; dense graphs without any
# mostly had none.
_PROMISING = -30.0
_SEEDS = 6
_MOST = 8
_ROUNDS = 4
_ITERATIONS = 5
_SETTLED = 0.5
# A hidden variable with fewer effects says no more than an arc or two.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """Hidden variables that make the observed columns more probable.

    Attributes
    ----------
    effects
        Columns that each hidden variable has an arc to.
    gain
        Penalised log-likelihood less that of the graph without hidden variables.
    arcs_before, arcs_after
        Arcs of the graph without them, and with them, theirs counted.
    """

    effects: tuple[tuple[int, ...], ...]
    gain: float
    arcs_before: int
    arcs_after: int


@dataclass(frozen=True, eq=False)
class _State:
    """A graph over observed and hidden variables, its expected moments and its gain."""

    moments: Floats
    parents: Parents
    order: list[int]
    gain: float


def find_hidden_causes(
    correlations: Floats, arcs: NDArray[np.bool_], rows: float, order: NDArray[np.integer]
) -> HiddenCauses | None:
    """Add hidden causes to a graph while they raise the score.

    Parameters
    ----------
    correlations : (d, d) array
        Of columns that vary.
    arcs : (d, d) array of bool
        A learnt DAG, best one that an order search ended at: a graph with needless arcs would make
        hidden causes look better than they are.
    rows : float
    order : (d,) array of int
        Of its variables, causes first.

    Returns
    -------
    HiddenCauses or None
        None where not even a promising group of columns was found.
    """
    d = len(correlations)
    parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    penalty = default_penalty(rows, d)
    base = float(Equations(correlations, parents, rows, penalty).scores.sum())
    best = _State(correlations, parents, list(order), 0.0)
    found = None
    for _ in range(_MOST):
        tried = [
            _grown(correlations, best, seed, base, rows, penalty)
            for seed in _promising(best, rows, penalty)
        ]
        raised = max((one for one in tried if one is not None), key=_gain, default=None)
        if raised is None or (found is not None and raised.gain < best.gain + _SETTLED):
            break
        best = found = raised
        if best.gain < 0:
            break
    if found is None:
        return None
    return HiddenCauses(
        tuple(_effects(found, hidden, d) for hidden in range(d, len(found.parents))),
        found.gain,
        sum(map(len, parents)),
        sum(map(len, found.parents)),
    )


def _gain(state: _State) -> float:
    return state.gain


def _effects(state: _State, hidden: int, d: int) -> tuple[int, ...]:
    return tuple(child for child in range(d) if hidden in state.parents[child])


def _promising(state: _State, rows: float, penalty: float) -> list[Groups]:
    """Groups that one more hidden cause may explain, best first."""
    members = dense_groups(state.parents)
    if not len(members):
        return []
    groups = gains_of(members, Equations(state.moments, state.parents, rows, penalty))
    best = np.argsort(-groups.gains, kind="stable")[:_SEEDS]
    return [
        Groups(*(part[place] for part in groups))
        for place in best.tolist()
        if groups.gains[place] > _PROMISING
    ]


def _grown(
    correlations: Floats, state: _State, seed: Groups, base: float, rows: float, penalty: float
) -> _State | None:
    """Give a group one hidden cause more, and search, expect and fit in turns."""
    d, size = len(correlations), len(state.parents) + 1
    parents = _with_cause(state.parents, seed.members)
    model = _start(Equations(state.moments, parents[:-1], rows, penalty), seed, d)
    order = [size - 1, *state.order]
    may_be = np.ones((size, size), np.bool_)
    may_be[:, d:] = False  # hidden variables have no causes
    best: _State | None = None
    for _ in range(_ROUNDS):
        moments = model.expected(correlations)
        parents, order = _searched(moments, order, rows, penalty, may_be)
        for _ in range(_ITERATIONS):
            model = Model(*Equations(moments, parents, rows, penalty).fitted, d)
            moments = model.expected(correlations)
        arcs = sum(map(len, parents))
        gain = model.log_likelihood(correlations, rows) - penalty * arcs - base
        reached = _State(moments, parents, order, gain)
        if any(len(_effects(reached, hidden, d)) < _FEWEST for hidden in range(d, size)):
            break
        if best is not None and gain < best.gain + _SETTLED:
            break
        best = reached
    return best


def _with_cause(parents: Parents, members: NDArray[np.intp]) -> list[list[int]]:
    """Replace the arcs within a group by one more variable, the parent of all of them."""
    inside = set(members.tolist())
    changed = [
        [cause for cause in causes if child not in inside or cause not in inside]
        + ([len(parents)] if child in inside else [])
        for child, causes in enumerate(parents)
    ]
    return [*changed, []]


def _start(equations: Equations, seed: Groups, observed: int) -> Model:
    """Equations with a new hidden cause: parents outside the group by least squares, then it."""
    new = len(equations.parents)
    known = [[cause for cause in causes if cause < new] for causes in equations.parents]
    slopes, left = Equations(equations.correlations, known, equations.rows, 0.0).fitted
    weights = np.zeros((new + 1, new + 1))
    weights[:new, :new] = slopes
    weights[new, seed.members] = seed.loadings
    noise = np.append(left, 1.0)
    noise[seed.members] = seed.noise
    return Model(weights, noise, observed)


def _searched(
    moments: Floats, order: list[int], rows: float, penalty: float, may_be: NDArray[np.bool_]
) -> tuple[list[list[int]], list[int]]:
    size = len(moments)
    np.fill_diagonal(moments, 1.0)
    known = Moments(
        moments[None],
        np.zeros(size, np.int64),
        np.array([float(rows)]),
        np.zeros((1, size)),
        np.ones((1, size)),
    )
    found = search_order(
        known, order, penalty=penalty, support=may_be, random=np.random.default_rng(0)
    )
    starts, causes = found.graph.starts, found.graph.parents
    parents = [causes[starts[v] : starts[v + 1]].tolist() for v in range(size)]
    return parents, found.order.tolist()
