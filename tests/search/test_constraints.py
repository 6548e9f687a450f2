"""Constraints on a graph: their closure, the rules for parents, and what is refused."""

import numpy as np
import pytest

from cosmodag.errors import DataError
from cosmodag.search.constraints import Constraints


def arcs(*pairs, d=4):
    mask = np.zeros((d, d), bool)
    for u, v in pairs:
        mask[u, v] = True
    return mask


def test_required_arcs_and_precedences_are_closed_together():
    given = Constraints(required=arcs((0, 1)), before=arcs((1, 2)))
    assert np.argwhere(given.precedence).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert Constraints(support=arcs((0, 1))).precedence is None
    assert Constraints().are_none
    assert not given.are_none


def test_rules_forbid_what_the_order_excludes_and_keep_what_is_required():
    given = Constraints(~arcs((3, 0)), arcs((3, 1)), arcs((1, 2)))
    rules = given.rules(4)
    assert rules[1, 3] == 2
    assert rules[0, 3] == 0  # not in the support
    assert rules[1, 2] == rules[3, 2] == rules[3, 1] == 0  # against the order
    assert rules[2, 1] == rules[2, 3] == rules[0, 1] == 1
    assert not rules.diagonal().any()


def test_orders_are_checked_and_repaired():
    given = Constraints(before=arcs((2, 0)))
    assert given.respected([0, 1, 2, 3]).tolist() == [1, 2, 0, 3]
    assert given.checked([2, 0, 1, 3], 4).tolist() == [2, 0, 1, 3]
    with pytest.raises(DataError, match="contradicts"):
        given.checked([0, 1, 2, 3], 4)
    with pytest.raises(DataError, match="once"):
        given.checked([2, 0, 0, 3], 4)


def test_cycles_and_shapes_are_refused():
    with pytest.raises(DataError, match="cycle"):
        _ = Constraints(required=arcs((0, 1)), before=arcs((1, 0))).precedence
    with pytest.raises(DataError, match=r"`before` must have shape \(5, 5\)"):
        Constraints(before=arcs((0, 1))).of_size(5)
