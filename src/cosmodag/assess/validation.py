"""Result of the tests of a graph, in numbers and in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cosmodag.assess.comparisons import Agreement


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
            first = self.needless.iloc[0]
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
