"""Compiled functions are kept on disk, and made anew when what they were made from has changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_FILES = {
    "__init__.py": "",
    "constants.py": "OFFSET = 1.0\n",
    "helper.py": """
from cosmodag.compiled import inlined
from sample.constants import OFFSET

@inlined
def moved(x):
    return x + OFFSET
""",
    "passed_on/__init__.py": "from sample.helper import moved\n",
    "kernel.py": """
from cosmodag.compiled import compiled
from sample.passed_on import moved

@compiled
def twice(x):
    return 2.0 * moved(x)
""",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in _FILES.items():
        file = tmp_path / "sample" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def call(folder: Path) -> tuple[float, int]:
    """Value of the compiled function at 1 in a new process, and how often it came from disk."""
    program = (
        "from sample.kernel import twice; print(twice(1.0), sum(twice.stats.cache_hits.values()))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",  # its files are told apart by their second and size
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    value, hits = done.stdout.split()
    return float(value), int(hits)


def test_a_changed_helper_or_constant_elsewhere_is_noticed(package):
    assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 1)
    (package / "sample" / "constants.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (12.0, 0)
    helper = package / "sample" / "helper.py"
    helper.write_text(helper.read_text().replace("x + OFFSET", "x - OFFSET"))
    assert call(package) == (-8.0, 0)
    assert call(package) == (-8.0, 1)


def test_a_folder_that_others_may_write_to_is_not_used(package):
    call(package)
    for folder in (package / "cache").iterdir():
        folder.chmod(0o777)
    assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 0)


def test_a_damaged_cache_is_made_anew(package):
    call(package)
    for file in (package / "cache").rglob("*.nbi"):
        file.write_bytes(file.read_bytes()[:-7])
    assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 1)
