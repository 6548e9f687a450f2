"""Inputs of the noise decision: a table, and what is known of its graph and its rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.moments import Moments

__all__ = ["NoiseInputs"]


@dataclass(frozen=True, eq=False)
class NoiseInputs:
    """A table, and what is known of its graph and its rows.

    Attributes
    ----------
    X : (n, d) array
        The table, in its own units, less ``means``.
    names : sequence of str
        Of the columns, for messages.
    moments : Moments, optional
        Of the counted rows, where some rows do not count.
    support, required, before : (d, d) arrays of bool, optional
        As for `refine_linear`; ``beyond_support`` is the part of ``before`` that support does not
        imply.
    counted : (n, d) array, optional
        0 where a variable was set.
    untouched : (n,) array of bool, optional
        Rows in which nothing was set.
    means : (d,) array, optional
        What was subtracted from the columns.
    given : (d,) array of bool, optional
        Columns without an equation, which have no noise.
    """

    X: NDArray[np.float64]
    names: Sequence[str]
    moments: Moments | None = None
    support: NDArray[np.bool_] | None = None
    required: NDArray[np.bool_] | None = None
    before: NDArray[np.bool_] | None = None
    beyond_support: NDArray[np.bool_] | None = None
    counted: NDArray[np.float64] | None = None
    untouched: NDArray[np.bool_] | None = None
    means: NDArray[np.float64] | None = None
    given: NDArray[np.bool_] | None = None

    @property
    def with_equations(self) -> NDArray[np.intp]:
        """Columns that have an equation, and thus noise."""
        return np.arange(self.X.shape[1]) if self.given is None else np.flatnonzero(~self.given)
