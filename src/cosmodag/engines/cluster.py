"""Many machines: one Ray task per item, retried if a worker or a whole node is lost.

It uses plain tasks: Ray's joblib backend ends the whole run with an error if one worker dies.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from cosmodag.engines.outcomes import Done, Failure, attempt
from cosmodag.errors import DataError

__all__ = ["on_cluster"]

# Items submitted to Ray per core, so that no core waits for this process.
_AHEAD = 4


def on_cluster(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    timeout: float | None,
    retries: int,
    variables: dict[str, str],
    address: str | None,
    jobs: int | None,
    threads: int,
    gpus: float,
) -> Iterator[Done]:
    """Call a function on items as Ray tasks; one lost more than `retries` times is a failure."""
    limits = {"LOKY_MAX_CPU_COUNT": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    environment = {**limits, **variables}
    if address is None:
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    with _connected(address, jobs) as ray:
        task = ray.remote(
            num_cpus=threads,
            num_gpus=gpus,
            max_retries=retries,
            runtime_env={"env_vars": environment},
        )(attempt)
        shared = ray.put(function)
        most = _AHEAD * max(2, int(ray.cluster_resources().get("CPU", 1)))
        waiting = enumerate(items)
        pending: dict[Any, int] = {}
        while True:
            for place, item in islice(waiting, most - len(pending)):
                pending[task.remote(shared, item, timeout)] = place
            if not pending:
                return
            (finished, *_), _ = ray.wait(list(pending), num_returns=1)
            yield Done(pending.pop(finished), _result_of(ray, finished))


def _result_of(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return Failure("failed", f"The task was lost or could not be sent: {lines[-1].strip()}")


@contextmanager
def _connected(address: str | None, jobs: int | None) -> Iterator[Any]:
    """Connect to Ray at an address, or start it on this machine; restore the state on exit."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # unless the user enables it
    try:
        import ray
    except ImportError:
        raise DataError(
            "The engine 'ray' needs Ray, which is not installed: pip install 'cosmodag[ray]'."
        ) from None
    if ray.is_initialized():
        yield ray
        return
    here: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False}
    try:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        ray.init(address or "local", **quiet, **(here if address is None else {}))
    except (ConnectionError, RuntimeError, ValueError) as error:
        (first, *_) = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(
            f"Ray cannot be reached at {address or 'this machine'!r}: {first}"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()
