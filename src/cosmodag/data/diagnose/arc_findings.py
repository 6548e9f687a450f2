"""Findings about graphs: curved relations, noise that depends on a parent, and hidden causes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cosmodag.data.dependence import ArcTests, Floats, arc_tests, pair_tests, powers_of
from cosmodag.data.diagnose.findings import Finding, about, first_of
from cosmodag.data.diagnose.hidden_groups import Equations
from cosmodag.data.diagnose.scale import standardised
from cosmodag.errors import name_list
from cosmodag.graph.mixed.pag import PartialAncestralGraph
from cosmodag.graph.texts import counted

# Number of standard errors beyond which an arc counts as refuted, the fraction of refuted arcs that
# is reported, and the false-alarm probability for the strongest arc.
_BEYOND, _SHARE, _CHANCE = 3.5, 0.05, 0.0005
# Number of standard errors within which the reverse of a curved arc shows no dependence.
_FREE = 2.0

# Fraction of circles among the edge marks above which the graph says little about causes.
_MANY = 0.5


def examine_arcs(
    X: Floats,
    arcs: NDArray[np.bool_],
    tested: NDArray[np.bool_] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ArcTests:
    """Test for each arc whether the residual of its head is independent of its tail.

    With non-Gaussian noise, an arc in the wrong direction fails too, although the relation is
    linear. An arc that fails is therefore tested again in reverse, with the other parents kept: if
    the reverse shows no dependence, the arc passes.

    Parameters
    ----------
    X : (n, d) array
        Rows in which every variable followed its own equation; columns that vary.
    arcs : (d, d) array of bool
        A DAG: True at [u, v] for u → v.
    tested : (d,) array of bool, optional
        Columns whose arcs are tested, by default all; few-valued columns have no additive noise.
    should_stop : function
        Called before every test. Once it returns True, the remaining arcs are left out, and arcs
        that failed but were not tested in reverse pass.

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
    standard = standardised(X)
    correlations = standard.T @ standard / len(X)
    parents = [np.flatnonzero(column).tolist() for column in arcs.T]
    weights, _ = Equations(correlations, parents).fitted
    tails, heads = np.nonzero(arcs & usable[:, None] & usable[None, :])
    tests = arc_tests(standard, standard - standard @ weights, tails, heads, None, should_stop)
    curved, uneven = tests.curved, tests.uneven
    for place in np.flatnonzero(np.maximum(np.abs(curved), np.abs(uneven)) > _BEYOND).tolist():
        if should_stop():
            curved[place] = uneven[place] = 0.0
            continue
        tail, head = int(tests.tails[place]), int(tests.heads[place])
        others = [head, *(cause for cause in parents[head] if cause != tail)]
        slopes = np.linalg.lstsq(
            correlations[np.ix_(others, others)], correlations[others, tail], rcond=None
        )[0]
        residual = powers_of(standard[:, tail] - standard[:, others] @ slopes)
        cause = powers_of(standard[:, head])
        plain = np.sqrt(len(X)) * float(residual.first @ cause.second)
        *_, bent, wider = pair_tests(residual, cause)
        limit = _BEYOND if abs(curved[place]) < _BEYOND else _FREE
        if max(map(abs, (plain, bent, wider))) < limit:
            curved[place], uneven[place] = bent, wider
    return tests


def misfits(tests: ArcTests, names: Sequence[str]) -> list[Finding]:
    """Report curved arcs, and straight arcs whose noise variance depends on the tail."""
    is_straight = np.abs(tests.curved) <= _BEYOND
    return [
        *_finding_about_arcs(
            "curved",
            tests,
            np.abs(tests.curved),
            names,
            "Relations are curved in {arcs}, so a linear model adds superfluous arcs, and the "
            "shape of its residuals does not identify directions: transform the columns "
            "(logarithms, roots), or use BlockSearch, or CosmoMLP if causes act jointly.",
        ),
        *_finding_about_arcs(
            "uneven_noise",
            tests,
            np.abs(tests.uneven) * is_straight,
            names,
            "The noise depends on the cause in {arcs}, so the shape and the variance of the noise "
            "do not identify directions: take logarithms of columns that vary in proportion to "
            "their size, and trust only directions that the Gaussian score determines "
            "(noise='gaussian', --noise gaussian).",
        ),
    ]


def _finding_about_arcs(
    kind: str, tests: ArcTests, sizes: Floats, names: Sequence[str], sentence: str
) -> list[Finding]:
    """Report the arcs beyond 3.5 standard errors, if chance does not explain their number and size.

    ``{arcs}`` in the sentence stands for their number and the first three.
    """
    found = sizes > _BEYOND
    if not found.any() or found.mean() <= _SHARE:
        return []
    if sizes.max() <= -ndtri(_CHANCE / (4 * len(sizes))):
        return []
    tails, heads = tests.tails[found].tolist(), tests.heads[found].tolist()
    listed = name_list(
        [f"{names[u]} → {names[v]}" for u, v in zip(tails, heads, strict=True)], most=3
    )
    text = sentence.replace("{arcs}", f"{len(tails)} of {counted(len(found), 'arc')} ({listed})")
    columns = [names[column] for column in sorted({*tails, *heads})]
    return about(kind, columns, text, found.mean())


def of_pag(graph: PartialAncestralGraph) -> list[Finding]:
    """Report ↔ edges, and many undetermined edge marks.

    ``hidden_pairs`` is a warning that pairs of variables seem to have a hidden common cause;
    ``open_marks`` is a notice that more than half of all marks are circles.

    >>> graph = PartialAncestralGraph(("dose", "level"), [[0, 2], [2, 0]])
    >>> [finding.sentence for finding in of_pag(graph)]  # doctest: +NORMALIZE_WHITESPACE
    ['dose ↔ level: neither causes the other, but they have a common cause that is not in the table.
    Measure it if you can, and do not infer an effect between them from the graph.']
    """
    pairs = [(str(u), str(v)) for u, symbol, v in graph.edges() if symbol == "↔"]
    listed = first_of([f"{u} ↔ {v}" for u, v in pairs], 3)
    sentence = (
        f"{listed}: neither causes the other, but they have a common cause that is not in the "
        "table. Measure it if you can, and do not infer an effect between them from the graph."
    )
    columns = list(dict.fromkeys(name for pair in pairs for name in pair))
    found = about("hidden_pairs", columns, sentence, len(pairs))
    marks = int((graph.marks != 0).sum())
    share = graph.open_marks / marks if marks else 0.0
    if share <= _MANY:
        return found
    sentence = (
        f"{graph.open_marks} of {marks} edge marks of the partial ancestral graph are open: if "
        "causes may be hidden, the table does not distinguish causes from effects there. "
        "Interventions, or tiers in the knowledge, can."
    )
    return [*found, Finding("open_marks", (), share, "notice", sentence)]
