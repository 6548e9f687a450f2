"""The effect of one variable on another, as a result for the user."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from cosmodag.data.diagnose.findings import first_of


@dataclass(frozen=True)
class Effect:
    """The effect of one variable on another, with an interval and its basis.

    Attributes
    ----------
    cause, effect
        Names of the variables.
    direct : bool
        Whether this is the direct effect, along the arc alone, with all other causes held fixed.
    start, end : float or str
        The two values, or labels, of the cause that are compared.
    estimate : float
        Change of the mean of the effect in the fitted graph. If `identified` is False, other graphs
        fit equally well, and for linear equations `possible` has the change in each.
    low, high : float
        Ends of the interval, over all graphs of the class; NaN if there is no interval.
    level : float
        Nominal probability that the interval contains the true effect.
    possible : tuple of float
        Effects in the graphs of the class, ascending; for equations that are not linear, only the
        effect in the fitted graph.
    identified : bool
        Whether all graphs of the class agree on the effect.
    adjustment : tuple
        Variables that the estimate is adjusted for.
    paths : tuple of tuples
        Directed paths from cause to effect in the fitted graph, shortest first, at most 50.
    interval_from : str
        Source of the interval, in words.
    rests_on : tuple of str
        Bases of the directions of the arcs on these paths and into the cause (``arrow_basis_``). If
        there is no effect, of the arcs that exclude one, or of those in `against`.
    grade : str
        The least firm grade of these directions (``arrow_grades_``).
    against : tuple of pairs
        If there is no effect: arcs that are turned in graphs of nearly the same score that have
        one.
    """

    cause: Any
    effect: Any
    direct: bool
    start: float | str
    end: float | str
    estimate: float
    low: float
    high: float
    level: float
    possible: tuple[float, ...]
    identified: bool
    adjustment: tuple[Any, ...]
    paths: tuple[tuple[Any, ...], ...]
    interval_from: str
    rests_on: tuple[str, ...]
    grade: str
    against: tuple[tuple[Any, Any], ...] = ()

    def __str__(self) -> str:
        """Return the answer in plain words."""
        sentences = [self._answer()]
        if self.estimate:
            sentences.append(self._adjusted())
        if self.rests_on and not self.against:
            bases = ", ".join(self.rests_on)
            sentences.append(f"The directions rest on: {bases} ({self.grade}).")
        return " ".join(sentences)

    @property
    def is_nothing(self) -> bool:
        """Whether there is no effect, because no graph of the class has a directed path."""
        return self.identified and not any(self.possible) and not self.paths

    def facts(self) -> dict[str, Any]:
        """Return plain values, for files: the fields, and the answer in words."""
        return {**asdict(self), "sentence": str(self)}

    def _answer(self) -> str:
        kind = "direct effect" if self.direct else "effect"
        if self.is_nothing:
            link = "arc" if self.direct else "directed path"
            where = "this graph or any that fits equally well"
            return (
                f"No {kind} of {self.cause} on {self.effect} was found: no {link} leads from "
                f"{self.cause} to {self.effect} in {where}.{self._nearby()}{self._interval()}"
            )
        size, step = self.estimate, self._step()
        if not self.identified:
            values = (
                f"from {_number(self.possible[0])} to {_number(self.possible[-1])} in graphs that "
                f"fit equally well, {_number(size)} in this one, for {step}."
            )
            if len(self.possible) == 1:
                values = (
                    f"{_number(size)} in this graph, for {step}, and possibly another in graphs "
                    "that fit equally well."
                )
            return (
                f"The data leave the {kind} of {self.cause} on {self.effect} open: {values}"
                f"{self._interval()}"
            )
        verb = "raises" if size > 0 else "lowers" if size < 0 else "changes"
        by = f"{verb} {self.effect} by {_number(abs(size))}"
        held = ", all its other causes held fixed" if self.direct else ""
        return f"{step[0].upper()}{step[1:]} {by}{held}.{self._interval()}"

    def _nearby(self) -> str:
        """Name the arcs that are turned in graphs nearby that have an effect."""
        if not self.against:
            return ""
        listed = first_of([f"{u} → {v}" for u, v in self.against], 3, "arc")
        verb = "is" if len(self.against) == 1 else "are"
        bases = ", ".join(self.rests_on)
        return (
            f" Graphs of nearly the same score have one, in which {listed} {verb} turned "
            f"({bases}: {self.grade})."
        )

    def _step(self) -> str:
        if isinstance(self.start, str) or isinstance(self.end, str):
            return f"moving {self.cause} from {self.start} to {self.end}"
        if math.isclose(self.end - self.start, 1.0):
            return f"raising {self.cause} by 1"
        return f"moving {self.cause} from {_number(self.start)} to {_number(self.end)}"

    def _interval(self) -> str:
        if math.isnan(self.low):
            return f" There is no interval: {self.interval_from}."
        if self.low == self.high == 0.0:
            return ""
        ends = f"{_number(self.low)} to {_number(self.high)}"
        return f" The {100 * self.level:g} % interval is {ends} ({self.interval_from})."

    def _adjusted(self) -> str:
        if not self.adjustment:
            return "No adjustment is needed."
        return f"It is adjusted for {', '.join(map(str, self.adjustment))}."


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
