"""Available memory of the machine, also under the limits of control groups."""

from pathlib import Path

import pytest

from cosmodag.runtime import memory
from cosmodag.runtime.memory import memory_left


@pytest.fixture
def system(tmp_path):
    """A function that makes a tree of control groups and returns arguments for `memory_left`."""

    def make(membership: str, files: dict[str, str]) -> tuple[Path, Path]:
        mount = tmp_path / "cgroup"
        mount.mkdir()
        for name, text in files.items():
            (mount / name).parent.mkdir(parents=True, exist_ok=True)
            (mount / name).write_text(text + "\n")
        (tmp_path / "membership").write_text(membership + "\n")
        return mount, tmp_path / "membership"

    return make


@pytest.mark.parametrize(
    ("membership", "files", "left"),
    [
        ("0::/", {"memory.max": "3000", "memory.current": "1000"}, 2000),
        ("0::/", {"memory.max": "max", "memory.current": "1000"}, None),
        ("0::/", {"memory.max": "1000", "memory.current": "3000"}, 0),
        ("0::/job/step", {"job/step/memory.max": "500", "job/step/memory.current": "100"}, 400),
        (
            "0::/job/step",  # the limit of the parent group applies too
            {
                "job/step/memory.max": "max",
                "job/step/memory.current": "50",
                "job/memory.max": "300",
                "job/memory.current": "100",
            },
            200,
        ),
        (
            "0::/docker/abc",  # a path outside the container
            {"memory.max": "3000", "memory.current": "1000"},
            2000,
        ),
        (
            "4:memory:/job\n0::/",
            {"memory/job/memory.limit_in_bytes": "5", "memory/job/memory.usage_in_bytes": "2"},
            3,
        ),
        (
            "4:memory:/",
            {
                "memory/memory.limit_in_bytes": str(2**63 - 4096),
                "memory/memory.usage_in_bytes": "2",
            },
            None,
        ),
        (
            "0::/",  # the page cache of inactive files counts as available
            {
                "memory.max": "3000",
                "memory.current": "2900",
                "memory.stat": "anon 100\ninactive_file 2000",
            },
            2100,
        ),
        ("", {}, None),
        ("nonsense", {"memory.max": "x"}, None),
    ],
)
def test_memory_that_is_left(system, membership, files, left):
    assert memory_left(*system(membership, files)) == left


def test_a_system_without_control_groups(tmp_path):
    assert memory_left(tmp_path / "none", tmp_path / "none") is None


def test_the_smaller_of_machine_and_container_counts(monkeypatch):
    monkeypatch.setattr(memory, "_machine_memory", lambda: 5000)
    monkeypatch.setattr(memory, "memory_left", lambda: 2000)
    assert memory.main_memory() == 2000
    monkeypatch.setattr(memory, "memory_left", lambda: None)
    assert memory.main_memory() == 5000
    monkeypatch.setattr(memory, "_machine_memory", lambda: None)
    assert memory.main_memory() is None
