"""Parameters that all learners share: their meaning, their values and their checks."""

import numbers
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from cosmodag.data.kinds import check_kinds
from cosmodag.errors import DataError
from cosmodag.fit.checks import check_choice, check_count, check_number
from cosmodag.fit.dag.preparation import SCALES
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.view.fitted import FittedGraph

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["Setting", "SharedParameters", "choice", "count"]

Setting = float | str
"""A number, or ``"auto"`` for the one that a rule gives."""

_RAW_CUT = 0.3


def choice(default: str, names: Collection[str]) -> Any:
    """Declare a parameter that is one of some names, checked when a fit begins."""
    return field(default=default, metadata={"names": names})


def count(default: int) -> Any:
    """Declare a parameter that is a whole number of at least one, checked when a fit begins."""
    return field(default=default, metadata={"is_count": True})


@dataclass(kw_only=True, eq=False, repr=False)
class SharedParameters(FittedGraph):
    r"""Parameters that learners share, described once, and what follows from their values.

    Parameters are the keyword-only fields of the dataclasses that a learner inherits from, and
    their descriptions are inherited too.

    Parameters
    ----------
    threshold : float or "auto"
        Arcs with \|W\| at or below it are left out of `adjacency_`. Automatically 0 after
        refinement, 0.3 without.
    knowledge : Knowledge, mapping or path, optional
        What is known of the graph: :class:`cosmodag.Knowledge`, its parts by name, or a file.
    kinds : "auto", mapping or sequence
        What columns hold, where it is not what their values suggest: a mapping from names to
        ``"continuous"``, ``"binary"``, ``"categorical"``, ``"ordinal"``, ``"count"`` or a list of
        levels from low to high, or one such entry for each column (`docs/kinds.md`; see `kinds_`).
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop rows that have one; or estimate them from the other
        values, without counting them as evidence (`docs/missing.md`; see `missing_report_`).
    scale : {"center", "standardize", "none"}
        Subtract column means; also divide by standard deviations (which removes the differences in
        variance that squared-error learners rely on, and warns); or leave the data unchanged.
    lags : int
        Number k of earlier times that may act on a row, if the rows are those of time series: the
        graph is then that of a window of the times t, t − 1, …, t − k, with arcs into time t from
        the same time and from earlier ones (`docs/time.md`). 0 for rows that are independent.
    max_time : float, optional
        Seconds after which the fit stops with the result so far and a warning.
    random_state : int, Generator, RandomState or None
        The same number gives the same result, bit for bit, on the same machine.
    verbose : bool
        Show progress on stderr if it is a terminal.
    """

    threshold: Setting = "auto"
    knowledge: Any = None
    kinds: Any = "auto"
    missing: str = choice("error", CHOICES)
    scale: str = choice("center", SCALES)
    lags: int = 0
    max_time: float | None = None
    random_state: Any = None
    verbose: bool = True

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        check_number("threshold", self.threshold, low=0.0, low_allowed=True, also=("auto",))
        check_kinds(self.kinds)
        check_count("lags", self.lags, low=0)
        for part in fields(self):
            if "names" in part.metadata:
                check_choice(part.name, getattr(self, part.name), part.metadata["names"])
            elif "is_count" in part.metadata:
                check_count(part.name, getattr(self, part.name))
        check_number("max_time", self.max_time, low=0.0, also=(None,))
        if isinstance(self.random_state, str | numbers.Real):
            check_count("random_state", self.random_state, low=0)

    def idle_settings(self, table: "Table | None" = None) -> dict[str, str]:
        """Reasons why the values of parameters would have no effect, by parameter.

        Each says what to do instead. Defaults and ``"auto"`` are never listed. Some values have no
        effect only where a table has categories or counts.
        """
        return {}

    def refuse_idle(self, table: "Table | None" = None) -> None:
        """Refuse values that would have no effect, in one sentence."""
        for name, reason in self.idle_settings(table).items():
            raise DataError(f"{name} is {getattr(self, name)!r}, but {reason}.")

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement for d variables: None, ``"prune"`` or ``"order"``."""
        return None

    def why_no_levels(self, d: int) -> str | None:
        """Name the learner, and the setting with which it takes numbers only; None if it does not.

        In linear learners it is refinement that uses categories, not training.
        """
        if self.takes_levels and self.refinement_for(d) is not None:
            return None
        return type(self).__name__ + (" without refinement" if self.takes_levels else "")

    @property
    def refinement_(self) -> str | None:
        """Method of refinement: None, ``"prune"`` or ``"order"``."""
        return self.refinement_for(self.n_features_in_)

    @property
    def raw_threshold(self) -> float:
        """Threshold on optimised weights."""
        return _RAW_CUT if self.threshold == "auto" else float(self.threshold)

    @property
    def refined_threshold(self) -> float:
        """Threshold on weights that refinement chose by evidence."""
        return 0.0 if self.threshold == "auto" else float(self.threshold)
