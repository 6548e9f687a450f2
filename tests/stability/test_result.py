"""A consensus is acyclic, whatever was found, and keeps what is known."""

import numpy as np

from cosmodag.stability import BootstrapResult


def result_of(dags: list[np.ndarray], required: np.ndarray | None = None) -> BootstrapResult:
    d = len(dags[0])
    result = BootstrapResult(list(range(d)), list(range(len(dags))), "bootstrap", required)
    for place, dag in enumerate(dags):
        result.add(place, dag, np.arange(d))
    return result


def test_the_more_probable_arcs_come_first():
    cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)  # 0 → 1 → 2 → 0
    dags = [cycle & (np.arange(9).reshape(3, 3) != drop) for drop in (1, 5, 6, 6)]
    result = result_of(dags)
    assert result.arc_probabilities[2, 0] == 0.5
    assert result.consensus(0.5).astype(int).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert result.consensus(0.9).sum() == 0
    assert result.consensus_class(0.5)[1, 0]  # a chain may be read either way


def test_a_threshold_of_zero_takes_no_arc_that_was_never_found():
    result = result_of([np.array([[False, True], [False, False]])])
    assert result.consensus(0.0).sum() == 1
    assert result.skeleton_probabilities.tolist() == [[0, 1], [1, 0]]
    assert result.facts()["done"] == 1
