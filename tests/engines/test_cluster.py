"""The Ray engine, on a real cluster of two nodes on this machine: nothing is lost with a node."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import engine_work as work
import pytest

from cosmodag.engines import Failure, each

pytestmark = pytest.mark.optional


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Node:
    """One node of a cluster: a process that can be killed, and all that belongs to it."""

    def __init__(self, *options: str) -> None:
        command = [str(Path(sys.executable).with_name("ray")), "start", "--block", *options]
        command += ["--num-cpus=1", "--disable-usage-stats", "--object-store-memory=100000000"]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def kill(self) -> None:
        """End the node as a power cut would, with everything that runs on it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, Node]]:
    """Address of a cluster of two nodes, and the one that may be lost."""
    ray = pytest.importorskip("ray")
    port = _free_port()
    address = f"127.0.0.1:{port}"
    head = Node("--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false")
    _wait_until(lambda: _nodes(ray, address) == 1)
    other = Node(f"--address={address}", "--node-ip-address=127.0.0.2")
    _wait_until(lambda: _nodes(ray, address) == 2)
    yield address, other
    other.kill()
    head.kill()


def test_x(cluster):
    print(cluster)
