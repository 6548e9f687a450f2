"""Engines: apply a function to many items in this process, in several, or on a cluster.

joblib's `Parallel` and Ray's backend for joblib are not used: they end the whole run if one worker
dies. Here an item that was lost with its process or machine is tried again.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from itertools import islice
from queue import SimpleQueue
from typing import Any, NamedTuple

from cosmodag.errors import DataError, DivergenceError
from cosmodag.solve.machine.threads import cores

__all__ = ["ENGINES", "Failure", "attempt", "each"]

ENGINES = ("local", "ray")

Call = Callable[[Any], Any]
Numbered = tuple[int, Any]

# Libraries whose threads are limited by environment variables, as joblib's own number of cores is.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA")

# How often an item is tried after its process or machine was lost.
_RETRIES = 5

# Items submitted to Ray per core, so that no core waits for this process.
_AHEAD = 4


class Failure(NamedTuple):
    """Why an item has no result: ``"timeout"``, ``"diverged"`` or ``"failed"``, and a sentence."""

    status: str
    message: str


def each(
    function: Call,
    items: Iterable[Any],
    *,
    engine: str = "local",
    jobs: int | None = None,
    threads: int | None = None,
    address: str | None = None,
    gpus: float = 0.0,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Numbered]:
    """Call a function on every item, locally or on many machines, and yield results as they come.

    An error with one item becomes its result, a `Failure`, and does not affect the others. Leaving
    the iterator early, as Ctrl-C does, ends the work.

    Parameters
    ----------
    function : callable
        Function of one item; picklable, like the items and the results, if `jobs` or Ray is used.
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
    variables : mapping, optional
        Environment variables of the other processes.

    Yields
    ------
    place, result : tuple
        The place of an item among those given, and its result.

    Examples
    --------
    >>> [result for place, result in each(abs, [-1, 2, "x"])]
    [1, 2, Failure(status='failed', message="TypeError: bad operand type for abs(): 'str'")]
    """
    if engine not in ENGINES:
        raise DataError(f"The engine {engine!r} is unknown: use one of {', '.join(ENGINES)}.")
    if address is not None and engine != "ray":
        raise DataError(f"The address {address!r} is for the engine 'ray': give engine='ray' too.")
    threads = threads or (1 if engine == "ray" else max(1, cores() // (jobs or 1)))
    environment = {f"{library}_NUM_THREADS": f"{threads}" for library in _LIBRARIES}
    environment |= {"LOKY_MAX_CPU_COUNT": f"{threads}", **(variables or {})}
    if engine == "ray":
        cluster = {"address": address or "local", "log_to_driver": False, "logging_level": "error"}
        if address is None:
            cluster |= {"num_cpus": jobs, "include_dashboard": False}
            environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        task: dict[str, Any] = {"num_cpus": threads, "num_gpus": gpus, "max_retries": _RETRIES}
        # The name is that of tasks on Ray's dashboard, and of processes that are doing one.
        task |= {"name": "cosmodag", "runtime_env": {"env_vars": environment}}
        return _on_cluster(function, items, cluster, task)
    call = partial(attempt, function)
    if jobs is None:
        return ((place, call(item)) for place, item in enumerate(items))
    return _in_processes(call, items, jobs, environment)


def attempt(function: Call, item: Any) -> Any:
    """Call a function on one item; an error is a `Failure`.

    Examples
    --------
    >>> attempt(lambda x: 1 / x, 0)
    Failure(status='failed', message='ZeroDivisionError: division by zero')
    """
    try:
        return function(item)
    except DivergenceError as error:
        return Failure("diverged", str(error))
    except Exception as error:
        return Failure("failed", f"{type(error).__name__}: {error}")


def _in_processes(
    call: Call, items: Iterable[Any], jobs: int, environment: dict[str, str]
) -> Iterator[Numbered]:
    """Call a function on items in several processes; results come as they are ready.

    If a process dies, the items that may have killed it are tried again one at a time, and an item
    that kills its process each time is a failure.
    """
    left = dict(enumerate(items))
    while left:
        yield from _until_a_death(call, left, jobs, environment)
        # Items are begun in order: those that were in progress are the first that are left.
        for place in list(left)[:jobs]:
            alone = {place: left.pop(place)}
            for _ in range(_RETRIES):
                error = yield from _until_a_death(call, alone, 1, environment)
                if not alone:
                    break
            else:
                yield place, Failure("failed", error)


def _until_a_death(
    call: Call, left: dict[int, Any], jobs: int, environment: dict[str, str]
) -> Generator[Numbered, None, str]:
    """Do items, and remove them from those left; stop if a process dies, and return the reason."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(jobs, timeout=None, env=environment)
    # Unlike a wait for futures, a wait for a simple queue can be interrupted at any time.
    ready: SimpleQueue[Future[Any]] = SimpleQueue()
    try:
        places = {pool.submit(call, item): place for place, item in left.items()}
        for future in places:
            future.add_done_callback(ready.put)
        while left:
            future = ready.get()
            if isinstance(error := future.exception(), BrokenProcessPool):
                raise error
            del left[places[future]]
            # It fails also if the item, or its result, cannot be pickled.
            yield places[future], attempt(Future.result, future)
    except BrokenProcessPool as error:
        return " ".join(str(error).split())
    finally:
        pool.shutdown(wait=True, kill_workers=True)
    return ""


def _on_cluster(
    function: Call, items: Iterable[Any], cluster: dict[str, Any], task: dict[str, Any]
) -> Iterator[Numbered]:
    """Call a function on items as Ray tasks; one that is lost too often is a failure."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # unless the user enables it
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise DataError(
            "The engine 'ray' needs Ray, which is not installed: pip install 'cosmodag[ray]'."
        ) from None
    try:
        connection = nullcontext() if ray.is_initialized() else ray.init(**cluster)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"Ray cannot be reached at {cluster['address']!r}: {reason}") from None
    with connection:
        remote = ray.remote(**task)(attempt)
        shared = ray.put(function)
        most = _AHEAD * max(2, int(ray.cluster_resources().get("CPU", 1)))
        waiting = enumerate(items)
        pending: dict[Any, int] = {}
        while True:
            for place, item in islice(waiting, most - len(pending)):
                pending[remote.remote(shared, item)] = place
            if not pending:
                return
            (finished, *_), _ = ray.wait(list(pending), num_returns=1)
            # It fails if the task was lost too often, or could not be sent.
            yield pending.pop(finished), attempt(ray.get, finished)
