"""Several local processes, by joblib's loky; no item is lost if a process dies.

joblib's `Parallel` ends the whole run if one worker dies, and does the work of one job in this
process, without a limit on its threads.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from typing import Any

from cosmodag.engines.outcomes import Done, Failure

__all__ = ["in_processes"]

Call = Callable[[Any], Any]


def in_processes(
    call: Call, items: Iterable[Any], jobs: int, environment: dict[str, str], retries: int
) -> Iterator[Done]:
    """Call a function on items in several processes; results come as they are ready.

    If a process dies, the items that may have killed it are tried again one at a time, and an item
    that kills its process each time is a failure.
    """
    left = dict(enumerate(items))
    while left:
        yield from _until_a_death(call, left, jobs, environment)
        # Items are begun in order: those that were in progress are the first that are left.
        for place in list(left)[:jobs]:
            alone, error = {place: left.pop(place)}, ""
            for _ in range(max(1, retries)):
                if alone:
                    error = yield from _until_a_death(call, alone, 1, environment)
            if alone:
                yield Done(place, Failure("failed", error))


def _until_a_death(
    call: Call, left: dict[int, Any], jobs: int, environment: dict[str, str]
) -> Generator[Done, None, str]:
    """Do items, and remove them from those left; stop if a process dies, and return the reason."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(jobs, timeout=None, env=environment)
    # Unlike a wait for futures, a wait for a simple queue can be interrupted at any time.
    ready: SimpleQueue[Future[Any]] = SimpleQueue()
    try:
        places: dict[Future[Any], int] = {}
        for place, item in left.items():
            future = pool.submit(call, item)
            places[future] = place
            future.add_done_callback(ready.put)
        while left:
            future = ready.get()
            try:
                outcome = future.result()
            except BrokenProcessPool:
                raise
            except Exception as error:  # the item, or its result, cannot be pickled
                outcome = Failure("failed", f"{type(error).__name__}: {error}")
            del left[places[future]]
            yield Done(places[future], outcome)
    except BrokenProcessPool as error:
        return " ".join(str(error).split())
    finally:
        pool.shutdown(wait=True, kill_workers=True)
    return ""
