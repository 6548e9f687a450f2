"""Kernels: faster implementations of the reference loop for the recipes that they declare.

The first backend that implements a task is used. The last one, the reference loop, implements
every task.
"""

from cosmodag.solve.kernels import cpu
from cosmodag.solve.problems import Backend
from cosmodag.solve.training.loop import REFERENCE


def backends_for(platform: str) -> tuple[Backend, ...]:
    """Return the backends for a kind of device, the preferred ones first."""
    if platform == "cpu":
        return (*cpu.BACKENDS, REFERENCE)
    from cosmodag.solve.kernels.gpu import large, sharded, small  # imports JAX

    return (sharded.SHARDED, large.LARGE, small.SMALL, REFERENCE)
