"""A table of categories, prepared for a search by counting."""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.counted.count_state import Counted
from cosmodag.search.counted.interactions import interacting
from cosmodag.search.gaussian_scores import default_penalty

# Maximum number of cells of a table of counts, which are numbers of four bytes.
_MOST_CELLS = 1 << 23

Bools = NDArray[np.bool_]


class CellPrice(NamedTuple):
    """What a table of counts costs, subtracted from its log-likelihood.

    With q combinations of the parents' levels and r levels, it is T(q r) − T(q), where T(K) is
    ``per_cell`` log(n) K plus ``complexity`` times the log of the normaliser of the maximum
    likelihood of a distribution of K values. Any such score is the same for all graphs of an
    equivalence class. ``per_arc`` times half of `default_penalty` is added for each parent.
    """

    name: str
    per_cell: float = 0.0
    complexity: float = 0.0
    per_arc: float = 0.0


BIC = CellPrice("BIC", per_cell=0.5)
QUOTIENT_NML = CellPrice("quotient NML", complexity=1.0)
"""Quotient normalised maximum likelihood (Silander, Leppä-aho, Jääsaari and Roos 2018)."""

DEAR, CHEAP = (QUOTIENT_NML._replace(name=f"NML + {k}", per_arc=float(k)) for k in (2, 1))
"""Prices by which categories are searched, the dearer one first.

BIC loses arcs between variables of many levels, quotient NML alone adds arcs by chance. Errors of
the equivalence class by BIC, quotient NML, `CHEAP` and `DEAR`, on one sample each: win95pts, 500
rows, 76, 78, 46, 45; hailfinder, 10,000 rows, 59, 49, 49, 21; alarm, 500 rows, 31, 18, 13, 13;
hepar2, 5,000 rows, 84, 73, 68, 81; mildew, 5,000 rows, 36, 33, 33, 27; barley, 5,000 rows, 62, 34,
34, 34. BDeu is left out: it adds more arcs than quotient NML where levels determine others.
"""


@dataclass(frozen=True, eq=False)
class CountedProblem:
    """Levels of categories, rows that count, and constraints of a search by counting.

    Attributes
    ----------
    levels : (n, d) array of int
        Level numbers from zero.
    counts : (d,) array of int
        Numbers of levels.
    counted : (n, d) array of bool, optional
        Whether a row counts in the equation of a variable.
    share : float
        Weight of a row: the share of measured values where others were imputed.
    support, required, before : (d, d) arrays of bool, optional
        At [u, v], whether u → v may exist, whether it must exist, and whether u must come before v
        (transitively closed).
    """

    levels: NDArray[np.int64]
    counts: NDArray[np.int64]
    counted: Bools | None = None
    share: float = 1.0
    support: Bools | None = None
    required: Bools | None = None
    before: Bools | None = None

    @property
    def variables(self) -> int:
        """Number of variables d."""
        return len(self.counts)

    @property
    def precedence(self) -> Bools | None:
        """(d, d): whether u must come before v, including required arcs; None if unconstrained."""
        parts = [part for part in (self.before, self.required) if part is not None]
        return np.asarray(np.any(parts, axis=0), np.bool_) if parts else None

    @cached_property
    def has_room(self) -> Bools:
        """(d,): whether the counts by the required parents alone have no more cells than rows."""
        n, d = self.levels.shape
        required = np.zeros((d, d), np.bool_) if self.required is None else self.required
        logs = np.log(self.counts)
        cells = logs @ required + logs
        return np.asarray((cells <= math.log(max(n, 1)) + 1e-9) | ~required.any(axis=0))

    @property
    def canonical(self) -> "CountedProblem":
        """The same problem with its columns in the order of `places`."""
        return self.with_columns(self.places)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Columns in an order computed from their content, not from their order in the table.

        Equal columns keep their order.
        """
        names = [hashlib.sha256(column.tobytes()).digest() for column in self._columns]
        return np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)

    @property
    def _columns(self) -> NDArray[np.int64]:
        columns = self.levels if self.counted is None else 2 * self.levels + self.counted
        return np.ascontiguousarray(np.asarray(columns, np.int64).T)

    @cached_property
    def different(self) -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.int64]]:
        """Different rows as codes (d, m), how often each occurs (groups, m), and groups (d,)."""
        n, d = self.levels.shape
        counted = np.ones((n, d), np.bool_) if self.counted is None else self.counted
        masks, group = np.unique(counted, axis=1, return_inverse=True)
        rows, which = np.unique(self.levels.astype(np.uint16), axis=0, return_inverse=True)
        which = which.ravel()
        weights = [np.bincount(which[mask], minlength=len(rows)) for mask in masks.T]
        codes = np.ascontiguousarray(rows.T)
        return codes, np.array(weights, np.int32), group.ravel().astype(np.int64)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """(m, 3): a variable, and two possible causes that show an effect only together."""
        codes, weights, _ = self.different
        return interacting(codes, weights.max(axis=0), self.counts, self._logs)

    @property
    def _logs(self) -> NDArray[np.float64]:
        counts = np.arange(len(self.levels) + 1.0)
        return np.asarray(counts * np.log(np.maximum(counts, 1.0)))

    def state(self, cost: CellPrice) -> Counted:
        """Arrays of the search with a price of cells."""
        d = self.variables
        codes, weights, group = self.different
        rows = np.maximum(weights.sum(axis=1)[group].astype(np.float64), 1.0)
        used = np.maximum(self.share * rows, 2.0)
        per_arc = [0.5 * cost.per_arc * default_penalty(n, d) for n in used.tolist()]
        settings = np.stack(
            [
                self.counts.astype(np.float64),
                group.astype(np.float64),
                rows,
                np.full(d, self.share),
                cost.per_cell * np.log(used),
                np.full(d, cost.complexity),
                np.array(per_arc),
                np.full(d, -math.inf),
            ]
        )
        pairs = self.pairs[np.argsort(self.pairs[:, 0], kind="stable")]
        return Counted(
            codes,
            weights,
            settings,
            self._logs,
            self._rules(),
            self._before(),
            _words(d),
            np.ascontiguousarray(pairs[:, 1:].T),
            np.searchsorted(pairs[:, 0], np.arange(d + 1)),
        )

    def _rules(self) -> NDArray[np.uint8]:
        d = self.variables
        rules = np.ones((d, d), np.uint8)
        if self.support is not None:
            rules[~self.support.T] = 0
        if self.precedence is not None:
            rules[self.precedence] = 0
        if self.required is not None:
            rules[self.required.T] = 2
        rules[~self.has_room] = 0
        np.fill_diagonal(rules, 0)
        return rules

    def _before(self) -> NDArray[np.uint8]:
        d, bound = self.variables, self.precedence
        return np.zeros((d, d), np.uint8) if bound is None else bound.astype(np.uint8)

    def cells(self) -> int:
        """Largest number of cells that is counted: a combination of levels for each row."""
        return int(min(len(self.levels) * self.counts.max(), _MOST_CELLS))

    def with_columns(self, places: NDArray[np.int64]) -> "CountedProblem":
        """Select columns, in a new order."""
        square = np.ix_(places, places)
        return CountedProblem(
            self.levels[:, places],
            self.counts[places],
            None if self.counted is None else self.counted[:, places],
            self.share,
            None if self.support is None else self.support[square],
            None if self.required is None else self.required[square],
            None if self.before is None else self.before[square],
        )


def _words(d: int) -> NDArray[np.int64]:
    random = np.random.default_rng(0)
    return random.integers(1, 2**63 - 1, (2, d, d + 1), dtype=np.int64)
