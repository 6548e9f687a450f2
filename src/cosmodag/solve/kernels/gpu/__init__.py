"""Kernels for a GPU, and the distribution of one problem over several devices.

Nothing here imports Pallas before a kernel is used.
"""

from cosmodag.solve.kernels.gpu.large import LARGE
from cosmodag.solve.kernels.gpu.sharded import SHARDED
from cosmodag.solve.kernels.gpu.small import SMALL
from cosmodag.solve.problems import Backend

BACKENDS: tuple[Backend, ...] = (SHARDED, LARGE, SMALL)
