"""Kernels for a CPU."""

from cosmodag.solver.backend import Backend

__all__ = ["BACKENDS"]

BACKENDS: tuple[Backend, ...] = ()
