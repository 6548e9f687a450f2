"""The row order is a permutation, the same on every device, and looks uniformly random."""

import jax
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cosmodag.solve.training.batch_rows import fill_rows, rows_at

in_jax = jax.jit(rows_at, static_argnums=3)
words = st.integers(0, 2**32 - 1)


def numba_order(seed: int, epoch: int, n: int, begin: int = 0) -> np.ndarray:
    order = np.empty(n - begin, np.uint32)
    fill_rows(np.uint32(seed), epoch, begin, n, order)
    return order


@given(seed=words, epoch=st.integers(0, 10**6), n=st.integers(1, 300))
def test_it_is_a_permutation(seed, epoch, n):
    assert np.array_equal(np.sort(numba_order(seed, epoch, n)), np.arange(n))


@given(seed=words, epoch=st.integers(0, 10**6), n=st.sampled_from([1, 7, 1000]))
def test_both_implementations_agree(seed, epoch, n):
    seed = np.uint32(seed)
    assert np.array_equal(numba_order(seed, epoch, n), in_jax(seed, epoch, np.arange(n), n))


@given(seed=words, n=st.integers(1, 300), data=st.data())
def test_a_pass_can_be_entered_anywhere(seed, n, data):
    begin = data.draw(st.integers(0, n - 1))
    assert np.array_equal(numba_order(seed, 2, n, begin), numba_order(seed, 2, n)[begin:])


def test_seed_and_epoch_both_matter():
    first = numba_order(0, 0, 1000)
    for other in (numba_order(0, 1, 1000), numba_order(1, 0, 1000)):
        # A random permutation has one fixed point on average, and ten with probability 1e-7.
        assert np.count_nonzero(first == other) < 10


def test_every_place_is_equally_likely():
    n, epochs = 10, 20_000
    orders = np.stack([numba_order(3, epoch, n) for epoch in range(epochs)])
    for place in range(n):
        counts = np.bincount(orders[:, place].astype(int), minlength=n)
        # Ten tests with fixed seeds: at 1e-5, a correct shuffle passes and a broken one fails.
        assert stats.chisquare(counts).pvalue > 1e-5


def test_all_permutations_of_few_rows_occur_equally_often():
    n, epochs = 4, 24_000
    codes = [tuple(numba_order(11, epoch, n)) for epoch in range(epochs)]
    _, counts = np.unique(codes, axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-5


def test_neighbouring_rows_do_not_stay_together():
    n = 1000
    order = np.concatenate([numba_order(5, epoch, n) for epoch in range(200)]).astype(int)
    steps = np.abs(np.diff(order))
    # In a random order, 2/n of all pairs of neighbours stay neighbours: 400 of 200,000.
    assert 250 < np.count_nonzero(steps == 1) < 550
