"""The kernels for one large problem take the steps of the loop, tile by tile, whatever the tiles.

They run here interpreted, on a CPU; `benchmarks/gpu.py parity` repeats the comparison on a GPU.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from solver_problems import SETTINGS, make_batch, make_table

from cosmodag.solver import linear_gpu
from cosmodag.solver.backends import BACKENDS
from cosmodag.solver.problems import Problem

triton = pytest.importorskip(
    "jax.experimental.pallas.triton", reason="this JAX has no Pallas for Triton"
)

from cosmodag.solver.tiles import Tiling  # noqa: E402

advance_xla = next(backend.advance for backend in BACKENDS if backend.name == "xla")
SMALL = Tiling(depth=16, width=32, splits=2, tall=32, wide=16, rows=16)


@cache
def problem(d: int = 40, n: int = 50, size: int = 16):
    batch = make_batch([Problem(make_table(n, d), SETTINGS, seed=3)])
    ...
