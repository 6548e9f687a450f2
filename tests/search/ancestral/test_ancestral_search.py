"""Search for ancestral graphs: their likelihood, and the hidden causes that they reveal."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from cosmodag.graph.mixed.ancestral import ancestral_graph, pag_of_ancestral_graph, pag_of_dag
from cosmodag.graph.mixed.marks import ARROW, CIRCLE, TAIL, Separation
from cosmodag.search import choose_parents
from cosmodag.search.ancestral import pag_by_score, pag_by_tests
from cosmodag.search.ancestral.graph import AncestralGraph
from cosmodag.search.ancestral.likelihood import AncestralScore
from cosmodag.search.ancestral.partial_correlations import PartialCorrelations
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import default_penalty, gaussian_total
from cosmodag.search.moments import Moments

# 0 → 1 ← hidden 4 → 2 ← 3: variables 0 and 3 reveal that 1 and 2 only have a common cause.
HIDDEN = np.zeros((5, 5))
HIDDEN[0, 1] = HIDDEN[4, 1] = HIDDEN[4, 2] = HIDDEN[3, 2] = 1.0
TRUTH = pag_of_ancestral_graph(ancestral_graph(HIDDEN, range(4)))


def sample(weights: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(n, len(weights)))
    return noise @ np.linalg.inv(np.eye(len(weights)) - weights)


def found_dag(moments: Moments, order: list[int]) -> np.ndarray:
    return choose_parents(moments, np.array(order)).adjacency().toarray()


def graph_of(d: int, arrows: list[tuple[int, int]], spouses: list[tuple[int, int]]):
    both_ways = [*spouses, *((v, u) for u, v in spouses)]
    sets = [
        [frozenset(u for u, v in edges if v == w) for w in range(d)]
        for edges in (arrows, both_ways)
    ]
    return AncestralGraph(*map(tuple, sets))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 2, 1], [3, 0, 1, 2]])
def test_a_hidden_common_cause_is_found_from_the_best_orders(order):
    moments = Moments.of(sample(HIDDEN, 3000)[:, :4])
    assert np.array_equal(pag_by_score(moments, found_dag(moments, order)), TRUTH)
    assert TRUTH[1, 2] == TRUTH[2, 1] == ARROW


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 2, 0, 3], [2, 1, 3, 0]])
def test_tests_find_it_from_any_order(order):
    moments = Moments.of(sample(HIDDEN, 3000)[:, :4])
    assert np.array_equal(pag_by_tests(moments, found_dag(moments, order)), TRUTH)


def test_the_dag_alone_shows_no_hidden_cause():
    moments = Moments.of(sample(HIDDEN, 3000)[:, :4])
    marks = pag_of_dag(found_dag(moments, [0, 1, 2, 3]))
    assert not ((marks == ARROW) & (marks.T == ARROW)).any()


def test_without_hidden_causes_the_class_of_the_dag_is_kept():
    weights = np.triu(np.random.default_rng(1).uniform(0.5, 1, (6, 6)), 1)
    weights *= np.random.default_rng(2).random((6, 6)) < 0.5
    moments = Moments.of(sample(weights, 3000))
    assert np.array_equal(pag_by_score(moments, weights != 0), pag_of_dag(weights))


def test_the_score_of_a_dag_is_that_of_the_order_search():
    moments = Moments.of(sample(HIDDEN, 500)[:, :4])
    chosen = choose_parents(moments, np.arange(4))
    penalty = default_penalty(500, 4)
    score = AncestralScore(moments.correlations[0], 500, penalty)
    found = score.of(AncestralGraph.of_dag(chosen.adjacency().toarray()), range(4))
    assert found == pytest.approx(gaussian_total(moments, chosen, penalty))


def maximal_likelihood(correlations: np.ndarray, graph: AncestralGraph) -> float:
    """Maximise the likelihood numerically over all coefficients and noise covariances."""
    d = len(correlations)
    arrows = [(u, v) for v, up in enumerate(graph.parents) for u in sorted(up)]
    spouses = [(u, v) for v, both in enumerate(graph.spouses) for u in sorted(both) if u < v]

    def deviance(values: np.ndarray) -> float:
        noise = np.diag(np.exp(values[:d]))
        weights = np.zeros((d, d))
        for (u, v), value in zip(arrows, values[d:], strict=False):
            weights[u, v] = value
        for (u, v), value in zip(spouses, values[d + len(arrows) :], strict=True):
            noise[u, v] = noise[v, u] = value
        if np.linalg.eigvalsh(noise)[0] <= 1e-9:
            return 1e6
        left = np.eye(d) - weights
        spread = left.T @ correlations @ left
        return float(np.linalg.slogdet(noise)[1] + np.trace(np.linalg.solve(noise, spread)) - d)

    start = np.zeros(d + len(arrows) + len(spouses))
    return min(minimize(deviance, start + shift, method="BFGS").fun for shift in (0.0, 0.1))


@pytest.mark.parametrize(
    ("arrows", "spouses"),
    [
        ([(0, 1), (3, 2)], [(1, 2)]),
        ([(0, 1)], [(1, 2), (2, 3)]),
        ([(0, 2), (1, 2)], [(0, 3), (1, 3)]),
    ],
)
def test_the_likelihood_is_maximal(arrows, spouses):
    correlations = np.corrcoef(sample(HIDDEN, 300).T)[:4, :4]
    graph = graph_of(4, arrows, spouses)
    score = AncestralScore(correlations, 1.0, 0.0)
    assert -2 * score.of(graph, range(4)) == pytest.approx(
        maximal_likelihood(correlations, graph), abs=1e-4
    )


def test_a_spouse_is_no_ancestor():
    chain = graph_of(3, [(0, 1), (1, 2), (0, 2)], [])
    assert chain.with_spouses(0, 2) is None
    assert chain.without(0, 1).with_spouses(0, 2) is not None


def test_a_graph_in_which_nothing_separates_a_pair_is_not_maximal():
    # 0 ↔ 1 ↔ 2 ↔ 3 with 1 → 3 and 2 → 0: no set separates 0 and 3.
    path = graph_of(4, [(1, 3), (2, 0)], [(0, 1), (1, 2), (2, 3)])
    assert not path.is_maximal()
    assert graph_of(4, [], [(0, 1), (1, 2), (2, 3)]).is_maximal()


def random_ancestral_graph(seed: int, d: int = 6) -> AncestralGraph:
    random = np.random.default_rng(seed)
    graph = AncestralGraph.of_dag(np.triu(random.random((d, d)) < 0.25, 1))
    for u, v in np.argwhere(np.triu(random.random((d, d)) < 0.5, 1)).tolist():
        graph = (None if graph.are_joined(u, v) else graph.with_spouses(u, v)) or graph
    return graph


def test_a_maximal_graph_separates_every_pair_by_its_ancestors():
    answers = []
    for seed in range(60):
        graph = random_ancestral_graph(seed)
        separation = Separation(graph.marks())
        answers.append(graph.is_maximal())
        assert answers[-1] == all(
            separation.holds(u, v, graph.ancestors([u, v]) - {u, v})
            for u, v in combinations(range(6), 2)
            if not graph.are_joined(u, v)
        )
    assert 3 <= answers.count(False) <= 57


def test_tiers_give_arrowheads_and_required_arcs_arrows():
    weights = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    moments = Moments.of(sample(weights, 1000))
    support = np.triu(np.ones((3, 3), np.bool_), 1)
    by_tiers = pag_by_score(moments, weights != 0, Constraints(support))
    # Given 0 ∘→ 1, variable 1 is not a collider, so 1 → 2.
    assert (by_tiers[0, 1], by_tiers[1, 0]) == (ARROW, CIRCLE)
    assert (by_tiers[1, 2], by_tiers[2, 1]) == (ARROW, TAIL)
    by_requirement = pag_by_score(moments, weights != 0, Constraints(required=weights != 0))
    assert (by_requirement[0, 1], by_requirement[1, 0]) == (ARROW, TAIL)


def test_a_required_arc_is_never_removed():
    moments = Moments.of(sample(HIDDEN, 3000)[:, :4])
    dag = found_dag(moments, [0, 1, 2, 3])
    assert dag[0, 2]
    required = np.zeros((4, 4), np.bool_)
    required[0, 2] = True
    for found in (pag_by_score, pag_by_tests):
        marks = found(moments, dag, Constraints(required=required))
        assert (marks[0, 2], marks[2, 0]) == (ARROW, TAIL)


def test_gains_are_those_of_regressions():
    table = sample(HIDDEN, 200)
    tests = PartialCorrelations(np.corrcoef(table.T), 200 + 4, limit=1.0)
    centred = table - table.mean(axis=0)

    def left(columns: list[int]) -> float:
        return float(np.linalg.lstsq(centred[:, columns], centred[:, 2])[1][0])

    expected = 100.0 * np.log(left([3]) / left([3, 1]))
    assert tests.gain(1, 2, [3]) == pytest.approx(expected)


def test_copies_of_a_column_do_no_harm():
    table = sample(HIDDEN, 300)[:, :4]
    moments = Moments.of(np.column_stack([table, table[:, 0], np.ones(300)]))
    for found in (pag_by_score, pag_by_tests):
        assert not found(moments, found_dag(moments, [0, 1, 2, 3, 4, 5]))[:, 5].any()


def test_an_inverse_of_rounding_errors_is_not_used():
    columns = np.array(
        [
            [1, 0, 1, 0, 0, -2],
            [3, 0, 2, 0, -1, -4],
            [1, 0, -1, 2, -2, -1],
            [0, 1, 0, -1, 0, 1],
            [-1, -1, -1, 0, -2, 2],
        ]
    )
    correlations = np.corrcoef(columns[[0, 1, 2, 2, 3, 4]])
    tests = PartialCorrelations(correlations, 6, limit=3.0)
    gain = tests.gain(0, 1, [2, 3, 4, 5])
    assert gain == pytest.approx(float(tests.gains(0, 1, [(2, 3, 4, 5)])[0]))


@pytest.mark.parametrize(("rest", "mark"), [(0.0, TAIL), (0.05, CIRCLE)])
def test_a_doubtful_absence_supports_no_tail(rest, mark):
    """0 ∘→ 1 implies 1 → 2 unless 0 and 2 are adjacent; it takes clear independence to say so."""
    correlations = np.array([[1.0, 0.5, 0.25 + rest], [0.5, 1.0, 0.5], [0.25 + rest, 0.5, 1.0]])
    rows, zeros = np.array([1000.0]), np.zeros((1, 3))
    moments = Moments(correlations[None], np.zeros(3, np.int64), rows, zeros, zeros + 1)
    support = np.triu(np.ones((3, 3), np.bool_), 1)
    found = pag_by_score(moments, np.eye(3, k=1, dtype=bool), Constraints(support))
    assert (found[1, 2], found[2, 1]) == (ARROW, mark)
    assert not found[0, 2]


def test_a_district_of_copies_has_no_likelihood():
    correlations = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]])
    score = AncestralScore(correlations, 100.0, 1.0)
    assert score.of(graph_of(3, [], [(0, 1)]), [0]) == -np.inf
    assert score.of(graph_of(3, [(0, 2), (1, 2)], []), [2]) > -np.inf
