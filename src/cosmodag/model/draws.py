"""Random initial values, drawn by JAX or, for fits without JAX, by NumPy.

JAX's generator is a pure function of a key (Threefry, Salmon et al. 2011). `HostKey` computes the
same function in NumPy, so a problem has the same initial values, up to rounding, on every backend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv

from cosmodag.runtime.later import jax

Words = NDArray[np.uint32]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


@dataclass(frozen=True)
class HostKey:
    """A key of JAX's default generator, two 32-bit words, evaluated by NumPy.

    >>> uniform(HostKey.of(3), (2,), 1.0).dtype.name
    'float32'
    """

    first: np.uint32
    second: np.uint32

    @classmethod
    def of(cls, seed: int) -> HostKey:
        """Make the key of a seed in [0, 2³²)."""
        return cls(np.uint32(0), np.uint32(seed))

    def words(self, count: int) -> tuple[Words, Words]:
        """Encrypt the counters 0 … count − 1, which gives two random words for each."""
        counters = np.arange(count, dtype=np.uint64)
        high, low = (counters >> np.uint64(32)).astype(np.uint32), counters.astype(np.uint32)
        keys = (self.first, self.second, self.first ^ self.second ^ _PARITY)
        with np.errstate(over="ignore"):
            a, b = high + keys[0], low + keys[1]
            for group in range(5):
                for bits in _ROTATIONS[group % 2]:
                    a = a + b
                    b = a ^ (b << np.uint32(bits) | b >> np.uint32(32 - bits))
                a = a + keys[(group + 1) % 3]
                b = b + keys[(group + 2) % 3] + np.uint32(group + 1)
        return a, b

    def fractions(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw uniformly from the multiples of 2⁻²³ in [0, 1)."""
        a, b = self.words(math.prod(shape))
        bits = (a ^ b) >> np.uint32(9) | np.uint32(0x3F800000)
        return (bits.view(np.float32) - np.float32(1)).reshape(shape)


def split(key: Any, number: int = 2) -> Any:
    """Split a key into independent new keys; each key should be used only once."""
    if isinstance(key, HostKey):
        return [HostKey(*pair) for pair in zip(*key.words(number), strict=True)]
    return jax.random.split(key, number)


def uniform(key: Any, shape: tuple[int, ...], limit: float) -> Any:
    """Draw from U(−limit, limit), in single precision on the host."""
    if not isinstance(key, HostKey):
        return jax.random.uniform(key, shape, minval=-limit, maxval=limit)
    low, high = np.float32(-limit), np.float32(limit)
    return np.maximum(low, key.fractions(shape) * (high - low) + low)


def normal(key: Any, shape: tuple[int, ...]) -> Any:
    """Draw from N(0, 1), in single precision on the host."""
    if not isinstance(key, HostKey):
        return jax.random.normal(key, shape)
    low = np.nextafter(np.float32(-1), np.float32(0))
    inside = np.maximum(low, key.fractions(shape) * (np.float32(1) - low) + low)
    return np.float32(math.sqrt(2)) * erfinv(inside.astype(np.float64)).astype(np.float32)
