"""Devices by name, and whether JAX can run in this process; for the CPU, JAX is not imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import numpy as np

from cosmodag.errors import DataError, ForkError
from cosmodag.runtime.later import jax


@dataclass(frozen=True)
class Host:
    """The CPU of this machine, in place of a JAX device."""

    platform: str = "cpu"
    device_kind: str = "cpu"


HOST = Host()


def device_named(name: str) -> Host | jax.Device:
    """Find the device named ``"cpu"``, ``"gpu"``, … or ``"auto"`` (a GPU if there is one)."""
    if name == "cpu" or (name == "auto" and not _may_have_accelerators()):
        return HOST
    offered = _devices()
    if name == "auto":
        found = offered[0]
    else:
        try:
            found = jax.devices(name)[0]
        except RuntimeError:
            raise DataError(
                f"device is {name!r}, but this machine offers only "
                f"{', '.join(sorted({device.platform for device in offered}))}: "
                "choose one of these or 'auto'."
            ) from None
    return HOST if found.platform == "cpu" else found


def _devices(platform: str | None = None) -> list[jax.Device]:
    """List the devices of JAX, whose failure to start is one sentence."""
    try:
        return list(jax.devices(platform))
    except (RuntimeError, AssertionError):  # an assertion if no platform could start
        asked = os.environ.get("JAX_PLATFORMS", "its platforms")
        raise DataError(
            f"JAX cannot start with JAX_PLATFORMS={asked}: leave JAX_PLATFORMS unset, or set it to "
            "cpu."
        ) from None


def jax_device(device: Host | jax.Device) -> jax.Device:
    """Return the JAX device for a device; for `Host`, JAX's CPU."""
    return _devices("cpu")[0] if isinstance(device, Host) else device


@contextmanager
def precision_of(parameters: dict[str, Any], device: Host | jax.Device) -> Iterator[None]:
    """Context in which JAX uses a device, and the precision of some parameters."""
    is_double = parameters["arcs"].dtype == np.float64
    with jax.enable_x64(is_double), on_device(device):
        yield


@contextmanager
def on_device(device: Host | jax.Device) -> Iterator[None]:
    """Context in which JAX uses a device.

    What a program has set for itself does not hold here: methods probe values that are not finite,
    and copy arrays to the device.
    """
    with (
        jax.default_device(jax_device(device)),
        jax.debug_nans(False),
        jax.debug_infs(False),
        jax.transfer_guard("allow"),
    ):
        yield


def _may_have_accelerators() -> bool:
    """Whether JAX might find a device other than the CPU; answered without importing JAX.

    JAX finds accelerators through plug-ins, which are packages below ``jax_plugins`` or entry
    points of that name, and through ``libtpu``. If JAX is already imported, the result is true,
    because asking JAX itself then costs nothing more.
    """
    if "jax" in sys.modules:
        return True
    platforms = os.environ.get("JAX_PLATFORMS", "")
    return platforms != "cpu" and (bool(platforms) or _has_plugins())


@cache
def _has_plugins() -> bool:
    if find_spec("jax_plugins") is not None or find_spec("libtpu") is not None:
        return True
    return bool(metadata.entry_points(group="jax_plugins"))


# Processes in which JAX was not imported before they were forked. A forked process inherits this
# set, which does not contain its own id.
_USABLE_PROCESSES = {os.getpid()}


def refuse_after_fork() -> None:
    """Raise `ForkError` in a process that was forked after JAX had been imported.

    JAX has no public function that says whether its threads run.
    """
    if os.getpid() in _USABLE_PROCESSES:
        return
    if "jax" not in sys.modules:
        _USABLE_PROCESSES.add(os.getpid())
        return
    raise ForkError(
        "This process was forked from one that had imported JAX, and JAX would deadlock, because "
        "a fork does not copy threads: start processes by 'spawn' "
        "(multiprocessing.get_context('spawn')), or use joblib with its 'loky' processes."
    )
