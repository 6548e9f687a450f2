"""What is scored, and what is allowed: the rules of pruning and searching."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import borrowing
from cosmodag.refinement.moments import Moments
from cosmodag.refinement.scores import growing_penalty
from cosmodag.refinement.search.grow import extend, start
from cosmodag.refinement.search.shrink import shrink

__all__ = ["Rules", "grow_among", "local_score", "may_be_parent", "rules_of", "worth"]


class Rules(NamedTuple):
    """What is scored, and what is allowed: nothing here changes during a search."""

    correlations: NDArray[np.float64]  # (g, d, d)
    group: NDArray[np.int64]
    half_rows: NDArray[np.float64]  # per group
    limit: NDArray[np.int64]  # of parents, per group
    penalty: float
    gain_share: NDArray[np.float64]  # 1 − exp(−growing penalty / half_rows): least gain of a step
    rise_share: NDArray[np.float64]  # exp(penalty / half_rows) − 1: least rise worth keeping one
    support: NDArray[np.bool_]  # (d, d), or empty where every arc may exist
    before: NDArray[np.bool_]  # (d, d), or empty where every order may
    required_start: NDArray[np.int64]  # (d + 1,)
    required: NDArray[np.int64]
    precision: NDArray[np.float64]  # scale² / σ² per variable; −1 for scale-free scores
    slack: float  # how far below the best a trial may seem to be and still be worth finishing


def rules_of(
    moments: Moments,
    penalty: float,
    support: NDArray[np.bool_] | None,
    required: NDArray[np.bool_] | None,
    before: NDArray[np.bool_] | None,
) -> Rules:
    """Gather what a search obeys; scale-free unless ``precision`` is replaced."""
    d = moments.variables
    none = np.zeros((0, 0), np.bool_)
    if required is None:
        required_start, tails = np.zeros(d + 1, np.int64), np.zeros(0, np.int64)
    else:
        heads, tails = np.nonzero(np.asarray(required, np.bool_).T)
        required_start = np.searchsorted(heads, np.arange(d + 1)).astype(np.int64)
    return Rules(
        moments.correlations,
        moments.group,
        0.5 * moments.rows,
        np.maximum(np.floor(moments.rows) - 2, 0).astype(np.int64),
        float(penalty),
        -np.expm1(-growing_penalty(penalty, d) / (0.5 * moments.rows)),
        np.expm1(penalty / (0.5 * moments.rows)),
        none if support is None else np.ascontiguousarray(support, np.bool_),
        none if before is None else np.ascontiguousarray(before, np.bool_),
        required_start,
        tails.astype(np.int64),
        np.full(d, -1.0),
        np.inf,
    )


@borrowing
def local_score(rules: Any, v: int, parents: int, residual: float) -> float:
    """Score of one variable: scale-free, or with the noise variance given."""
    precision = rules.precision[v]
    fit = np.log(residual) if precision < 0 else residual * precision
    return float(-rules.half_rows[rules.group[v]] * fit - rules.penalty * parents)


@borrowing
def may_be_parent(rules: Any, x: int, v: int) -> bool:
    """Tell whether the arc x → v may exist at all."""
    if len(rules.support) and not rules.support[x, v]:
        return False
    return not (len(rules.before) and rules.before[v, x])


@borrowing
def worth(rules: Any, v: int) -> tuple[int, float, float, int, int, int]:
    """Group, share of a gain, share of a rise, limit, and required parents (from, to) of v."""
    g = rules.group[v]
    first, last = rules.required_start[v], rules.required_start[v + 1]
    limit = max(rules.limit[g], last - first)
    return g, rules.gain_share[g], rules.rise_share[g], limit, first, last


@borrowing
def grow_among(rules: Any, v: int, m: int, s: Any) -> tuple[int, float, int, float]:
    """Grow–shrink of v among the m candidates in scratch.

    Gives the length of the path, the variance it leaves, the parents kept, and what they leave.
    """
    g, share, rise_share, limit, first, last = worth(rules, v)
    correlations = rules.correlations[g]
    forced, variance = start(correlations, v, m, rules.required[first:last], s)
    k, variance = extend(correlations, m, forced, variance, share, limit, s)
    parents, residual = shrink(k, forced, variance, rise_share, s)
    return k, variance, parents, residual
