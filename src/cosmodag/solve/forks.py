"""Processes made by fork: JAX's threads are not in them, and whoever waits for them waits forever.

``multiprocessing`` on Linux makes processes by fork unless told otherwise. A fit that trains in
such a process, after JAX was used in the parent, would never end; it is refused instead. Where
JAX was not used before, and for learners that do not need it, forks work.
"""

import os
import sys

from cosmodag.errors import ForkError

__all__ = ["refuse_after_fork"]

_lost_threads = False


def _note() -> None:
    global _lost_threads
    _lost_threads = _lost_threads or _is_jax_running()


def _is_jax_running() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None:
        return "jax" in sys.modules
    is_running = getattr(bridge, "backends_are_initialized", lambda: True)
    return bool(is_running())


if hasattr(os, "register_at_fork"):  # elsewhere there is no fork
    os.register_at_fork(after_in_child=_note)


def refuse_after_fork() -> None:
    """Refuse to use JAX in a process whose parent had it running when it was forked."""
    if _lost_threads:
        raise ForkError(
            "This process was forked from one that had used JAX, whose threads it does not have, "
            "so that this fit would never end: start processes by 'spawn' "
            "(multiprocessing.get_context('spawn')), or use joblib, whose 'loky' processes work."
        )
