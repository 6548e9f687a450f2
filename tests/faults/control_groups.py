"""Processes in a control group of their own, if the tests may create one on this machine."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MOUNT = Path("/sys/fs/cgroup")


def run_limited(script: str, *arguments: str, memory: int) -> subprocess.CompletedProcess[str]:
    """Run a Python script with a memory limit; skip the test if no group can be created."""
    with _group("memory", {"memory.limit_in_bytes": str(memory)}) as group:
        enter = f"echo $$ > {group}/cgroup.procs"
        command = ["sh", "-c", f'{enter} && exec "$@"', "sh", sys.executable, "-c", script]
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=False, timeout=300
        )


@contextmanager
def _group(controller: str, files: dict[str, str]) -> Iterator[Path]:
    """Create a group below this process's own, so that the limits of that one apply as well."""
    group = _own(controller) / f"cosmodag-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be created here: {error}")
    try:
        for name, text in files.items():
            (group / name).write_text(text)
        yield group
    except OSError as error:
        pytest.skip(f"no limit can be set here: {error}")
    finally:
        _remove(group)


def _own(controller: str) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return MOUNT / controllers / path.strip("/")
    pytest.skip(f"no control groups of version 1 for '{controller}' here")


def _remove(group: Path) -> None:
    for _ in range(100):
        try:
            group.rmdir()
        except OSError:  # the system is still removing its last process
            time.sleep(0.05)
        else:
            return
