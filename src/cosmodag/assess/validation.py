"""Result of the tests of a graph, and comparisons with shuffled names and fits to some columns."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.independences import Test, failing_share, run_tests
from cosmodag.assess.inputs import fit_quietly
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


@dataclass(frozen=True, eq=False)
class Validation:
    """Result of the tests of a graph.

    Attributes
    ----------
    independences : DataFrame
        Pairs that no arc joins: ``first``, ``second``, ``given`` (the parents of the second),
        ``statistic``, ``p`` and ``p_corrected`` (Holm); the smallest p first.
    arcs : DataFrame
        Arcs of the graph: ``cause``, ``effect``, ``p`` of independence given the other parents.
    level : float
        Probability with which a right graph is rejected.
    p_value : float
        The smallest corrected p; NaN where the graph implies nothing.
    failing_share : float
        Share of the independences whose p is below .05.
    shuffled : (k,) array
        The same of graphs with shuffled names.
    agreement : Agreement or None
        Comparison with fits to some of the columns.
    test : str
        Which test was used.
    rows : float
        Number of rows of the test.
    same_rows : bool
        Whether the graph was learnt from the rows that it was tested on.
    """

    independences: pd.DataFrame
    arcs: pd.DataFrame
    level: float
    p_value: float
    failing_share: float
    shuffled: Any
    agreement: Agreement | None
    test: str
    rows: float
    same_rows: bool

    @property
    def failed(self) -> pd.DataFrame:
        """Independences that fail after the correction for their number."""
        return self.independences[self.independences["p_corrected"] < self.level]

    @property
    def rejected(self) -> bool:
        """Whether the data contradict the graph."""
        return bool(self.p_value < self.level)

    @property
    def needless(self) -> pd.DataFrame:
        """Arcs that these data do not need: p above .05 given the other parents."""
        return self.arcs[self.arcs["p"] > 0.05]

    @property
    def shuffled_p(self) -> float:
        """Share of graphs with shuffled names that fail no more tests than this one."""
        if not len(self.shuffled) or np.isnan(self.failing_share):
            return float("nan")
        as_good = np.count_nonzero(self.shuffled <= self.failing_share)
        return float((1 + as_good) / (1 + len(self.shuffled)))

    def __str__(self) -> str:
        """Return the verdict in plain words."""
        return " ".join([self.verdict, *self._more()])

    @property
    def verdict(self) -> str:
        """The answer in one or two sentences."""
        m = len(self.independences)
        if not m:
            return "The graph implies no independence, so that these data cannot contradict it."
        if self.rejected:
            worst = self.failed.iloc[0]
            given = f" given {', '.join(map(str, worst['given']))}" if worst["given"] else ""
            failed = len(self.failed)
            return (
                f"The data contradict the graph: {failed} of the {m} independences that it implies "
                f"{'fails' if failed == 1 else 'fail'}, most clearly {worst['first']} and "
                f"{worst['second']}{given} (p = {worst['p_corrected']:.2g} after correction)."
            )
        holds = f"all {m} independences" if m > 1 else "the one independence"
        text = (
            f"The data do not contradict the graph: {holds} that it implies "
            f"{'pass' if m > 1 else 'passes'} (smallest p = {self.p_value:.2g} after correction)."
        )
        if self.same_rows:
            text += (
                " The graph was learnt from the same rows, so that this test is lenient: give new "
                "rows, or a share of them to hold out (split)."
            )
        return text

    def _more(self) -> list[str]:
        found = []
        if len(self.shuffled) and len(self.independences):
            share = self.shuffled_p
            count = np.count_nonzero(self.shuffled <= self.failing_share)
            text = f"Of {len(self.shuffled)} graphs with shuffled names {count} fit as well"
            doubt = "it is hardly better than a guess" if self.rejected else "passing says little"
            found.append(f"{text}{': ' + doubt if share > 0.05 else ''}.")
        needless = len(self.needless)
        if needless:
            first = self.needless.to_dict("records")[0]  # a row would make names floats
            found.append(
                f"{needless} of {len(self.arcs)} arcs {'is' if needless == 1 else 'are'} not "
                f"needed, such as {first['cause']} → {first['effect']} (p = {first['p']:.2g})."
            )
        if self.agreement is not None and self.agreement.same + self.agreement.opposite:
            same, opposite, subsets = self.agreement
            found.append(
                f"Fits to {subsets} subsets of the columns agree on {same} of "
                f"{same + opposite} statements about what is a cause of what."
            )
        found.append("Arrows that can be turned within the class are not tested.")
        return found

    def facts(self) -> dict[str, Any]:
        """Return plain values, for files and for the page."""
        failed = self.failed.head(20).to_dict("records")
        return {
            "verdict": self.verdict,
            "text": str(self),
            "rejected": self.rejected,
            "p_value": self.p_value,
            "level": self.level,
            "tested": len(self.independences),
            "failed": [{**one, "given": list(one["given"])} for one in failed],
            "needless": self.needless.to_dict("records"),
            "shuffled": len(self.shuffled),
            "shuffled_p": self.shuffled_p,
            "agreement": None if self.agreement is None else self.agreement._asdict(),
            "test": self.test,
            "rows": self.rows,
            "same_rows": self.same_rows,
        }
