"""The exogenous-first order is that of a comparison of all pairs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from cosmodag.search.constraints import Constraints
from cosmodag.search.entropy.exogenous_first import exogenous_first_order
from cosmodag.search.entropy.measure import entropy_parts

Columns = NDArray[np.float64]


def residual(a: Columns, b: Columns) -> Columns:
    """Standardised residual of a on b, both centred."""
    rest = a - (a @ b) / (b @ b) * b
    return np.asarray(rest / rest.std())


def entropy(column: Columns) -> float:
    """Entropy of a standardised column, up to a constant."""
    return -entropy_parts(np.ascontiguousarray(column), np.ones(len(column)))[1]


def evidence_against(columns: Columns, i: int, rest: list[int]) -> float:
    total = 0.0
    for j in rest:
        if j != i:
            forward = entropy(columns[i]) + entropy(residual(columns[j], columns[i]))
            backward = entropy(columns[j]) + entropy(residual(columns[i], columns[j]))
            total += min(0.0, float(backward - forward)) ** 2
    return total


def order_by_all_pairs(columns: Columns) -> list[int]:
    columns, rest, order = columns.copy(), list(range(len(columns))), []
    while rest:
        evidence = [evidence_against(columns, i, rest) for i in rest]
        order.append(rest.pop(int(np.argmin(evidence))))
        for i in rest:
            columns[i] = residual(columns[i], columns[order[-1]])
    return order


def mixed_columns(variables: int, rows: int, seed: int) -> Columns:
    random = np.random.default_rng(seed)
    noise = random.gumbel(size=(variables, rows))
    mixing = np.eye(variables) + np.tril(random.uniform(-1, 1, (variables, variables)), -1)
    columns = (mixing @ noise)[random.permutation(variables)]
    columns -= columns.mean(axis=1, keepdims=True)
    return np.asarray(columns / columns.std(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(5))
def test_equals_comparing_all_pairs(seed: int) -> None:
    columns = mixed_columns(7, 80, seed)
    found = exogenous_first_order(columns)
    assert found.tolist() == order_by_all_pairs(columns)


def test_leaves_its_input_and_obeys_what_comes_before() -> None:
    columns = mixed_columns(6, 100, 0)
    given = columns.copy()
    before = np.triu(np.ones((6, 6), bool), 1)
    assert exogenous_first_order(columns, Constraints(before=before)).tolist() == list(range(6))
    assert (
        exogenous_first_order(columns, Constraints(before=before.T)).tolist()
        == list(range(6))[::-1]
    )
    np.testing.assert_array_equal(columns, given)


def test_stopped_early_is_still_an_allowed_order() -> None:
    before = np.triu(np.ones((6, 6), bool), 1)[::-1, ::-1]
    calls = iter([False, False])
    order = exogenous_first_order(
        mixed_columns(6, 100, 1), Constraints(before=before), lambda: next(calls, True)
    )
    assert order.tolist() == [5, 4, 3, 2, 1, 0]


def test_equal_and_empty_columns_are_ordered_somewhere() -> None:
    columns = mixed_columns(5, 60, 2)
    columns[3] = columns[0]
    columns[4] = 0.0
    order = exogenous_first_order(columns)
    assert sorted(order) == [0, 1, 2, 3, 4]
