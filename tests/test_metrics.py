"""Every score agrees with an independent result: by hand, by scikit-learn or by regression."""

import sys
import tracemalloc
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse

from cosmodag import VarianceSort
from cosmodag.errors import DataError
from cosmodag.io import Graph
from cosmodag.metrics import adjustment_distances, evaluate, order_divergence
from cosmodag.simulate import erdos_renyi, load, population_covariance, random_weights
from needs_gadjid import needs_gadjid

NAN = float("nan")
DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]


def matrix(arcs: list[tuple[int, int]], nodes: int = 4) -> NDArray[np.float64]:
    weights = np.zeros((nodes, nodes))
    for tail, head in arcs:
        weights[tail, head] = -1.0  # only the absolute value may matter
    return weights


# Worked out by hand for the diamond 0 → {1, 2} → 3: 4 of the 16 entries are arcs. With 0/1 scores
# the AUC is (TPR + 1 − FPR)/2. Off the diagonal the FPR has 8 non-arcs instead of 12. The average
# precision is precision·TPR plus (1 − TPR)·4/16. The equivalence class of the diamond compels only
# 1 → 3 ← 2; that of the reversal compels only 0 → 1 ← 3.
SCORES = [
    "auc", "auc_off_diagonal", "average_precision", "nhd", "shd", "shd_double", "tpr", "fpr", "fdr",
    "precision", "f1", "reversed", "skeleton_precision", "skeleton_recall", "skeleton_f1",
    "shd_class", "order_divergence", "edges", "true_edges",
]  # fmt: skip
BY_HAND: dict[str, tuple[list[tuple[int, int]], list[float]]] = {
    "perfect": (
        DIAMOND,
        [1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 4, 4],
    ),
    "reversal": (
        [(0, 1), (0, 2), (3, 1), (2, 3)],
        [(0.75 + 11 / 12) / 2, (0.75 + 7 / 8) / 2, 0.625, 0.5, 1, 2, 0.75, 1 / 12, 0.25, 0.75, 0.75,
         1, 1, 1, 1, 3, 1, 4, 4],
    ),
    "missing": (
        [(0, 1), (0, 2), (2, 3)],
        [0.875, 0.875, 0.8125, 0.25, 1, 1, 0.75, 0, 0, 1, 6 / 7, 0, 1, 0.75, 6 / 7, 2, 0, 3, 4],
    ),
    "extra": (
        [*DIAMOND, (0, 3)],
        [(1 + 11 / 12) / 2, (1 + 7 / 8) / 2, 0.8, 0.25, 1, 1, 1, 1 / 12, 0.2, 0.8, 8 / 9,
         0, 0.8, 1, 8 / 9, 1, 0, 5, 4],
    ),
    "self-loop": (
        [*DIAMOND, (2, 2)],
        [(1 + 11 / 12) / 2, 1, 0.8, 0.25, 1, 1, 1, 1 / 12, 0.2, 0.8, 8 / 9,
         0, 1, 1, 1, NAN, NAN, 5, 4],
    ),
    "both ways": (
        [*DIAMOND, (3, 1)],
        [(1 + 11 / 12) / 2, (1 + 7 / 8) / 2, 0.8, 0.25, 1, 1, 1, 1 / 12, 0.2, 0.8, 8 / 9,
         0, 1, 1, 1, NAN, NAN, 5, 4],
    ),
    "empty": (
        [],
        [0.5, 0.5, 0.25, 1, 4, 4, 0, 0, NAN, NAN, 0, 0, NAN, 0, 0, 4, 0, 0, 4],
    ),
}  # fmt: skip

# Also by hand, pair by pair: sid, parent_aid and ancestor_aid. For each pair (u, v), SID checks
# whether the parents of u in the estimate are a valid adjustment set in the truth; if v is one of
# them, it checks whether u truly has no effect on v. The ancestor distance checks u's ancestors if
# v is a descendant of u in the estimate, and otherwise the claim that u has no effect on v.
DISTANCES_BY_HAND = {
    "perfect": (0, 0, 0),
    "reversal": (4, 4, 2),  # SID: (1,3) (1,2) (3,1) (3,0)
    "missing": (2, 2, 1),  # SID: (3,1) (3,0)
    "extra": (0, 0, 0),
    "empty": (9, 9, 5),  # SID: every pair (u, v) with u ≠ 0
}


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("case", BY_HAND)
def test_scores_worked_out_by_hand(case: str, as_sparse: bool) -> None:
    arcs, expected = BY_HAND[case]
    truth, weights = matrix(DIAMOND), matrix(arcs)
    if as_sparse:
        truth, weights = sparse.csr_array(truth), sparse.coo_array(weights)
    scores = dict(zip(SCORES, expected, strict=True))
    assert evaluate(truth, weights) == pytest.approx(scores, rel=1e-12, nan_ok=True)


def test_an_entry_that_is_stored_in_two_parts_is_one_arc() -> None:
    starts, columns = np.array([0, 2, 3, 3]), np.array([1, 1, 2])
    truth = sparse.csr_array((np.array([1, 1, 1]), columns, starts), shape=(3, 3))
    weights = sparse.csr_array((np.array([0.2, 0.2, 0.9]), columns, starts), shape=(3, 3))
    expected = evaluate(truth.toarray(), weights.toarray())
    assert evaluate(truth, weights) == pytest.approx(expected)
    assert order_divergence(truth, [2, 1, 0]) == 2
    assert truth.nnz == weights.nnz == 3  # the caller's matrices are not changed


@needs_gadjid
@pytest.mark.parametrize("case", DISTANCES_BY_HAND)
def test_intervention_distances_worked_out_by_hand(case: str) -> None:
    scores = evaluate(matrix(DIAMOND), matrix(BY_HAND[case][0]), sid=True)
    distances = tuple(scores[key] for key in ("sid", "parent_aid", "ancestor_aid"))
    assert distances == DISTANCES_BY_HAND[case]


# Peters and Bühlmann (2015): in G the nodes X1 → X2 both point at Y1, Y2 and Y3. H1 adds the arc
# Y1 → Y2, H2 reverses X1 → X2; both have SHD 1.
FIVE_NODES = [(0, 1), *((x, y) for x in (0, 1) for y in (2, 3, 4))]
ADDED = [*FIVE_NODES, (2, 3)]
TURNED = [(1, 0), *FIVE_NODES[1:]]


@needs_gadjid
@pytest.mark.parametrize(("estimate", "sid"), [(ADDED, 0), (TURNED, 8)])
def test_published_examples_of_the_intervention_distance(
    estimate: list[tuple[int, int]], sid: int
) -> None:
    scores = evaluate(matrix(FIVE_NODES, 5), matrix(estimate, 5), sid=True)
    assert scores["sid"] == sid
    assert scores["shd"] == 1


def sid_by_regression(truth: NDArray[Any], estimate: NDArray[Any]) -> int:
    """Count the effects that regression on the estimated adjustment sets gets wrong.

    With random weights, an invalid adjustment set gives the true effect with probability 0.
    """
    weights = random_weights(sparse.csr_array(truth), np.random.default_rng(1)).toarray()
    covariance = population_covariance(weights)
    effects = np.linalg.inv(np.eye(len(truth)) - weights)
    mistakes = 0
    for cause in range(len(truth)):
        adjusted = np.flatnonzero(estimate[:, cause])
        regressors = np.concatenate([[cause], adjusted])
        for target in set(range(len(truth))) - {cause}:
            claimed = 0.0
            if target not in adjusted:
                inner = covariance[np.ix_(regressors, regressors)]
                claimed = np.linalg.solve(inner, covariance[regressors, target])[0]
            mistakes += abs(claimed - effects[cause, target]) > 1e-9
    return mistakes


@needs_gadjid
@pytest.mark.parametrize("seed", range(25))
def test_sid_counts_the_effects_that_regression_gets_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, estimate = (erdos_renyi(6, 8, rng).toarray() for _ in range(2))
    assert adjustment_distances(truth, estimate)["sid"] == sid_by_regression(truth, estimate)


def test_the_threshold_is_strict_and_on_the_absolute_value() -> None:
    truth = matrix([(0, 1)])
    weights = np.zeros((4, 4))
    weights[0, 1], weights[0, 2], weights[0, 3] = -0.3, 0.3, -0.30001
    scores = evaluate(truth, weights)
    assert (scores["edges"], scores["tpr"]) == (1, 0)
    assert evaluate(truth, weights, threshold=0.29)["edges"] == 3


def test_a_graph_is_scored_by_all_its_arcs_and_a_matrix_above_a_threshold() -> None:
    weights = np.array([[0.0, 0.2], [0.0, 0.0]])
    graph = Graph(["a", "b"], weights)
    assert evaluate(graph, graph)["shd"] == 0
    assert evaluate(graph, weights)["shd"] == 1


def test_order_divergence_counts_arcs_that_point_backwards() -> None:
    truth = matrix(DIAMOND)
    assert order_divergence(truth, [0, 1, 2, 3]) == 0
    assert order_divergence(truth, [3, 0, 1, 2]) == 2
    assert order_divergence(sparse.csr_array(truth), [3, 2, 1, 0]) == 4
    assert evaluate(truth, np.ones((4, 4)), order=[3, 0, 1, 2])["order_divergence"] == 2


@pytest.mark.parametrize(
    ("truth", "weights", "options", "message"),
    [
        (np.zeros((2, 3)), np.zeros((2, 2)), {}, "truth must be a square"),
        (np.zeros((2, 2)), np.zeros(4), {}, "weights must be a square"),
        (np.zeros((2, 2)), np.zeros((3, 3)), {}, "shape"),
        (np.eye(2), np.zeros((2, 2)), {}, "self-loop"),
        (np.zeros((2, 2)), np.array([[0, NAN], [0, 0]]), {}, "not finite"),
        (np.zeros((2, 2)), np.array([["a", "b"], ["c", "d"]]), {}, "real numbers"),
        (np.zeros((2, 2)), np.zeros((2, 2)), {"order": [0, 0]}, "order"),
        (np.zeros((2, 2)), np.zeros((2, 2)), {"order": ["a", "b"]}, "order"),
        (np.zeros((2, 2)), 1 - np.eye(2), {"sid": True}, "estimate has a cycle"),
        (1 - np.eye(2), np.zeros((2, 2)), {"sid": True}, "truth has a cycle"),
        (np.zeros((2, 2)), np.zeros((2, 2)), {"threshold": NAN}, "threshold"),
        (np.zeros((2, 2)), sparse.csr_array((2, 2)), {"threshold": -1.0}, "threshold"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    truth: Any, weights: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        evaluate(truth, weights, **options)


def test_a_missing_gadjid_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(DataError, match=r"pip install 'cosmodag\[sid\]', or omit sid"):
        evaluate(matrix(DIAMOND), matrix(DIAMOND), sid=True)
    assert evaluate(matrix(DIAMOND), matrix(DIAMOND))["shd"] == 0


def frame(weights: NDArray[Any], names: list[Any], columns: list[Any] | None = None) -> Any:
    labels = pd.DataFrame(weights, index=list("abcd"), columns=list("abcd"))
    return labels.loc[names, names if columns is None else columns]


class TestLabels:
    """Data frames are matched by label, whatever the order of their rows and columns."""

    truth, weights = matrix(DIAMOND), matrix(BY_HAND["reversal"][0])

    @needs_gadjid
    @pytest.mark.parametrize("rows", ["abcd", "dbca"])
    @pytest.mark.parametrize("columns", ["abcd", "cadb"])
    def test_the_same_graph_scores_the_same_in_any_order(self, rows: str, columns: str) -> None:
        expected = evaluate(self.truth, self.weights, sid=True)
        found = evaluate(
            frame(self.truth, list("badc")),
            frame(self.weights, list(rows), list(columns)),
            sid=True,
        )
        assert found == pytest.approx(expected)
        assert evaluate(frame(self.truth, list(rows)), frame(self.truth, list(columns)))["shd"] == 0

    def test_rows_without_names_take_those_of_the_columns(self) -> None:
        bare = frame(self.weights, list("dcba")).reset_index(drop=True)
        found = evaluate(frame(self.truth, list("abcd")), bare)
        assert found == pytest.approx(evaluate(self.truth, self.weights))

    @pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame, sparse.csr_array])
    def test_a_matrix_without_labels_is_matched_by_position(self, wrap: Any) -> None:
        found = evaluate(frame(self.truth, list("abcd")), wrap(self.weights))
        assert found == pytest.approx(evaluate(self.truth, self.weights))

    def test_an_order_may_be_of_names(self) -> None:
        labelled = frame(self.truth, list("badc"))
        assert order_divergence(labelled, ["d", "a", "b", "c"]) == 2
        assert order_divergence(self.truth, ["d", "a", "b", "c"], names="abcd") == 2
        options = {"order": ["d", "a", "b", "c"]}
        assert evaluate(labelled, self.weights, **options)["order_divergence"] == 2
        assert evaluate(self.truth, frame(self.weights, list("abcd")), **options)[
            "order_divergence"
        ] == 2  # fmt: skip
        by_names = evaluate(self.truth, self.weights, names=tuple("abcd"), **options)
        assert by_names["order_divergence"] == 2

    def test_a_learner_fitted_on_a_frame_is_scored_by_its_own_order(self) -> None:
        data = load("n200_d5_ER1_gauss", seed=0)
        names = ["e", "d", "c", "b", "a"]
        model = VarianceSort().fit(pd.DataFrame(data.X, columns=names))
        positions = [names.index(name) for name in model.causal_order_]
        scores = evaluate(data.graph, model.raw_weights_, order=model.causal_order_, names=names)
        assert scores["order_divergence"] == order_divergence(data.graph, positions)

    @pytest.mark.parametrize(
        ("rows", "columns", "message"),
        [("abce", "abce", "'d' is missing"), ("abcd", "abce", "'d' is missing"),
         ("aabc", "aabc", "repeated")],
    )  # fmt: skip
    def test_labels_that_do_not_agree_are_refused(
        self, rows: str, columns: str, message: str
    ) -> None:
        odd = pd.DataFrame(self.weights, index=list(rows), columns=list(columns))
        with pytest.raises(DataError, match=message):
            evaluate(frame(self.truth, list("abcd")), odd)


def test_scoring_a_dense_estimate_makes_no_second_matrix_of_numbers() -> None:
    data = load("n1_d1000_ER4_gauss", seed=0)
    noise = np.random.default_rng(0).standard_normal(data.graph.shape)
    weights = data.weights + 0.05 * noise
    tracemalloc.start()
    scores = evaluate(data.graph, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * weights.nbytes  # |W|, its tiles, and Boolean arrays
    assert scores["auc"] > 0.99


@needs_gadjid
def test_all_arcs_of_a_graph_count_by_default_also_those_of_weight_zero():
    truth = Graph.from_arcs(list("abc"), [0, 1], [1, 2], [1.0, 0.0])
    scores = evaluate(truth, truth, sid=True)
    assert scores["edges"] == scores["true_edges"] == 2
    assert scores["shd"] == scores["shd_class"] == scores["sid"] == 0
    assert evaluate(truth, truth, 0.0)["edges"] == 1


def test_an_array_takes_the_names_of_a_graph_by_position_unless_they_are_its_own():
    arc = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    named = nx.DiGraph()
    named.add_nodes_from(["c", "b", "a"])
    named.add_edge("c", "b")
    assert evaluate(arc, named)["shd"] == 0
    numbered = nx.relabel_nodes(named, {"c": "x2", "b": "x1", "a": "x0"})
    assert list(numbered) == ["x2", "x1", "x0"]
    assert evaluate(arc, numbered)["shd"] == 2
    assert evaluate(np.flip(arc), numbered)["shd"] == 0


def test_a_graph_with_a_cycle_of_three_has_neither_an_order_nor_a_class():
    """Only an order of the arcs shows the cycle: no pair of variables has two of them."""
    truth = np.triu(np.ones((3, 3)), 1)
    found = evaluate(truth, np.eye(3)[[1, 2, 0]], threshold=0.0)
    assert np.isnan(found["shd_class"])
    assert np.isnan(found["order_divergence"])
