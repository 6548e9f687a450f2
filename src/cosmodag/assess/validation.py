"""Result of the tests of a graph, and comparison with shuffled graphs."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cosmodag.assess.independences import Test, failing_share, run_tests
from cosmodag.graph.texts import counted


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
            "test": self.test,
            "rows": self.rows,
            "same_rows": self.same_rows,
        }
