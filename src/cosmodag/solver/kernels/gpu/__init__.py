"""Kernels for a GPU."""

from cosmodag.solver.backend import Backend

__all__ = ["BACKENDS"]

BACKENDS: tuple[Backend, ...] = ()
