"""Kernels: faster implementations of the reference loop for the recipes that they declare.

The first backend that implements a task is used; the reference loop, last, implements them all.
"""

from cosmodag.solve.backend import Backend
from cosmodag.solve.kernels import cpu, gpu
from cosmodag.solve.training.reference import REFERENCE

__all__ = ["BACKENDS"]

BACKENDS: tuple[Backend, ...] = (*cpu.BACKENDS, *gpu.BACKENDS, REFERENCE)
