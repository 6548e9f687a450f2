"""Devices by name: the CPU is found without importing JAX, accelerators through JAX."""

import sys

import jax
import pytest

from cosmodag.errors import DataError
from cosmodag.runtime import devices
from cosmodag.runtime.devices import HOST, device_named, jax_device


@pytest.fixture
def without_jax(monkeypatch):
    monkeypatch.delitem(sys.modules, "jax")
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    devices._has_plugins.cache_clear()
    yield monkeypatch
    devices._has_plugins.cache_clear()


def test_the_host_as_jax_knows_it():
    assert device_named("cpu") is HOST
    assert jax_device(HOST) == jax.devices("cpu")[0]
    assert jax_device(jax.devices()[0]) == jax.devices()[0]


def test_an_unknown_device_is_named():
    with pytest.raises(DataError, match="device is 'tpu', but this machine offers only"):
        device_named("tpu")


@pytest.mark.parametrize(
    ("module", "platforms", "expected"),
    [
        (None, None, False),
        (None, "cpu", False),
        (None, "cuda", True),
        ("jax_plugins", None, True),
        ("jax_plugins", "cpu", False),
        ("libtpu", None, True),
    ],
)
def test_whether_jax_may_have_accelerators(without_jax, module, platforms, expected):
    without_jax.setattr(devices, "find_spec", lambda name: name if name == module else None)
    without_jax.setattr(devices.metadata, "entry_points", lambda group: [])
    if platforms is not None:
        without_jax.setenv("JAX_PLATFORMS", platforms)
    assert devices._may_have_accelerators() is expected


def test_jax_that_is_imported_may_have_accelerators():
    assert devices._may_have_accelerators()
