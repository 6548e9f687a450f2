"""What passes between the stations of a fit: tasks, what is learnt, what is refined from it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.fit.equations import FittedEquations, LinearEquations

if TYPE_CHECKING:
    from cosmodag.fit.prepare import Prepared
    from cosmodag.learners.base import StructureLearner

__all__ = ["FitTask", "Learning", "Learnt"]


class FitTask(NamedTuple):
    """A learner, and the prepared table that it is to be fitted to."""

    learner: "StructureLearner"
    given: "Prepared"


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a learner found, before it is made a DAG.

    Attributes
    ----------
    raw_weights
        (d, d) strengths as optimised; for very many variables a sparse matrix of those above the
        threshold; None where a learner has orders only, and leaves the weights to refinement.
    order
        Causal order, causes first; None to take it from the weights.
    stopped
        Why learning ended early (``"time"``, ``"interrupt"``), or None.
    extra
        Fitted attributes of the learner's own, by name.
    orders
        Further orders that refinement starts from, by name.
    scale_free
        Whether refinement adds only starts that do not depend on units.
    equations
        The equations as optimised, with no arc cut.
    """

    raw_weights: Any
    order: NDArray[np.intp] | None = None
    stopped: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    orders: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    scale_free: bool = False
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)

    def predict(self, data: NDArray[Any]) -> NDArray[np.float64]:
        """Every variable as the equations as optimised give it, in prepared units."""
        return np.asarray(self.equations.predict(data, self.raw_weights), np.float64)


class Learning(NamedTuple):
    """One of many tasks whose learning has ended, or can be done at once.

    Attributes
    ----------
    place
        The place of the task among those given.
    stopped
        Why it was cut short (``"time"``, ``"interrupt"``), or None.
    read
        Gives what was learnt. Its argument is the prepared table, the rows of a resample taken.
        May be called from another thread; raises `DivergenceError` where training diverged.
    """

    place: int
    stopped: str | None
    read: "Callable[[Prepared], Learnt]"
