"""NumPy draws the same random numbers as JAX."""

import jax
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.model.draws import HostKey, normal, split, uniform

seeds = st.integers(0, 2**32 - 1)


def words(key):
    """The two words of a host key or a JAX key."""
    if isinstance(key, HostKey):
        return [int(key.first), int(key.second)]
    return jax.random.key_data(key).tolist()


@given(seeds, st.integers(1, 5))
def test_keys_split_as_those_of_jax(seed, number):
    mine, theirs = split(HostKey.of(seed), number), split(jax.random.key(seed), number)
    assert [words(key) for key in mine] == [words(key) for key in theirs]
    assert len(split(mine[0])) == 2


@given(seeds)
def test_uniform_numbers_agree_to_rounding(seed):
    mine = uniform(HostKey.of(seed), (3, 5), 0.3)
    theirs = uniform(jax.random.key(seed), (3, 5), 0.3)
    assert mine.dtype == np.float32
    np.testing.assert_allclose(mine, theirs, atol=1e-7)
    assert np.abs(mine).max() <= np.float32(0.3)


@given(seeds)
def test_normal_numbers_agree_to_rounding(seed):
    mine, theirs = normal(HostKey.of(seed), (20,)), normal(jax.random.key(seed), (20,))
    assert mine.dtype == np.float32
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
