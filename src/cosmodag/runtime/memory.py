"""Available memory, also under the limits of containers and batch systems (control groups).

A process belongs to one group in every hierarchy (version 1) or in the only hierarchy (version 2),
and the limits of all parent groups apply too. In a container, the listed path may be the path
outside the container, whose folders do not exist here; the files are then at the top of the mount.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cosmodag.errors import ResourceError
from cosmodag.runtime.devices import Host
from cosmodag.runtime.later import jax

# Fraction of the available memory to use: allocators round up, and other processes need some.
_USABLE = 0.85

_MOUNT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")

# Files of the limit and of the usage, and name of the reclaimable part of the usage, by controller:
# "" stands for version 2, whose only hierarchy is at the mount itself.
_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}

# Version 1 writes "no limit" as the largest possible number.
_NO_LIMIT = 2**60


def available_bytes(device: Host | jax.Device) -> int | None:
    """Bytes available on a device; None if unknown."""
    if isinstance(device, Host):
        return main_memory()
    statistics = device.memory_stats() or {}
    if "bytes_limit" not in statistics:
        return None
    return int(statistics["bytes_limit"] - statistics["bytes_in_use"])


def lanes_that_fit(per_lane: int, fixed: int, available: int | None) -> int | None:
    """Return how many problems fit in memory beside a fixed part; None without a limit."""
    if available is None:
        return None
    return max(0, int((_USABLE * available - fixed) // per_lane))


def check_fits(
    needed: int,
    available: int | None,
    what: str,
    remedy: str = "use fewer columns, or a device with more memory",
) -> None:
    """Raise a `ResourceError` if more memory is needed than can be used."""
    if available is not None and needed > _USABLE * available:
        raise ResourceError(
            f"{what} needs about {needed / 2**30:,.1f} GiB, but only "
            f"{_USABLE * available / 2**30:,.1f} GiB can be used here: {remedy}."
        )


def main_memory() -> int | None:
    """Bytes of available main memory; None if the system does not report it."""
    known = [size for size in (_machine_memory(), memory_left()) if size is not None]
    return min(known) if known else None


def _machine_memory() -> int | None:
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


def memory_left(mount: Path = _MOUNT, membership: Path = _MEMBERSHIP) -> int | None:
    """Bytes that remain under the tightest memory limit, or None without a limit.

    The page cache of inactive files, which the system frees on demand, does not count as used.
    """
    remaining = [
        _remaining(folder, *files)
        for controller, files in _FILES.items()
        for folder in _groups(controller, mount, membership)
    ]
    return min((size for size in remaining if size is not None), default=None)


def _groups(controller: str, mount: Path, membership: Path) -> Iterator[Path]:
    """Folders of this process's group under a controller, and of all groups above it."""
    for line in _text(membership).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            root = mount / controller
            folder = root / path.strip("/")
            yield from (place for place in (folder, *folder.parents) if place.is_relative_to(root))


def _remaining(folder: Path, limit_file: str, usage_file: str, reclaimable: str) -> int | None:
    try:
        limit = int(_text(folder / limit_file))
        usage = int(_text(folder / usage_file))
    except ValueError:  # no such file, or no limit ("max")
        return None
    if limit >= _NO_LIMIT:
        return None
    for line in _text(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == reclaimable and value.strip().isdigit():
            usage -= int(value)
    return max(0, limit - max(0, usage))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
