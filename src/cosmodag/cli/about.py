"""Commands about the installation and the learners: ``doctor`` and ``methods``."""

import os
import platform
import re
from importlib import metadata
from typing import Annotated

import typer

from cosmodag._version import __version__
from cosmodag.cli.options.common import JsonOption
from cosmodag.cli.options.learners import ENTRIES, Method
from cosmodag.cli.terminal.output import print_json, print_result, print_table, say
from cosmodag.learners.registry import LearnerEntry
from cosmodag.runtime.private_folder import cache_folder

_BYTES_PER_GIBIBYTE = 1024**3

# Extras for developing the package, which only --json lists.
_DEVELOPER_EXTRAS = {"browser", "dev", "test"}


def doctor(json: JsonOption = False) -> None:
    """Show installed versions, devices and resources.

    Lists the versions of cosmodag, Python and every dependency, JAX's devices, the cores and the
    memory available to this process, the backend that would train 30 variables, and whether the
    cache folder for compiled code is writable. --json also lists the tools for developing cosmodag.
    """
    from cosmodag.runtime.memory import main_memory
    from cosmodag.runtime.threads import cores

    packages, extras = _installed_packages()
    devices, device_problem = _devices()
    cache, memory = cache_folder(), main_memory()
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    found = {
        "cosmodag": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "extras": extras,
        "devices": devices,
        "device_problem": device_problem,
        "cores": cores(),
        "memory_gib": None if memory is None else round(memory / _BYTES_PER_GIBIBYTE, 1),
        "backend": None if device_problem else _usual_backend(),
        "cache": str(cache),
        "cache_writable": existing.is_dir() and os.access(existing, os.W_OK | os.X_OK),
    }
    if json:
        print_json(found)
        return
    writable = "writable" if found["cache_writable"] else "NOT writable"
    machine = [
        *((name, found[name]) for name in ("cosmodag", "python", "platform")),
        ("devices", ", ".join(devices) or f"none ({device_problem})"),
        ("cores", found["cores"]),
        ("memory available", "unknown" if memory is None else f"{found['memory_gib']} GiB"),
        ("backend at 30 variables", found["backend"] or "none"),
        ("cache", f"{cache} ({writable})"),
    ]
    print_table(["", "machine"], machine)
    print_result("")
    shown = {"base": packages, **{e: extras[e] for e in sorted(extras.keys() - _DEVELOPER_EXTRAS)}}
    cells = [
        (part, name, version or "not installed")
        for part, versions in shown.items()
        for name, version in versions.items()
    ]
    print_table(["part", "package", "version"], cells)


def _installed_packages() -> tuple[dict[str, str | None], dict[str, dict[str, str | None]]]:
    """Return the versions of the required packages, and of the packages of each extra."""
    packages: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    try:
        requirements = metadata.requires("cosmodag") or []
    except metadata.PackageNotFoundError:
        say("warning: cosmodag runs from source and is not installed; run 'pip install .' there.")
        requirements = []
    for requirement in requirements:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        if name == "cosmodag":  # an extra that includes another extra
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
    """Return the devices of JAX, or the first line of its error if it finds none."""
    try:
        import jax

        return [f"{device.platform}: {device.device_kind}" for device in jax.devices()], None
    except (ImportError, RuntimeError) as error:
        return [], f"{type(error).__name__}: {error}".splitlines()[0]


def _usual_backend() -> str:
    """Return the backend for linear COSMO on a thousand rows of 30 variables."""
    import numpy as np

    from cosmodag.learners.cosmo import Cosmo
    from cosmodag.solve.plan import plan_many

    model, data = Cosmo(random_state=0), np.zeros((1000, 30), np.float32)
    (plan,) = plan_many(model.solver_for(*data.shape), model.problems_for(data))
    return plan.backend


def methods(
    name: Annotated[Method | None, typer.Argument(help="Learner whose parameters to list.")] = None,
    json: JsonOption = False,
) -> None:
    """List the learners, or the parameters of one learner.

    Set a parameter by its own option if it has one, otherwise by --set NAME=VALUE, as in
    'cosmodag fit data.csv --set lambda1=1e-3 --set hidden=10,10'.
    """
    chosen = {method: ENTRIES[method] for method in (Method if name is None else [name])}
    if json:
        facts = [
            {
                "method": method.value,
                "class": f"cosmodag.{entry.name}",
                "summary": entry.summary,
                "parameters": _parameters(entry),
            }
            for method, entry in chosen.items()
        ]
        print_json(facts)
    elif name is None:
        summaries = [(method.value, entry.summary) for method, entry in chosen.items()]
        print_table(["method", "what it is"], summaries)
        print_result("'cosmodag methods NAME' lists the parameters of a learner.")
    else:
        entry = chosen[name]
        rows = [
            [value or "--set" for value in parameter.values()] for parameter in _parameters(entry)
        ]
        title = f"{name.value} (cosmodag.{entry.name}): {entry.summary}"
        print_table(["parameter", "type", "default", "option", "meaning"], rows, title=title)


def _parameters(entry: LearnerEntry) -> list[dict[str, str | None]]:
    """Describe the parameters of a learner, in the order of its signature."""
    learner = entry.load()
    return [
        {
            "name": name,
            "type": each.type,
            "default": repr(getattr(learner, name)).replace("'", '"'),
            "option": each.option,
            "meaning": each.summary,
        }
        for name, each in learner.parameters.items()
    ]
