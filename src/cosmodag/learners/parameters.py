"""Parameters that all learners share, and the checks of their values."""

import numbers
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from cosmodag.data.kinds import check_kinds
from cosmodag.errors import DataError
from cosmodag.fit.dag.preparation import SCALES
from cosmodag.fit.input_checks import check_choice, check_count, check_number
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.view.fitted import FittedGraph

if TYPE_CHECKING:
    from cosmodag.io.tables.frames import Table

__all__ = ["Setting", "SharedParameters", "choice", "count"]

Setting = float | str
"""A number, or ``"auto"`` for a value chosen by a rule."""

_RAW_CUT = 0.3


def choice(default: str, names: Collection[str]) -> Any:
    """Declare a parameter whose value is one of `names`, checked when a fit begins."""
    return field(default=default, metadata={"names": names})


def count(default: int) -> Any:
    """Declare a parameter that is a positive integer, checked when a fit begins."""
    return field(default=default, metadata={"is_count": True})


@dataclass(kw_only=True, eq=False, repr=False)
class SharedParameters(FittedGraph):
    r"""Parameters that all learners share, and the settings that follow from them.

    Parameters are keyword-only dataclass fields. A learner inherits the fields of its base classes
    together with their descriptions.

    Parameters
    ----------
    threshold : float or "auto"
        Arcs with \|W\| at or below the threshold are left out of `adjacency_`. ``"auto"`` is 0
        after refinement and 0.3 without.
    knowledge : Knowledge, mapping or path, optional
        Background knowledge about the graph: a :class:`cosmodag.Knowledge`, a mapping of its
        parts, or a file.
    kinds : "auto", mapping or sequence
        Kinds of columns, if they are not what the values suggest: a mapping from names to
        ``"continuous"``, ``"binary"``, ``"categorical"``, ``"ordinal"``, ``"count"`` or a list of
        levels from low to high; or a sequence of such entries, one per column (`docs/kinds.md`).
        `kinds_` has the result.
    missing : {"error", "drop", "impute"}
        Refuse missing values (NaN); drop the rows that have one; or estimate the values from the
        others, without counting them as evidence (`docs/missing.md`). `missing_report_` has the
        details.
    scale : {"center", "standardize", "none"}
        Subtract the column means; also divide by the standard deviations, which removes the
        differences in variance that squared-error learners rely on, and gives a warning; or leave
        the data unchanged.
    lags : int
        For time series, the number k of earlier times that may affect a row. The graph is then
        that of a window of the times t, t − 1, …, t − k, with arcs into time t from the same and
        from earlier times (`docs/time.md`). 0 for independent rows.
    max_time : float, optional
        Time limit in seconds, after which the fit stops with the result so far and a warning.
    random_state : int, Generator, RandomState or None
        Random seed; an integer gives the same result, bit for bit, in every fit on one machine.
    verbose : bool
        Whether to show progress on stderr if it is a terminal.
    """

    threshold: Setting = "auto"
    knowledge: Any = None
    kinds: Any = "auto"
    missing: str = choice("error", CHOICES)
    scale: str = choice("center", SCALES)
    lags: int = 0
    max_time: float | None = None
    random_state: Any = 0
    verbose: bool = True

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
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
        """Find parameters whose values would have no effect, and the reason for each.

        A reason also says what to do instead. Defaults and ``"auto"`` are never listed. Some values
        have no effect only if the table has categories or counts.
        """
        return {}

    def refuse_idle(self, table: "Table | None" = None) -> None:
        """Raise a `DataError` for a parameter value that would have no effect."""
        for name, reason in self.idle_settings(table).items():
            raise DataError(f"{name} is {getattr(self, name)!r}, but {reason}.")

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement for d variables: None, ``"prune"`` or ``"order"``."""
        return None

    def why_no_levels(self, d: int) -> str | None:
        """Name the learner, with the setting that rules out categories; None if it can use them.

        Linear learners use categories in refinement, not in training.
        """
        if self.takes_levels and self.refinement_for(d) is not None:
            return None
        return type(self).__name__ + (" without refinement" if self.takes_levels else "")

    @property
    def raw_threshold(self) -> float:
        """Threshold on weights as optimised."""
        return _RAW_CUT if self.threshold == "auto" else float(self.threshold)

    @property
    def refined_threshold(self) -> float:
        """Threshold on the weights of arcs that refinement chose."""
        return 0.0 if self.threshold == "auto" else float(self.threshold)
