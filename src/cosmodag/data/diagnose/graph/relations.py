"""Findings about the arcs of a graph: curved relations, and noise that depends on a parent."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cosmodag.data.dependence import ArcTests, Floats, arc_tests, pair_tests, powers_of
from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.diagnose.graph.hidden.equations import Equations
from cosmodag.errors import name_list

__all__ = ["ArcTests", "curved_relations", "examine_arcs", "uneven_noise"]

# Standard errors beyond which an arc counts as refuted, the share of refuted arcs that makes a
# finding, and the false-alarm probability for the strongest arc.
_BEYOND, _SHARE, _CHANCE = 3.5, 0.05, 0.0005
# Standard errors within which the reverse of a curved arc counts as free of dependence.
_FREE = 2.0


def examine_arcs(
    X: Floats, arcs: NDArray[np.bool_], tested: NDArray[np.bool_] | None = None
) -> ArcTests:
    """Test for each arc whether the residual of its head is independent of its tail.

    With non-Gaussian noise, an arc in the wrong direction fails too. A failed arc is therefore
    tested again in reverse, with the other parents kept: if the reverse shows no dependence, the
    arc passes.

    Parameters
    ----------
    X : (n, d) array
        Rows in which every variable followed its own equation; columns that vary.
    arcs : (d, d) array of bool
        A DAG: True at [u, v] for u → v.
    tested : (d,) array of bool, optional
        Columns whose arcs are tested, by default all; few-valued columns have no additive noise.

    Examples
    --------
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> straight, bent = np.column_stack([x, x + noise]), np.column_stack([x, x + x**2 + noise])
    >>> arc = np.array([[False, True], [False, False]])
    >>> bool(abs(examine_arcs(straight, arc).curved[0]) < 3.5)
    True
    >>> bool(abs(examine_arcs(bent, arc).curved[0]) > 3.5)
    True
    """
    usable = np.ones(X.shape[1], np.bool_) if tested is None else tested
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    correlations = standard.T @ standard / len(X)
    parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    weights, _ = Equations(correlations, parents, len(X), 0.0).fitted
    tails, heads = np.nonzero(arcs & usable[:, None] & usable[None, :])
    tests = arc_tests(standard, standard - standard @ weights, tails, heads)
    curved, uneven = tests.curved, tests.uneven
    for place in np.flatnonzero(np.maximum(np.abs(curved), np.abs(uneven)) > _BEYOND).tolist():
        tail, head = int(tests.tails[place]), int(tests.heads[place])
        others = [head, *(cause for cause in parents[head] if cause != tail)]
        slopes = np.linalg.lstsq(
            correlations[np.ix_(others, others)], correlations[others, tail], rcond=None
        )[0]
        turned = powers_of(standard[:, tail] - standard[:, others] @ slopes)
        cause = powers_of(standard[:, head])
        plain = np.sqrt(len(X)) * float(turned.first @ cause.second)
        *_, bent, wider = pair_tests(turned, cause)
        limit = _BEYOND if abs(curved[place]) < _BEYOND else _FREE
        if max(map(abs, (plain, bent, wider))) < limit:
            curved[place], uneven[place] = bent, wider
    return tests


def curved_relations(tests: ArcTests, names: Sequence[str]) -> Iterator[Finding]:
    """Arcs whose head depends on the square of its tail."""
    found = _refuted(np.abs(tests.curved))
    if found.any():
        yield Finding(
            "curved",
            _ends(tests, found, names),
            float(found.mean()),
            "warning",
            f"Relations are curved in {found.sum()} of {len(found)} arcs "
            f"({_listed(tests, found, names)}), so a linear model adds superfluous arcs and the "
            "shape of its residuals does not identify directions: transform the columns "
            "(logarithms, roots), or use BlockSearch, or CosmoMLP where causes act jointly.",
        )


def uneven_noise(tests: ArcTests, names: Sequence[str]) -> Iterator[Finding]:
    """Arcs whose noise variance depends on the tail, without a curved relation."""
    is_straight = np.abs(tests.curved) <= _BEYOND
    found = _refuted(np.abs(tests.uneven) * is_straight)
    if found.any():
        yield Finding(
            "uneven_noise",
            _ends(tests, found, names),
            float(found.mean()),
            "warning",
            f"Noise depends on the cause in {found.sum()} of {len(found)} arcs "
            f"({_listed(tests, found, names)}), so the shape and the variance of the noise do not "
            "identify directions: take logarithms of columns that vary in proportion to "
            "their size, and trust only directions that the Gaussian score fixes "
            "(noise='gaussian').",
        )


def _refuted(sizes: Floats) -> NDArray[np.bool_]:
    """Arcs beyond 3.5 standard errors, if they are more and stronger than by chance."""
    if not len(sizes):
        return np.zeros(0, np.bool_)
    beyond: NDArray[np.bool_] = sizes > _BEYOND
    strong = sizes.max() > stats.norm.isf(_CHANCE / (4 * len(sizes)))
    return beyond & bool(strong and beyond.mean() > _SHARE)


def _ends(tests: ArcTests, found: NDArray[np.bool_], names: Sequence[str]) -> tuple[str, ...]:
    ends = {*tests.tails[found].tolist(), *tests.heads[found].tolist()}
    return tuple(names[column] for column in sorted(ends))


def _listed(tests: ArcTests, found: NDArray[np.bool_], names: Sequence[str]) -> str:
    pairs = zip(tests.tails[found].tolist(), tests.heads[found].tolist(), strict=True)
    return name_list([f"{names[tail]} → {names[head]}" for tail, head in pairs], most=3)
