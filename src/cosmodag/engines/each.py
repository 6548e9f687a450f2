"""The entry point: apply a function to every item by an engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from cosmodag.engines.cluster import on_cluster
from cosmodag.engines.local import in_processes
from cosmodag.engines.outcomes import Done, attempt
from cosmodag.errors import DataError

__all__ = ["ENGINES", "each"]

ENGINES = ("local", "ray")

# Environment variables that limit the threads of each library.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def each(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    engine: str = "local",
    jobs: int | None = None,
    threads: int | None = None,
    address: str | None = None,
    gpus: float = 0.0,
    timeout: float | None = None,
    retries: int = 5,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Done]:
    """Call a function on every item, locally or on many machines, and yield results as they come.

    An error with one item becomes its result, a `Failure`, and does not affect the others. Leaving
    the iterator early, as Ctrl-C does, ends the work.

    Parameters
    ----------
    function : callable
        Function of one item. For other processes the function, the items and the results must be
        picklable; use a module-level function.
    items : iterable
    engine : {"local", "ray"}
        This machine, or Ray tasks.
    jobs : int, optional
        Number of processes. None: ``"local"`` uses no other process, keeps the order, and lets the
        function use all cores; Ray started here uses one process per core.
    threads : int, optional
        Threads of each process: by default its share of the cores, or one for a Ray task, which
        reserves as many cores.
    address : str, optional
        Address of a Ray cluster (``"auto"`` for one on this machine). None starts Ray here.
    gpus : float
        Share of a GPU that each Ray task reserves.
    timeout : float, optional
        Seconds of wall time per item.
    retries : int
        How often an item is retried after its process or machine was lost.
    variables : mapping, optional
        Environment variables of the other processes.

    Yields
    ------
    Done
        ``(place, result)``; in order only if this process does the work.

    Examples
    --------
    >>> [result for place, result in each(abs, [-1, 2, "x"])]
    [1, 2, Failure(status='failed', message="TypeError: bad operand type for abs(): 'str'")]
    """
    from joblib import cpu_count

    if engine not in ENGINES:
        raise DataError(f"The engine {engine!r} is unknown: use one of {', '.join(ENGINES)}.")
    if address is not None and engine != "ray":
        raise DataError(f"The address {address!r} is for the engine 'ray': give engine='ray' too.")
    share = 1 if engine == "ray" else max(1, cpu_count() // (jobs or 1))
    limits = dict.fromkeys(_THREAD_VARIABLES, str(threads or share))
    environment = {**limits, **(variables or {})}
    if engine == "ray":
        task = {"num_cpus": threads or 1, "num_gpus": gpus, "max_retries": retries}
        return on_cluster(function, items, timeout, address, jobs, environment, **task)
    call = partial(attempt, function, timeout=timeout)
    if jobs is None:
        return (Done(place, call(item)) for place, item in enumerate(items))
    return in_processes(call, items, jobs, environment, retries)
