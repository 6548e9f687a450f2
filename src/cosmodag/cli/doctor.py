"""``cosmodag doctor``: what is installed, on what machine, and what is missing."""

import os
import platform
import re
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from cosmodag._version import __version__
from cosmodag.cli._cache import cache_folder
from cosmodag.cli._output import JsonOption, print_json, print_result, print_table, say

__all__ = ["doctor"]

_BYTES_PER_GIBIBYTE = 1024**3


@dataclass(frozen=True)
class Examination:
    """What ``cosmodag doctor`` found, in the shape ``--json`` prints."""

    cosmodag: str
    python: str
    platform: str
    packages: dict[str, str | None]
    extras: dict[str, dict[str, str | None]]
    devices: list[str]
    device_problem: str | None
    cores: int
    memory_gib: float | None
    cache: str
    cache_writable: bool


def doctor(json: JsonOption = False) -> None:
    """Show what is installed, and on what machine.

    Versions of cosmodag, Python and every dependency, the devices JAX computes on, cores, memory,
    and whether the folder that keeps compiled code can be written.
    """
    found = _examine()
    if json:
        print_json(asdict(found))
    else:
        _show(found)


def _examine() -> Examination:
    packages, extras = _installed_packages()
    devices, device_problem = _devices()
    cache = cache_folder()
    return Examination(
        cosmodag=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=packages,
        extras=extras,
        devices=devices,
        device_problem=device_problem,
        cores=_cores(),
        memory_gib=_memory_gibibytes(),
        cache=str(cache),
        cache_writable=_is_writable(cache),
    )


def _show(found: Examination) -> None:
    memory = "unknown" if found.memory_gib is None else f"{found.memory_gib} GiB"
    machine = [
        ("cosmodag", found.cosmodag),
        ("python", found.python),
        ("platform", found.platform),
        ("devices", ", ".join(found.devices) or f"none ({found.device_problem})"),
        ("cores", found.cores),
        ("memory", memory),
        ("cache", f"{found.cache} ({'writable' if found.cache_writable else 'NOT writable'})"),
    ]
    print_table(["", "machine"], machine)
    print_result("")
    rows = [("base", name, version) for name, version in found.packages.items()]
    for extra, packages in found.extras.items():
        rows += [(extra, name, version) for name, version in packages.items()]
    cells = [(part, name, version or "not installed") for part, name, version in rows]
    print_table(["part", "package", "version"], cells)


def _installed_packages() -> tuple[dict[str, str | None], dict[str, dict[str, str | None]]]:
    """Versions of what cosmodag's own metadata asks for; None where it is not installed.

    Returns
    -------
    packages : dict
        Version by name, of the packages every installation needs.
    extras : dict
        For each extra, version by name of the packages it adds.
    """
    packages: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    try:
        requirements = metadata.requires("cosmodag") or []
    except metadata.PackageNotFoundError:
        say("warning: cosmodag runs from its source, not installed; run 'pip install .' there.")
        requirements = []
    for requirement in requirements:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        if name == "cosmodag":  # an extra that contains another one
            continue
        if extra is None:
            packages[name] = _version(name)
        else:
            extras.setdefault(extra.group(1), {})[name] = _version(name)
    return packages, extras


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> tuple[list[str], str | None]:
    """Devices JAX can compute on, or the first line of why it finds none."""
    try:
        import jax

        return [f"{device.platform}: {device.device_kind}" for device in jax.devices()], None
    except (ImportError, RuntimeError) as error:
        return [], f"{type(error).__name__}: {error}".splitlines()[0]


def _cores() -> int:
    """Cores this process may use, which in a container may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gibibytes() -> float | None:
    """Memory of the machine, where the system says it."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(total / _BYTES_PER_GIBIBYTE, 1)


def _is_writable(folder: Path) -> bool:
    """Whether the folder can be written, or made where it does not exist yet."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
