"""Limits on CPU time that also hold on slow machines and while coverage is measured."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOOPS = 300_000
_REFERENCE_SECONDS = 0.015  # for these loops, on the machine where the limits were chosen
_TRACING_FACTOR = 6.0  # allowed slowdown of a traced program


@contextmanager
def processor_time_below(seconds: float) -> Iterator[None]:
    """Fail if the block takes more CPU time than the reference machine may spend on it.

    A fixed loop is timed before and after the block. On a slower machine the limit grows in
    proportion; on a faster one it stays the same. A tracer does not slow this loop as much as the
    block, so tracing has a factor of its own.
    """
    before, begin = _slowness(), time.process_time()
    yield
    taken = time.process_time() - begin
    tracing = _TRACING_FACTOR if _is_traced() else 1.0
    assert taken < seconds * max(1.0, before, _slowness()) * tracing


def _slowness() -> float:
    """Time of a fixed loop, relative to the reference machine."""
    begin, total = time.process_time(), 0
    for number in range(_LOOPS):
        total += number % 7
    return (time.process_time() - begin) / _REFERENCE_SECONDS


def _is_traced() -> bool:
    """Whether coverage or a debugger traces this process."""
    monitoring = getattr(sys, "monitoring", None)  # added in Python 3.12
    watched = monitoring is not None and any(map(monitoring.get_tool, range(6)))
    return watched or sys.gettrace() is not None or "COVERAGE_RUN" in os.environ
