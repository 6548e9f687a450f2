"""Tests of a graph against data: implied independences, shuffled names."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cosmodag.assess.independences import (
    TESTS,
    Test,
    failing_share,
    holm,
    partial_correlation,
    residual_products,
    run_tests,
)
from cosmodag.assess.question_inputs import rows_to_test
from cosmodag.assess.validation import Validation, shuffled_shares
from cosmodag.data.diagnose.scale import standardised
from cosmodag.errors import DataError, name_list
from cosmodag.fit.dag.known import NOTHING, Known
from cosmodag.fit.input_checks import check_choice, check_count, check_level, refuse_lags
from cosmodag.fit.view.fitted import FittedGraph
from cosmodag.graph.dags import topological_order
from cosmodag.io.graphs.read_graph import arcs_among
from cosmodag.io.kind_names import ColumnKind
from cosmodag.io.tables.frames import as_table
from cosmodag.search.moments import Moments

# Every pair that no arc joins is a test, and a row of a table.
_MAX_VARIABLES = 2_000
# With fewer rows in which a variable was not set, its equation is not tested.
_FEWEST_ROWS = 2


def validate(
    model: FittedGraph,
    X: Any,
    *,
    interventions: Any,
    split: float | None,
    test: str,
    level: float,
    shuffles: int,
    max_time: float,
    random_state: int,
) -> Validation:
    """Test the graph of a fitted model; see :meth:`FittedGraph.validate`."""
    refuse_lags(model, "validate", "fit to early rows, and score later ones")
    if test != "auto":
        check_choice("test", test, TESTS)
    random = np.random.default_rng(random_state)
    begin = time.monotonic()
    _check_numbers(model.fitted_.texts, model.fitted_.kinds)
    model, given, is_same = rows_to_test(model, X, interventions, split, random)
    dag = model.fitted_
    values = given.X * given.preparation.factors
    if test == "auto":  # the test that assumes no more than the model
        linear = "residuals" if dag.noise == "non-gaussian" else "partial-correlation"
        test = linear if dag.is_linear else "curved"
    moments = dag.moments if is_same and test == "partial-correlation" else None
    check = _test_named(test, values, given.known, moments)
    return _validation(
        dag.arcs.toarray(),
        dag.order,
        dag.names,
        check,
        test=test,
        level=level,
        rows=float(len(values)),
        same_rows=is_same,
        shuffles=shuffles,
        random=random,
        deadline=begin + max_time,
    )


def validate_graph(
    graph: Any,
    X: Any,
    *,
    test: str = "partial-correlation",
    level: float = 0.01,
    shuffles: int = 100,
    max_time: float = 60.0,
    random_state: int = 0,
) -> Validation:
    """Test a given DAG against a table.

    Parameters
    ----------
    graph : (d, d) array, data frame or sparse matrix, networkx.DiGraph, or fitted model
        Arcs u → v as entries [u, v], or as edges between names of columns, which are numbers if the
        table has no names. A matrix without names has the order of the columns.
    X : table
        Rows from which the graph was not learnt.
    test : {"partial-correlation", "residuals", "curved"}
        Test of independence: for linear relations with Gaussian noise, for linear relations with
        any noise, or for relations of any form.
    level : float
        Probability with which a correct graph is rejected.
    shuffles : int
        Number of graphs with shuffled names to compare with.
    max_time : float
        Time in seconds after which no more shuffled graphs are tested.
    random_state : int
        Random seed.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> a, noise = random.normal(size=(2, 500))
    >>> X = np.column_stack([a, a + noise, a + random.normal(size=500)])
    >>> right, wrong = np.zeros((2, 3, 3))
    >>> right[0, 1] = right[0, 2] = 1  # 1 ← 0 → 2
    >>> wrong[1, 0] = wrong[2, 0] = 1  # 1 → 0 ← 2
    >>> validate_graph(right, X).rejected, validate_graph(wrong, X).rejected
    (False, True)
    """
    check_choice("test", test, TESTS)
    table = as_table(X)
    _check_numbers(table.names, table.kinds)
    is_array = isinstance(X, np.ndarray | list | tuple)
    names: list[Any] = list(range(len(table.names))) if is_array else list(table.names)
    arcs = arcs_among(graph, list(map(str, names)))
    values = np.asarray(table.X, np.float64)
    return _validation(
        arcs,
        topological_order(arcs),
        names,
        _test_named(test, values, NOTHING),
        test=test,
        level=level,
        rows=float(len(values)),
        same_rows=False,
        shuffles=shuffles,
        random=np.random.default_rng(random_state),
        deadline=time.monotonic() + max_time,
    )


def _check_numbers(names: Sequence[str], kinds: Sequence[ColumnKind] | None) -> None:
    """Refuse categories, for which there is no test of independence here."""
    named = [name for name, kind in zip(names, kinds or (), strict=False) if not kind.is_number]
    if named:
        hold = "hold" if len(named) > 1 else "holds"
        raise DataError(
            f"Independence is tested among numbers only, but {name_list(named)} {hold} categories: "
            "validate a graph without them."
        )


def _test_named(
    name: str, values: NDArray[np.float64], known: Known, moments: Moments | None = None
) -> Test:
    """Create a test; it leaves out variables with fewer than two measured values that were not set.

    `moments` are those of the values, if they are known.
    """
    rows = None if known.counted is None else known.counted > 0
    is_tested = np.full(values.shape[1], True)
    if rows is not None:
        is_tested = np.count_nonzero(rows, axis=0) >= _FEWEST_ROWS
    test: Test = partial(residual_products, standardised(values), rows, name == "curved")
    if name == "partial-correlation":
        if known.targets is not None:  # moments need some rows of every variable
            known = replace(known, targets=known.targets & is_tested)
        test = partial(partial_correlation, moments or known.moments(values))

    def test_measured(
        v: int, others: NDArray[np.intp], given: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if is_tested[v]:
            return test(v, others, given)
        return np.zeros(len(others)), np.full(len(others), np.nan)

    return test_measured


def _validation(
    arcs: NDArray[np.bool_],
    order: NDArray[np.intp],
    names: list[Any],
    check: Test,
    *,
    shuffles: int,
    random: np.random.Generator,
    deadline: float,
    level: float,
    **facts: Any,
) -> Validation:
    check_count("shuffles", shuffles, low=0)
    if len(names) > _MAX_VARIABLES:
        raise DataError(
            f"A graph of {len(names):,} variables implies too many independences to test: choose "
            f"at most {_MAX_VARIABLES:,} columns."
        )
    check_level(level)
    pairs = _pair_tests(arcs, order, names, check)
    p = pairs["p"].to_numpy()
    count = shuffles if len(p) else 0
    return Validation(
        independences=pairs,
        arcs=_arc_tests(arcs, names, check),
        level=level,
        p_value=float(pairs["p_corrected"].min()),
        failing_share=failing_share(p),
        shuffled=shuffled_shares(arcs, order, check, count, random, deadline),
        **facts,
    )


def _pair_tests(
    arcs: NDArray[np.bool_], order: NDArray[np.intp], names: list[Any], check: Test
) -> pd.DataFrame:
    """Test each pair that no arc joins given the parents of the later; smallest p-value first."""
    tested = run_tests(arcs, order, check)
    ranked = np.argsort(tested.p_values, kind="stable")
    corrected = holm(tested.p_values)
    return pd.DataFrame(
        {
            "first": [names[u] for u in tested.first[ranked]],
            "second": [names[v] for v in tested.second[ranked]],
            "given": [
                tuple(names[w] for w in np.flatnonzero(arcs[:, v])) for v in tested.second[ranked]
            ],
            "statistic": tested.statistics[ranked],
            "p": tested.p_values[ranked],
            "p_corrected": corrected[ranked],
        }
    )


def _arc_tests(arcs: NDArray[np.bool_], names: list[Any], check: Test) -> pd.DataFrame:
    """Test independence of the ends of each arc given other parents; largest p-value first."""
    tails, heads = np.nonzero(arcs)
    p_values = []
    for u, v in zip(tails.tolist(), heads.tolist(), strict=True):
        others = np.flatnonzero(arcs[:, v])
        p_values.append(float(check(v, np.array([u]), others[others != u])[1][0]))
    table = pd.DataFrame(
        {"cause": [names[u] for u in tails], "effect": [names[v] for v in heads], "p": p_values}
    )
    return table.sort_values("p", ascending=False, kind="stable", ignore_index=True)
