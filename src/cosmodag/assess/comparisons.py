"""Comparisons of a graph: with shuffled names, and with fits to some of the columns."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.independences import Test, failing_share, run_tests
from cosmodag.assess.tables import fit_quietly
from cosmodag.data.knowledge import Knowledge
from cosmodag.errors import CosmodagError
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.view.fitted import FittedGraph

_SHARE = 0.75
_FEWEST = 3


class Agreement(NamedTuple):
    """Causes in fits to some of the columns, compared with those in the whole graph."""

    # Pairs of which one variable causes the other in both: the same one, or the other one
    same: int
    opposite: int
    subsets: int  # number of subsets that were fitted


def shuffled_shares(
    arcs: NDArray[np.bool_],
    order: NDArray[np.intp],
    test: Test,
    count: int,
    random: np.random.Generator,
    deadline: float,
) -> NDArray[np.float64]:
    """Shares of failing independences of the same graph with shuffled names (Eulig et al. 2025).

    Fewer than `count` where the clock passes `deadline`.
    """
    shares: list[float] = []
    while len(shares) < count and (not shares or time.monotonic() < deadline):
        names = random.permutation(len(order))
        places = np.argsort(names)
        tested = run_tests(arcs[np.ix_(names, names)], places[order], test)
        shares.append(failing_share(tested.p_values))
    return np.array(shares)


def agreement_on_subsets(
    model: FittedGraph, given: Prepared, count: int, random: np.random.Generator, deadline: float
) -> Agreement:
    """Fit subsets of the columns, and compare what is a cause of what (Faller et al. 2024).

    A cause in the whole graph stays one where columns are left out, so that a fit to fewer columns
    may have fewer causes, or more where a common cause was left out, but should not have opposite
    ones. Only causes in all graphs of a class are compared. A subset has three quarters of the
    columns; no more is fitted after the `deadline`, by ``time.monotonic``.
    """
    varying = np.flatnonzero(~given.preparation.constant)
    size = round(_SHARE * len(varying))
    same = opposite = done = 0
    if size < _FEWEST or size == len(varying):
        return Agreement(0, 0, 0)
    # Causes in all graphs of the class, directly or not.
    whole = ClassView.of(model.fitted_).mixed.causes()
    values = given.X * given.preparation.factors + given.preparation.means
    while done < count and time.monotonic() < deadline:
        kept = np.sort(random.choice(varying, size, replace=False))
        part = _fitted(model, given, values, kept)
        if part is None:
            break
        found = ClassView.of(part.fitted_).mixed.causes()
        expected = whole[np.ix_(kept, kept)]
        same += int((found & expected).sum())
        opposite += int((found & expected.T).sum())
        done += 1
    return Agreement(same, opposite, done)


def _fitted(
    model: FittedGraph, given: Prepared, values: NDArray[np.float64], kept: NDArray[np.intp]
) -> FittedGraph | None:
    """Fit some of the columns as the model was fitted; None where they cannot be."""
    dag, names = model.fitted_, given.names
    learner: Any = clone(model)
    learner.set_params(knowledge=narrowed(dag.knowledge, names, [names[v] for v in kept]))
    for name, value in (("noise", dag.noise), ("verbose", False)):
        if value is not None and hasattr(learner, name):
            learner.set_params(**{name: value})
    targets = None if given.known.targets is None else given.known.targets[:, kept]
    try:
        return fit_quietly(learner, values[:, kept], [names[v] for v in kept], targets)
    except CosmodagError:
        return None


def narrowed(
    knowledge: Knowledge | None, names: list[str], kept: list[str]
) -> dict[str, Any] | None:
    """Keep the statements of which all variables are kept; numbers become names.

    >>> known = Knowledge(required_edges=[("a", "b"), ("b", "c")], tiers=[["a"], ["b", "c"]])
    >>> found = narrowed(known, ["a", "b", "c"], ["a", "b"])
    >>> found["required_edges"], found["tiers"]
    ([('a', 'b')], [['a'], ['b']])
    """
    if knowledge is None:
        return None

    def name(one: Any) -> str:
        return one if isinstance(one, str) else names[one]

    def entries(values: Any) -> list[Any]:
        found = [tuple(map(name, v)) if isinstance(v, tuple) else name(v) for v in values]
        return [v for v in found if set(v if isinstance(v, tuple) else [v]) <= set(kept)]

    facts: dict[str, Any] = {
        part: entries(getattr(knowledge, part))
        for part in ("forbidden_edges", "required_edges", "exogenous", "sinks")
    }
    facts["tiers"] = [entries(tier) for tier in knowledge.tiers]
    if knowledge.search_space is not None:
        facts["search_space"] = entries(knowledge.search_space)
    return facts
