"""Engines: apply a function to many items, in this process, in several processes or on a cluster.

joblib's `Parallel` and Ray's backend for joblib are not used, because they end the whole run if one
worker dies. Here an item that is lost with its process or machine is tried again.
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
from cosmodag.runtime.threads import cores

__all__ = ["ENGINES", "Failure", "attempt", "each"]

ENGINES = ("local", "ray")

Call = Callable[[Any], Any]
Numbered = tuple[int, Any]

# Libraries whose number of threads is limited by a variable such as OMP_NUM_THREADS.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA")

# Number of times an item is tried again after its process or machine was lost.
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

    If the function raises an error for an item, the result of this item is a `Failure`, and the
    others are not affected. Leaving the iterator early, as by Ctrl-C, ends the work.

    Parameters
    ----------
    function : callable
        Function of one item; picklable, like the items and the results, if `jobs` or Ray is used.
    items : iterable
    engine : {"local", "ray"}
        This machine, or Ray tasks.
    jobs : int, optional
        Number of worker processes. By default, ``"local"`` runs all items in this process, in
        order, and the function may use all cores; if Ray is started here, it uses one process per
        core.
    threads : int, optional
        Threads of each process. By default its share of the cores, or one for a Ray task. A Ray
        task reserves as many cores as threads.
    address : str, optional
        Address of a Ray cluster (``"auto"`` for one on this machine). By default, Ray is started
        on this machine.
    gpus : float
        Fraction of a GPU that each Ray task reserves.
    variables : mapping, optional
        Additional environment variables of the worker processes.

    Yields
    ------
    place, result : tuple
        Index of an item in `items`, and its result.

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
        # The name is shown on Ray's dashboard, and by worker processes while they run a task.
        task |= {"name": "cosmodag", "runtime_env": {"env_vars": environment}}
        return _on_cluster(function, items, cluster, task)
    call = partial(attempt, function)
    if jobs is None:
        return ((place, call(item)) for place, item in enumerate(items))
    return _in_processes(call, items, jobs, environment)


def attempt(function: Call, item: Any) -> Any:
    """Call a function on one item; return a `Failure` if it raises an error.

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
    """Call a function on items in several processes; yield results as they complete.

    If a process dies, the items that may have killed it are tried again one at a time, and an item
    that kills its process each time is a failure.
    """
    remaining = dict(enumerate(items))
    while remaining:
        yield from _run_until_crash(call, remaining, jobs, environment)
        # Items start in order, so those in progress at a crash are the first remaining ones.
        for place in list(remaining)[:jobs]:
            alone = {place: remaining.pop(place)}
            for _ in range(_RETRIES):
                error = yield from _run_until_crash(call, alone, 1, environment)
                if not alone:
                    break
            else:
                yield place, Failure("failed", error)


def _run_until_crash(
    call: Call, remaining: dict[int, Any], jobs: int, environment: dict[str, str]
) -> Generator[Numbered, None, str]:
    """Process items and remove them from `remaining`; if a process dies, stop and return why."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(jobs, timeout=None, env=environment)
    # Unlike a wait for futures, a wait for a simple queue can be interrupted at any time.
    ready: SimpleQueue[Future[Any]] = SimpleQueue()
    try:
        places = {pool.submit(call, item): place for place, item in remaining.items()}
        for future in places:
            future.add_done_callback(ready.put)
        while remaining:
            future = ready.get()
            if isinstance(error := future.exception(), BrokenProcessPool):
                raise error
            del remaining[places[future]]
            # Reading the result also fails if the item or its result cannot be pickled.
            yield places[future], attempt(Future.result, future)
    except BrokenProcessPool as error:
        return " ".join(str(error).split())
    finally:
        pool.shutdown(wait=True, kill_workers=True)
    return ""


def _on_cluster(
    function: Call, items: Iterable[Any], cluster: dict[str, Any], task: dict[str, Any]
) -> Iterator[Numbered]:
    """Call a function on items as Ray tasks; an item that is lost too often is a failure."""
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
        max_pending = _AHEAD * max(2, int(ray.cluster_resources().get("CPU", 1)))
        waiting = enumerate(items)
        pending: dict[Any, int] = {}
        while True:
            for place, item in islice(waiting, max_pending - len(pending)):
                pending[remote.remote(shared, item)] = place
            if not pending:
                return
            (finished, *_), _ = ray.wait(list(pending), num_returns=1)
            # Reading the result fails if the task was lost too often, or could not be sent.
            yield pending.pop(finished), attempt(ray.get, finished)
