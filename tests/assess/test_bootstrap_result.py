"""Counts equal the graphs of the fits; a consensus is acyclic and obeys knowledge."""

import numpy as np
import pytest

from cosmodag import Knowledge
from cosmodag.assess.bootstrapping import BootstrapResult
from cosmodag.assess.bootstrapping.resample_fits import Fit
from cosmodag.data.knowledge import Bounds

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
NOTHING, ALL = np.zeros((3, 3), bool), np.ones((3, 3), bool)


def result_of(
    fits: list[tuple[np.ndarray, np.ndarray]],
    bounds: Bounds | None = None,
    positions: tuple[int, ...] = (0, 1, 2),
) -> BootstrapResult:
    """Count fits, each given by its arcs and by those arcs that are directed."""
    d = len(fits[0][0])
    result = BootstrapResult(list("abc")[:d], list(range(len(fits))), "bootstrap", bounds)
    for place, (arcs, directed) in enumerate(fits):
        result.add(Fit(place, arcs, directed, np.array(positions[:d])))
    return result


def test_the_more_probable_arcs_come_first():
    cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)  # 0 → 1 → 2 → 0
    dags = [cycle & (np.arange(9).reshape(3, 3) != drop) for drop in (1, 5, 6, 6)]
    result = result_of([(dag, dag) for dag in dags])
    assert result.arc_probabilities[2, 0] == 0.5
    assert result.consensus(0.5).astype(int).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert result.consensus(0.9).sum() == 0
    assert result.consensus_class(0.5)[1, 0]  # a chain can be reversed within its class


def test_a_required_arc_directs_the_class_of_the_consensus():
    first = CHAIN & [True, True, False]
    result = result_of([(CHAIN, NOTHING)], Bounds.of(ALL, first, NOTHING))
    np.testing.assert_array_equal(result.consensus_class(), CHAIN)


def test_a_forbidden_arc_is_not_in_the_class_of_the_consensus():
    against = CHAIN.T & [True, False, False]
    result = result_of([(CHAIN, NOTHING)], Bounds.of(~against, NOTHING, NOTHING))
    np.testing.assert_array_equal(result.consensus_class(), CHAIN)


def test_interventions_direct_the_class_of_the_consensus():
    result = result_of([(CHAIN, NOTHING)])
    assert result.consensus_class()[1, 0]
    result.target_sets = np.array([[False, False, False], [True, False, False]])
    np.testing.assert_array_equal(result.consensus_class(), CHAIN)


def test_paths_of_several_fits_do_not_lead_into_an_earlier_tier():
    """No fit has a path from c, of the second tier, to a, of the first; their arcs together do."""
    bounds = Knowledge(tiers=[["a"], ["c"]]).bounds(list("abc"))
    first, second = np.zeros((2, 3, 3), bool)
    first[1, 0] = second[2, 1] = True
    result = result_of([(first, NOTHING), (second, NOTHING), (second, NOTHING)], bounds)
    np.testing.assert_array_equal(result.consensus(0.3), second)


def test_a_threshold_of_zero_takes_no_arc_that_was_never_found():
    arc = np.array([[False, True], [False, False]])
    result = result_of([(arc, arc)])
    assert result.consensus(0.0).sum() == 1
    assert result.edge_probabilities.tolist() == [[0, 1], [1, 0]]
    assert result.facts()["done"] == 1


def test_an_edge_is_directed_one_way_the_other_way_or_not():
    """Of four fits, one has a → b, one b → a, and two leave the edge undirected."""
    result = result_of([(CHAIN, CHAIN), (CHAIN.T, CHAIN.T), (CHAIN, NOTHING), (CHAIN.T, NOTHING)])
    assert result.edge_probabilities[0, 1] == result.edge_probabilities[1, 0] == 1
    assert result.direction_probabilities[0, 1] == result.direction_probabilities[1, 0] == 0.25
    assert result.undirected_shares[0, 1] == 0.5
    assert result.arc_probabilities[0, 1] == 0.5


def test_a_reversible_arrow_is_never_certified():
    result = result_of([(CHAIN, NOTHING)] * 20)
    assert result.arc_probabilities[0, 1] == 1  # all fits chose the same member of the class
    assert result.direction_probabilities.max() == 0
    assert "2 edges with probability 0.95 or more, 0 of them directed" in repr(result)


def test_the_table_tells_an_arrow_from_its_reverse():
    lone = CHAIN & [True, True, False]
    result = result_of([(lone, lone), (lone, lone), (lone.T, lone.T), (lone, NOTHING)])
    (row,) = result.edges().to_dict("records")
    assert (row["cause"], row["effect"]) == ("a", "b")
    shares = {name: row[name] for name in ("joined", "directed", "reversed", "undirected")}
    assert shares == {"joined": 1, "directed": 0.5, "reversed": 0.25, "undirected": 0.25}
    assert (row["p_edge"], row["p_direction"]) == (1, 0.5)


def test_order_is_told_from_its_reverse():
    result = result_of([(NOTHING, NOTHING)], positions=(2, 0, 1))  # b, c, a
    assert result.order_probabilities.tolist() == [[0, 0, 0], [1, 0, 1], [1, 0, 0]]


def test_doubts_mark_shares_as_no_probabilities():
    result = result_of([(CHAIN, CHAIN)])
    result.doubts = ["Relations are curved."]
    assert result.edge_probabilities[0, 1] == result.direction_probabilities[0, 1] == 1
    table = result.edges()
    assert table["p_edge"].tolist() == table["joined"].tolist() == [1, 1]
    assert set(table["shares"]) == {"not probabilities: Relations are curved"}
    assert "not probabilities" in repr(result)
    assert result_of([(CHAIN, CHAIN)]).note == "probabilities"
    assert result.facts()["doubts"] == ["Relations are curved."]


@pytest.mark.parametrize("least", [0.6, 1.0])
def test_rare_pairs_can_be_left_out(least):
    lone = CHAIN & [True, True, False]
    result = result_of([(CHAIN, NOTHING), (lone, NOTHING)])
    assert result.edges(least)["effect"].tolist() == ["b"]


def test_shares_are_of_the_resamples_that_were_fitted():
    result = BootstrapResult(list("abc"), list(range(4)), "bootstrap")
    for place in (1, 3):
        result.add(Fit(place, CHAIN, CHAIN, np.arange(3)))
    np.testing.assert_array_equal(result.direction_probabilities, CHAIN)
    np.testing.assert_array_equal(result.edge_probabilities, CHAIN | CHAIN.T)
