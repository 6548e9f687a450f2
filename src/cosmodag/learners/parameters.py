"""Parameters that all learners share: their meaning, their values, and the rules behind "auto"."""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any

from cosmodag.data.kinds import check_kinds
from cosmodag.fit.checks import check_choice, check_count, check_number, check_restarts
from cosmodag.fit.fitted import FittedGraph
from cosmodag.fit.missing import CHOICES
from cosmodag.fit.preparation import SCALES

__all__ = ["METHODS", "NOISES", "SEARCHED", "Setting", "SharedParameters", "choice", "count"]

Setting = float | str
"""A number, or ``"auto"`` for the one that a rule gives."""

METHODS = ("prune", "order")
SEARCHED = 50_000
"""Variables up to which ``refine="auto"`` searches for a better order (times:
``benchmarks/answer_large.md``); the correlations then take 10 GB."""

NOISES = ("auto", "gaussian", "equal-variance", "non-gaussian")

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
    refine : {"auto", "prune", "order", None}
        Use of the learnt order. ``"prune"`` regresses each variable on those before it and keeps
        the arcs that the evidence supports; ``"order"`` also searches for a better order, from the
        learnt one and from others; ``"auto"`` is ``"order"`` up to 50,000 variables and ``"prune"``
        beyond. ``None`` keeps the optimised weights.
    noise : {"auto", "gaussian", "equal-variance", "non-gaussian"}
        What refinement assumes of the noise: Gaussian with one variance per variable (units do not
        matter, and only the equivalence class is decided), Gaussian with one common variance, or
        not Gaussian. ``"auto"`` decides from the data; ``noise_`` and ``noise_reason_`` report the
        decision.
    restarts : int or "auto"
        Maximal number of searches from perturbed copies of the best order, with
        ``refine="order"``; 0 for none. They end early if several in a row find nothing. ``"auto"``
        is :func:`cosmodag.order.default_restarts` of the noise assumed: 40,000 / d, at most 200,
        with Gaussian noise; 2,000 / d with noise that is not Gaussian; none with equal variances,
        where they found nothing better. It is 2,000 / d, at most 50, for tables of categories,
        counts or curves, and none beyond 1,000 variables unless rows are at most a quarter of them.
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

    def check_settings(self) -> None:
        """Refuse parameter values that cannot be used, in one sentence each."""
        if self.threshold != "auto":
            check_number("threshold", self.threshold, low=0.0, low_allowed=True)
        check_kinds(self.kinds)
        check_count("lags", self.lags, low=0)
        for part in fields(self):
            if "names" in part.metadata:
                check_choice(part.name, getattr(self, part.name), part.metadata["names"])
            elif "is_count" in part.metadata:
                check_count(part.name, getattr(self, part.name))
        if getattr(self, "max_time", None) is not None:
            check_number("max_time", self.max_time, low=0.0)
        if getattr(self, "refine", None) is not None:
            check_choice("refine", self.refine, ("auto", *METHODS))
        if hasattr(self, "noise"):
            check_choice("noise", self.noise, NOISES)
        check_restarts(getattr(self, "restarts", "auto"), getattr(self, "refine", "auto"))

    @property
    def _restarts(self) -> int | None:
        restarts = getattr(self, "restarts", "auto")
        return None if restarts == "auto" else int(restarts)

    def refinement_for(self, d: int) -> str | None:
        """Choose the method of refinement for d variables: None, ``"prune"`` or ``"order"``."""
        refine: str | None = getattr(self, "refine", None)
        if refine == "auto":
            return "order" if d <= SEARCHED else "prune"
        return refine

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
