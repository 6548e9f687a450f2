"""Memory: how much a batch of problems takes, and how much there is."""

import os
from pathlib import Path

import jax

from cosmodag.errors import ResourceError
from cosmodag.solver.problems import Problem
from cosmodag.solver.recipe import Recipe

__all__ = ["available_bytes", "check_fits", "lane_bytes", "lanes_that_fit", "table_bytes"]

# The parameters and Adam's two moments.
_STATE_COPIES = 3

# Not all memory can be had: allocators round up, and the rest of the machine lives on too.
_USABLE = 0.85


def lane_bytes(recipe: Recipe, problem: Problem, working_copies: int) -> int:
    """Bytes that one problem takes while it is solved, its table aside.

    Parameters
    ----------
    recipe : Recipe
    problem : Problem
    working_copies : int
        Arrays as large as the parameters that the backend holds beside the state.
    """
    settings = dict.fromkeys(problem.settings, 1.0)
    shapes = jax.eval_shape(lambda: recipe.start(0, problem.data.shape[1], settings))
    size = sum(leaf.size for leaf in jax.tree.leaves(shapes)) * problem.data.dtype.itemsize
    return int(size * (_STATE_COPIES + working_copies))


def table_bytes(problem: Problem) -> int:
    """Bytes of one problem's table."""
    return int(problem.data.nbytes)


def available_bytes(device: jax.Device) -> int | None:
    """Bytes that can still be had on a device; None where that cannot be told."""
    statistics = device.memory_stats()
    if statistics and "bytes_limit" in statistics:
        return int(statistics["bytes_limit"] - statistics["bytes_in_use"])
    return _main_memory() if device.platform == "cpu" else None


def lanes_that_fit(per_lane: int, fixed: int, available: int | None) -> int | None:
    """How many problems fit beside what is fixed; None for no limit, 0 where not even one does."""
    if available is None:
        return None
    return max(0, int((_USABLE * available - fixed) // per_lane))


def check_fits(needed: int, available: int | None, what: str) -> None:
    """Refuse work that needs more memory than there is, before anything is allocated."""
    if available is not None and needed > _USABLE * available:
        raise ResourceError(
            f"{what} needs about {needed / 2**30:,.1f} GiB, but only "
            f"{_USABLE * available / 2**30:,.1f} GiB can be used here: take fewer columns, or a "
            "device with more memory."
        )


def _main_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
