"""Search for the order and graph of a linear model with non-Gaussian noise.

Maximises Σ_v −n H(residual of v given its parents) − c |arcs| over orders, H the entropy
approximation of `cosmodag.refinement.entropy.measure`; the parents of a variable are chosen among
its predecessors. The Gaussian score cannot tell graphs of one class apart; this one can.
"""

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from cosmodag.errors import DataError
from cosmodag.order.parents import check_order
from cosmodag.refinement.entropy.exogenous_first import exogenous_first_order
from cosmodag.refinement.entropy.families import EntropyProblem, Families, fit_order, total_score
from cosmodag.refinement.entropy.moves import improve_place
from cosmodag.refinement.entropy.problem import prepare, standardised
from cosmodag.refinement.entropy.weak_parents import add_weak_parents
from cosmodag.refinement.starts import respecting

__all__ = ["NonGaussianSearch", "StartReport", "search_non_gaussian"]

EXOGENOUS_FIRST = "exogenous-first"
KICKED = "kicked"
_REACH = 100  # places a variable may move at once
_PATIENCE = 120  # unsuccessful restarts times variables: fewer restarts if a climb is long
_LEAST_GAIN = 1e-6


@dataclass(frozen=True)
class StartReport:
    """Result of the search from one start."""

    name: str
    score_before: float
    score_after: float
    moves: int
    seconds: float


@dataclass(frozen=True)
class NonGaussianSearch:
    """The best order found, its graph, and how it was found.

    Attributes
    ----------
    order : ndarray (d,)
        Causes first.
    weights : csr_array (d, d)
        ``weights[u, v]`` is the coefficient of the arc u → v in the data's units, by least squares
        on the chosen parents. Stored entries are the arcs; a required arc may have weight 0.
    score : float
        Of the table with standardised columns, so that it does not depend on units; of the graph
        before weak parents were added.
    penalty : float
        c, the score an arc has to gain.
    starts : tuple of StartReport
        One for each start, in the order in which they were searched.
    stopped : bool
        Whether ``should_stop`` ended the search before it had converged.
    """

    order: NDArray[np.int64]
    weights: csr_array
    score: float
    penalty: float
    starts: tuple[StartReport, ...]
    stopped: bool


def search_non_gaussian(
    X: ArrayLike,
    starts: Mapping[str, ArrayLike],
    *,
    random: np.random.Generator,
    penalty: float | None = None,
    support: ArrayLike | None = None,
    required: ArrayLike | None = None,
    before: ArrayLike | None = None,
    counted: ArrayLike | None = None,
    weak_parents: bool = False,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
) -> NonGaussianSearch:
    """Find the order and graph with the best non-Gaussian score.

    Every start, and the exogenous-first order, which is always added, is improved by moving
    single variables to their best places until no move helps; then the best is tried again with
    half the variables displaced, which up to d = 120 is affordable.

    Parameters
    ----------
    X : array (n, d)
        The data, in any units: a factor on a column changes its weights only.
    starts : mapping of str to array (d,)
        Orders to start from, causes first; may be empty.
    random : numpy.random.Generator
        Draws the order in which variables are tried.
    penalty : float, optional
        c, the score an arc has to gain; if not given, the extended BIC ½ log n + log d, but at
        least log n.
    support, required : array of bool (d, d), optional
        Arcs u → v that may exist, and arcs that are always in.
    before : array of bool (d, d), optional
        Transitively closed: u must come before v.
    counted : array (n, d), optional
        Weight of each row in each variable's own equation; 0 where the variable was set.
    weak_parents : bool
        Whether parents that only the shape of the noise makes visible are added at the end
        (`cosmodag.refinement.entropy.weak_parents`).
    should_stop : callable, optional
        Called often; after True the best result so far is returned.
    on_progress : callable, optional
        Called with the start's name and its score after every sweep.

    Returns
    -------
    NonGaussianSearch
        Its score is never below that of a start.

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(500, 3))
    >>> noise[:, 1] += noise[:, 2]
    >>> noise[:, 0] += noise[:, 1]
    >>> found = search_non_gaussian(noise, {}, random=np.random.default_rng(0))
    >>> found.order.tolist()
    [2, 1, 0]
    >>> (found.weights.toarray() != 0).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [0, 1, 0]])
    """
    problem, deviations = prepare(X, penalty, support, required, before, counted)
    stop = _Stop(should_stop)
    if not {EXOGENOUS_FIRST, KICKED}.isdisjoint(starts):
        raise DataError(f"The search has its own starts {EXOGENOUS_FIRST!r} and {KICKED!r}.")
    variables = len(problem.columns)
    orders = {
        name: respecting(check_order(order, variables), problem.before)
        for name, order in starts.items()
    }
    begin = time.perf_counter()
    rows = np.flatnonzero((problem.counted > 0).all(axis=0))
    columns = standardised(problem.columns[:, rows]) if rows.size > 1 else problem.columns
    orders[EXOGENOUS_FIRST] = exogenous_first_order(columns, problem.before, stop)
    spent = {EXOGENOUS_FIRST: time.perf_counter() - begin}

    fitted = {name: fit_order(problem, order) for name, order in orders.items()}
    names = sorted(fitted, key=lambda name: -total_score(fitted[name]))
    best, reports = fitted[names[0]], []
    for name in names:
        families, begin = fitted[name], time.perf_counter()
        score_before = total_score(families)
        found, moves = _climb(problem, families, random, stop, name, on_progress)
        seconds = time.perf_counter() - begin + spent.get(name, 0.0)
        score_after = total_score(found)
        reports.append(StartReport(name, score_before, score_after, moves, seconds))
        if score_after > total_score(best):
            best = found
    best, report = _kick(problem, best, random, stop, on_progress)
    reports.append(report)
    score = total_score(best)
    if weak_parents:
        add_weak_parents(problem, best)
    return NonGaussianSearch(
        order=best.order,
        weights=_weights(best, deviations),
        score=score,
        penalty=problem.penalty,
        starts=tuple(reports),
        stopped=stop.stopped,
    )


class _Stop:
    """``should_stop`` that is not called again after it returned True."""

    def __init__(self, should_stop: Callable[[], bool] | None) -> None:
        self._should_stop = should_stop
        self.stopped = False

    def __call__(self) -> bool:
        if self._should_stop is not None and not self.stopped:
            self.stopped = bool(self._should_stop())
        return self.stopped


def _climb(
    problem: EntropyProblem,
    families: Families,
    random: np.random.Generator,
    stop: _Stop,
    name: str,
    on_progress: Callable[[str, float], None] | None,
) -> tuple[Families, int]:
    """Make best-insertion moves until a whole sweep finds none."""
    found = deepcopy(families)
    variables = found.order.size
    moves, unmoved = 0, 0
    while unmoved < variables and not stop.stopped:
        for variable in random.permutation(variables):
            if unmoved >= variables or stop():
                break
            moved = improve_place(problem, found, variable, _REACH)
            moves += moved
            unmoved = 0 if moved else unmoved + 1
        if on_progress is not None:
            on_progress(name, total_score(found))
    return found, moves


def _kick(
    problem: EntropyProblem,
    best: Families,
    random: np.random.Generator,
    stop: _Stop,
    on_progress: Callable[[str, float], None] | None,
) -> tuple[Families, StartReport]:
    """Climb again from the best order with half the variables displaced, while that helps.

    Displacing half of the variables found more than displacing fewer, or all.
    """
    begin, variables = time.perf_counter(), best.order.size
    score_before, moves, failures = total_score(best), 0, 0
    while failures < _PATIENCE // variables and not stop():
        order = best.order.copy()
        for variable in random.choice(variables, max(1, variables // 2), replace=False):
            order = np.insert(order[order != variable], random.integers(variables), variable)
        start = fit_order(problem, respecting(order, problem.before))
        found, taken = _climb(problem, start, random, stop, KICKED, on_progress)
        moves += taken
        better = total_score(found) > total_score(best) + _LEAST_GAIN
        best, failures = (found, 0) if better else (best, failures + 1)
    seconds = time.perf_counter() - begin
    return best, StartReport(KICKED, score_before, total_score(best), moves, seconds)


def _weights(families: Families, deviations: NDArray[np.float64]) -> csr_array:
    """Coefficients of the arcs in the units of the data."""
    counts = families.parent_counts[: deviations.size]
    heads = np.repeat(np.arange(counts.size), counts)
    tails = np.concatenate([families.parents[v, :count] for v, count in enumerate(counts)])
    values = np.concatenate([families.weights[v, :count] for v, count in enumerate(counts)])
    values = values * (deviations[heads] / deviations[tails])
    return csr_array((values, (tails, heads)), shape=(counts.size, counts.size))
