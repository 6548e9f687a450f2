"""Refusal to use JAX in a process that was forked after JAX had started: it would deadlock.

``fork`` copies the memory of a process but not its threads, and JAX waits for its threads.
``multiprocessing`` on Linux forks by default. Learners that do not use JAX, and processes forked
before JAX started, are not affected.
"""

import os
import sys

from cosmodag.errors import ForkError

__all__ = ["refuse_after_fork"]

# Numbers of processes in which JAX has started or can start its threads. A forked process inherits
# this set, but its own number is not in it.
_SOUND = {os.getpid()}


def refuse_after_fork() -> None:
    """Raise `ForkError` in a process that was forked after JAX had started."""
    if os.getpid() in _SOUND:
        return
    if not _has_jax_started():
        _SOUND.add(os.getpid())
        return
    raise ForkError(
        "This process was forked from one that had used JAX, and JAX would deadlock, because "
        "a fork does not copy its threads: start processes by 'spawn' "
        "(multiprocessing.get_context('spawn')), or use joblib, whose 'loky' processes work."
    )


def _has_jax_started() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None:
        return "jax" in sys.modules
    has_started = getattr(bridge, "backends_are_initialized", lambda: True)
    return bool(has_started())
