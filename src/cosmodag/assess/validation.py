"""Result of the tests of a graph, and comparisons with shuffled graphs and fits to subsets."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.assess.effects.mixed_graph import ClassView
from cosmodag.assess.independences import Test, failing_share, run_tests
from cosmodag.assess.question_inputs import fit_quietly
from cosmodag.data.knowledge import Knowledge
from cosmodag.data.knowledge.bounds import closure
from cosmodag.data.knowledge.statement import places_of
from cosmodag.errors import CosmodagError
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.graph.texts import counted

# Fraction of the columns in a subset, and minimum number of them.
_FRACTION = 0.75
_MIN_COLUMNS = 3


class Agreement(NamedTuple):
    """Agreement between the whole graph and fits to subsets of the columns."""

    # Number of pairs in which one variable causes the other in both graphs, in the same direction
    # and in opposite ones.
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
    """Fractions of failing independences of graphs with shuffled names (Eulig et al. 2025).

    There are fewer than `count` if `deadline`, by ``time.monotonic``, passes.
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
    """Fit subsets of the columns, and compare their causal relations (Faller et al. 2024).

    A cause in the whole graph remains a cause if other columns are left out. A fit to fewer columns
    may therefore have fewer causal relations, or more if a common cause was left out, but should
    not have opposite ones. Only relations that hold in all graphs of a class are compared. A subset
    has three quarters of the columns. No subset is fitted after `deadline`, by ``time.monotonic``.
    """
    varying = np.flatnonzero(~given.preparation.constant)
    size = round(_FRACTION * len(varying))
    same = opposite = done = 0
    if size < _MIN_COLUMNS or size == len(varying):
        return Agreement(0, 0, 0)
    # Direct and indirect causes in all graphs of the class.
    whole = ClassView.of(model.fitted_).mixed.causes()
    while done < count and time.monotonic() < deadline:
        kept = np.sort(random.choice(varying, size, replace=False))
        part = _fitted(model, given, kept)
        if part is None:
            break
        found = ClassView.of(part.fitted_).mixed.causes()
        expected = whole[np.ix_(kept, kept)]
        same += int((found & expected).sum())
        opposite += int((found & expected.T).sum())
        done += 1
    return Agreement(same, opposite, done)


def _fitted(model: FittedGraph, given: Prepared, kept: NDArray[np.intp]) -> FittedGraph | None:
    """Fit some of the columns as the model was fitted; None if that is not possible."""
    names = [given.names[v] for v in kept]
    learner: Any = clone(model)
    known = narrowed(model.fitted_.knowledge, given.names, names)
    learner.set_params(knowledge=known, verbose=False, **model.decided())
    if given.kinds:
        learner.set_params(kinds=[given.kinds[v] for v in kept])
    targets = None if given.known.targets is None else given.known.targets[:, kept]
    try:
        return fit_quietly(learner, given.in_own_units[:, kept], names, targets)
    except CosmodagError:
        return None


def narrowed(
    knowledge: Knowledge | None, names: list[str], kept: list[str]
) -> dict[str, Any] | None:
    """Keep the statements about kept variables only; column numbers become names.

    An arc may exist among kept variables if allowed arcs lead from its cause to its effect through
    variables that are left out, even if the arc itself is excluded.

    >>> known = Knowledge(required_edges=[("a", "b"), ("b", "c")], tiers=[["a"], ["b", "c"]])
    >>> found = narrowed(known, ["a", "b", "c"], ["a", "b"])
    >>> found["required_edges"], found["tiers"]
    ([('a', 'b')], [['a'], ['b']])
    """
    if knowledge is None:
        return None
    place = places_of([*knowledge.names, *names], names)

    def name(one: Any) -> str:
        return names[place[one]]

    def entries(values: Any) -> list[Any]:
        found = [tuple(map(name, v)) if isinstance(v, tuple) else name(v) for v in values]
        return [v for v in found if set(v if isinstance(v, tuple) else [v]) <= set(kept)]

    facts: dict[str, Any] = {
        part: entries(getattr(knowledge, part))
        for part in ("forbidden_edges", "required_edges", "exogenous", "sinks")
    }
    facts["tiers"] = [entries(tier) for tier in knowledge.tiers]
    indirect = _leading_through_others(knowledge, names, kept)
    facts["forbidden_edges"] = [
        (u, v) for u, v in facts["forbidden_edges"] if not indirect[place[u], place[v]]
    ]
    if knowledge.search_space is not None:
        further = [(names[u], names[v]) for u, v in np.argwhere(indirect).tolist()]
        facts["search_space"] = list(dict.fromkeys(entries(knowledge.search_space) + further))
    return facts


def _leading_through_others(
    knowledge: Knowledge, names: list[str], kept: list[str]
) -> NDArray[np.bool_]:
    """Mark the pairs of kept variables (d, d) that allowed arcs join through variables left out."""
    support = knowledge.bounds(names).support
    is_kept = np.isin(names, kept)
    to_others = closure(np.where(is_kept, False, support))
    indirect = to_others.astype(np.float32) @ support.astype(np.float32) > 0
    indirect &= is_kept[:, None] & is_kept & ~np.eye(len(names), dtype=bool)
    return indirect


@dataclass(frozen=True, eq=False)
class Validation:
    """Result of the tests of a graph.

    Attributes
    ----------
    independences : DataFrame
        Pairs that no arc joins: ``first``, ``second``, ``given`` (the parents of the second),
        ``statistic``, ``p`` and ``p_corrected`` (Holm), with the smallest p-value first.
    arcs : DataFrame
        Arcs of the graph: ``cause``, ``effect``, and ``p`` of the test that the two are independent
        given the other parents.
    level : float
        Probability with which a correct graph is rejected.
    p_value : float
        Smallest corrected p-value; NaN if the graph implies no independence.
    failing_share : float
        Fraction of the independences with a p-value below .05.
    shuffled : (k,) array
        The same fraction for graphs with shuffled names.
    agreement : Agreement or None
        Comparison with fits to subsets of the columns.
    test : str
        Name of the test.
    rows : float
        Number of rows used in the test.
    same_rows : bool
        Whether the graph was learnt from the rows on which it was tested.
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
        """Independences that fail after correction for multiple testing."""
        return self.independences[self.independences["p_corrected"] < self.level]

    @property
    def rejected(self) -> bool:
        """Whether the data contradict the graph."""
        return bool(self.p_value < self.level)

    @property
    def needless(self) -> pd.DataFrame:
        """Arcs that these data do not need, with a p-value above .05."""
        return self.arcs[self.arcs["p"] > 0.05]

    @property
    def shuffled_p(self) -> float:
        """Fraction of the shuffled graphs and this one that fail no more tests: a p-value."""
        if not len(self.shuffled) or np.isnan(self.failing_share):
            return float("nan")
        as_good = np.count_nonzero(self.shuffled <= self.failing_share)
        return float((1 + as_good) / (1 + len(self.shuffled)))

    def __str__(self) -> str:
        """Return the verdict and further findings in plain words."""
        return " ".join([self.verdict, *self._further_findings()])

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
                " The graph was learnt from the same rows, so that this test is lenient: test it "
                "on new rows, or hold out a share of the rows of the fit (split=)."
            )
        return text

    def _further_findings(self) -> list[str]:
        found = []
        if len(self.shuffled) and len(self.independences):
            count = np.count_nonzero(self.shuffled <= self.failing_share)
            verb, doubt = "fits" if count == 1 else "fit", ""
            if self.shuffled_p > 0.05:
                doubt = ": passing the tests means little"
                if self.rejected:
                    doubt = ": this graph is hardly better than a guess"
            of = f"{count} of {counted(len(self.shuffled), 'graph')} with shuffled names"
            found.append(f"{of} {verb} as well{doubt}.")
        needless = len(self.needless)
        if needless:
            first = self.needless.to_dict("records")[0]  # a row would make names floats
            arcs, verb = counted(len(self.arcs), "arc"), "is" if needless == 1 else "are"
            found.append(
                f"{needless} of {arcs} {verb} not needed, such as {first['cause']} → "
                f"{first['effect']} (p = {first['p']:.2g})."
            )
        if self.agreement is not None and self.agreement.same + self.agreement.opposite:
            same, opposite, subsets = self.agreement
            found.append(
                f"Fits to {counted(subsets, 'subset')} of the columns agree with the graph on "
                f"{same} of {counted(same + opposite, 'causal relation')}."
            )
        found.append("Arrows that can be reversed within the equivalence class are not tested.")
        return found

    def facts(self) -> dict[str, Any]:
        """Return plain values, for files and for the report."""
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
