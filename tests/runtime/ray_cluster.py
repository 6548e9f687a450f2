"""A Ray cluster of two nodes on this machine, whose nodes and workers can be killed."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["LoopbackCluster", "wait_for"]

# A token keeps other users of the machine out of the cluster. Ray reads these variables once, when
# it is imported, so tests import this module before Ray.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

# The nodes have different addresses, so that this process joins the head and not the other node.
_HEAD, _OTHER = "127.0.0.1", "127.0.0.2"

# Number of attempts to start the head, in case another program takes its port first.
_ATTEMPTS = 5


class LoopbackCluster:
    """Context manager of a cluster with two nodes of one core each, one of them the head.

    Attributes
    ----------
    address
        Address at which drivers join the cluster.
    """

    def __init__(self) -> None:
        self.address = f"{_HEAD}:{_free_port()}"
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "LoopbackCluster":
        try:
            self._start_head()
            self._start("other", f"--address={self.address}", f"--node-ip-address={_OTHER}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_head(self) -> None:
        """Start the head, and try another port if another program has taken this one."""
        for attempt in range(_ATTEMPTS):
            port = self.address.partition(":")[2]
            try:
                self._start("head", "--head", f"--port={port}", "--include-dashboard=false")
            except ChildProcessError:
                if attempt == _ATTEMPTS - 1:
                    raise
                self.kill_node("head")
                self.address = f"{_HEAD}:{_free_port()}"
            else:
                return

    def __exit__(self, *_: object) -> None:
        for name in list(self._nodes):
            self.kill_node(name)

    def _start(self, name: str, *options: str) -> None:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *options]
        command += ["--num-cpus=1", "--disable-usage-stats", "--object-store-memory=100000000"]
        paths = [os.path.abspath(entry) for entry in sys.path]
        self._nodes[name] = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        wait_for(lambda: self._has_joined(name), f"the node {name!r}")

    def _has_joined(self, name: str) -> bool:
        if self._nodes[name].poll() is not None:
            raise ChildProcessError(f"the node {name!r} ended before it had joined")
        return self.alive() == len(self._nodes)

    def alive(self) -> int:
        """Number of nodes that Ray reports as alive, or zero if Ray cannot be reached."""
        code = (
            "import ray\n"
            f"ray.init('{self.address}', log_to_driver=False, logging_level='error')\n"
            "print(sum(node['Alive'] for node in ray.nodes()))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return int(done.stdout.split()[-1]) if done.returncode == 0 else 0

    def workers(self) -> list[int]:
        """Process ids of the workers that are running a task, on either node."""
        inside = [pid for node in self._nodes.values() for pid in _descendants(node.pid)]
        return [pid for pid in inside if _title(pid).startswith("ray::cosmodag")]

    def kill_worker(self, choose: Callable[[list[int]], int]) -> bool:
        """Kill a running worker, as the system does when memory is short; False if none runs."""
        found = self.workers()
        return bool(found) and _kill(choose(found))

    def kill_node(self, name: str = "other") -> None:
        """Kill a node and all its processes, as a power cut would."""
        node = self._nodes.pop(name)
        for pid in [*_descendants(node.pid), node.pid]:
            _kill(pid)
        node.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((_HEAD, 0))
        return int(listener.getsockname()[1])


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 300) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} s in vain for {what}")
        time.sleep(0.5)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def _descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found
