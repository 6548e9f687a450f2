"""The graph that is read out of COSMO's parameters is always a DAG."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from property_examples import gate_examples, hard_orientation, seeds, smooth_orientation

from cosmodag.graph.dags import agreeing, drop_cycles, is_dag, order_of

# Few distinct values, so that there are ties, which p does not order.
priorities = st.sampled_from([1, 2, 3, 5, 8, 12]).flatmap(
    lambda d: arrays(
        np.float32, d, elements=st.sampled_from([-1.0, 0.0, 0.25]) | st.floats(-5, 5, width=32)
    )
)


@gate_examples(300)
@given(
    p=priorities,
    seed=seeds,
    shift=st.floats(1e-4, 2) | st.floats(0, 1e6),
    temperature=st.floats(1e-4, 1) | st.floats(1e-20, 1e6),
    threshold=st.floats(0, 3) | st.floats(0, 1e30),
)
def test_thresholded_read_out_is_a_dag(
    p: np.ndarray, seed: int, shift: float, temperature: float, threshold: float
) -> None:
    random = np.random.default_rng(seed)
    # From subnormal numbers to those whose products overflow, and zeros.
    sizes = 10.0 ** random.uniform(-40, 38, (len(p), len(p)))
    strengths = random.normal(size=sizes.shape) * np.where(random.random() < 0.5, 3, sizes)
    strengths *= random.random(sizes.shape) < 0.8
    raw = np.asarray(strengths * smooth_orientation(p, temperature, shift))
    weights = agreeing(raw, order_of(p))
    assert is_dag(weights)
    assert is_dag(np.abs(weights) > threshold)
    np.testing.assert_array_equal(weights[weights != 0], raw[weights != 0])


@given(p=priorities, seed=seeds, shift=st.floats(1e-4, 2))
def test_an_order_refines_every_hard_orientation(p: np.ndarray, seed: int, shift: float) -> None:
    """The order of p allows every arc that the shift allows, so the read-out keeps all of H ∘ T."""
    strengths = np.random.default_rng(seed).normal(size=(len(p), len(p)))
    weights = np.asarray(strengths * hard_orientation(p, shift))
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
