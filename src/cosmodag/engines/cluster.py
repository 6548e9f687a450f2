"""Many machines: one Ray task per item, which Ray repeats if a worker or a whole node is lost.

Ray's backend for joblib has one long-lived actor per core: it ends the whole run if one of them
dies, and returns no result before all are there.
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
    address: str | None,
    jobs: int | None,
    environment: dict[str, str],
    **task: Any,
) -> Iterator[Done]:
    """Call a function on items as Ray tasks; one that is lost too often is a failure."""
    if address is None:
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    with _connected(address, jobs) as ray:
        remote = ray.remote(runtime_env={"env_vars": environment}, **task)(attempt)
        shared = ray.put(function)
        most = _AHEAD * max(2, int(ray.cluster_resources().get("CPU", 1)))
        waiting = enumerate(items)
        pending: dict[Any, int] = {}
        while True:
            for place, item in islice(waiting, most - len(pending)):
                pending[remote.remote(shared, item, timeout)] = place
            if not pending:
                return
            (finished, *_), _ = ray.wait(list(pending), num_returns=1)
            try:
                outcome = ray.get(finished)
            except ray.exceptions.RayError as error:
                *_, last = str(error).strip().splitlines() or [type(error).__name__]
                outcome = Failure("failed", f"The task was lost or could not be sent: {last}")
            yield Done(pending.pop(finished), outcome)


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
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        options |= {"num_cpus": jobs, "include_dashboard": False}
    try:
        ray.init(address or "local", **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        first, *_ = str(error).strip().splitlines() or [type(error).__name__]
        place = address or "this machine"
        raise DataError(f"Ray cannot be reached at {place!r}: {first}") from None
    try:
        yield ray
    finally:
        ray.shutdown()
