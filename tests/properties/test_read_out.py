"""The promise of the package: what is read out of COSMO's parameters is a DAG, every time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmodag.acyclicity import agreeing, drop_cycles, is_dag, order_of
from cosmodag.orientation import hard_orientation, oriented, smooth_orientation

# Few distinct values make ties, which no strict order of p can break.
priorities = st.sampled_from([1, 2, 3, 5, 8, 12]).flatmap(
    lambda d: arrays(
        np.float32, d, elements=st.sampled_from([-1.0, 0.0, 0.25]) | st.floats(-5, 5, width=32)
    )
)
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=1000)
@given(
    p=priorities,
    seed=seeds,
    shift=st.floats(1e-4, 2),
    temperature=st.floats(1e-4, 1),
    threshold=st.floats(0, 3),
)
def test_thresholded_read_out_is_a_dag(
    p: np.ndarray, seed: int, shift: float, temperature: float, threshold: float
) -> None:
    strengths = 3 * np.random.default_rng(seed).normal(size=(len(p), len(p)))
    raw = np.asarray(oriented(strengths, smooth_orientation(p, temperature, shift)))
    weights = agreeing(raw, order_of(p))
    assert is_dag(weights)
    assert is_dag(np.abs(weights) > threshold)
    np.testing.assert_array_equal(weights[weights != 0], raw[weights != 0])


@given(p=priorities, seed=seeds, shift=st.floats(1e-4, 2))
def test_an_order_refines_every_hard_orientation(p: np.ndarray, seed: int, shift: float) -> None:
    """What the shift allows, the order of p allows: reading out loses no arc of H ∘ T."""
    strengths = np.random.default_rng(seed).normal(size=(len(p), len(p)))
    weights = np.asarray(oriented(strengths, hard_orientation(p, shift)))
    np.testing.assert_array_equal(agreeing(weights, order_of(p)), weights)


@given(d=st.integers(1, 10), seed=seeds, threshold=st.floats(0, 2))
def test_repaired_read_out_is_a_dag_and_maximal(d: int, seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(d, d)) * (rng.random((d, d)) < rng.random())
    weights[np.abs(weights) <= threshold] = 0
    repaired, n_dropped = drop_cycles(weights)
    dropped = np.argwhere((weights != 0) & (repaired == 0))
    assert is_dag(repaired)
    assert len(dropped) == n_dropped
    for tail, head in dropped:
        with_it = repaired.copy()
        with_it[tail, head] = weights[tail, head]
        assert not is_dag(with_it)
