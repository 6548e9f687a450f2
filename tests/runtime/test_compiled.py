"""Compiled functions are cached on disk and recompiled when their sources change."""

import importlib
import os
import resource
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest

from cosmodag.errors import FallbackWarning
from cosmodag.runtime import compile_progress as progress
from cosmodag.runtime import program_cache as cache
from cosmodag.runtime.compiled import programs_of

_FILES = {
    "__init__.py": "",
    "constants.py": "OFFSET = 1.0\n",
    "helper.py": """
from cosmodag.runtime.compiled import inlined
from sample.constants import OFFSET

@inlined
def moved(x):
    return x + OFFSET
""",
    "passed_on/__init__.py": "from sample.helper import moved\n",
    "kernel.py": """
from cosmodag.runtime.compiled import compiled
from sample.passed_on import moved

@compiled
def twice(x):
    return 2.0 * moved(x)
""",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    # Python compares modification times in whole seconds, so it would run outdated byte code.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    for name, text in _FILES.items():
        file = tmp_path / "sample" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


@contextmanager
def small_files() -> Iterator[None]:
    """Limit files to 2,000 bytes: Numba's index fits, a compiled program does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def call(folder: Path, name: str = "twice") -> tuple[float, int]:
    """Value of a compiled function at 1, and the number of programs that were read from disk.

    The modules are imported anew, as in a new process; starting one takes about a second.
    """
    for module in [name for name in sys.modules if name.split(".")[0] == "sample"]:
        del sys.modules[module]
    importlib.invalidate_caches()
    cache._stamp.cache_clear()
    cache._imports_of.cache_clear()
    function = getattr(importlib.import_module("sample.kernel"), name)
    return function(1.0), sum(function.stats.cache_hits.values())


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
    with pytest.warns(FallbackWarning, match="Delete the folder"):
        assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 0)


def test_an_empty_folder_is_closed_to_others_and_used(package):
    before = os.umask(0o002)
    try:
        assert call(package) == (4.0, 0)
    finally:
        os.umask(before)
    (folder,) = (package / "cache").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert call(package) == (4.0, 1)


def test_a_full_disk_leaves_no_old_program_to_run(package):
    assert call(package) == (4.0, 0)
    helper = package / "sample" / "helper.py"
    helper.write_text(helper.read_text().replace("x + OFFSET", "x - OFFSET"))
    with small_files():
        assert call(package) == (0.0, 0)
    assert call(package) == (0.0, 0)
    assert call(package) == (0.0, 1)


def test_two_versions_share_a_cache(package, tmp_path_factory, monkeypatch):
    """Each version runs its own programs and does not delete the other version's programs."""
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(package / "sample", other / "sample")
    (other / "sample" / "constants.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (4.0, 0)
    monkeypatch.syspath_prepend(str(other))
    assert call(other) == (12.0, 0)
    assert call(other) == (12.0, 1)
    monkeypatch.syspath_prepend(str(package))
    assert call(package) == (4.0, 1)


def test_a_constant_that_comes_through_two_modules(package):
    sample = package / "sample"
    (sample / "constants.py").write_text("from sample.numbers import OFFSET\n")
    (sample / "numbers.py").write_text("OFFSET = 1.0\n")
    assert call(package) == (4.0, 0)
    (sample / "numbers.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (12.0, 0)


def test_outdated_programs_are_deleted(package):
    call(package)
    before = len(list((package / "cache").rglob("*.nbc")))
    (package / "sample" / "constants.py").write_text("OFFSET = 5.0\n")
    call(package)
    assert len(list((package / "cache").rglob("*.nbc"))) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_program_of_another_user_is_not_run(package):
    call(package)
    for file in (package / "cache").rglob("*.nbc"):
        os.chown(file, 12345, -1)
    assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 1)


def test_a_program_under_another_name_is_not_run(package):
    """Each file records the function it was compiled from, because files can be renamed."""
    kernel = package / "sample" / "kernel.py"
    kernel.write_text(kernel.read_text() + "\n@compiled\ndef none(x):\n    return 0.0 * x\n")
    folder = package / "cache"
    call(package)
    call(package, "none")
    (twice,) = folder.rglob("*twice*.nbc")
    (none,) = folder.rglob("*none*.nbc")
    twice.write_bytes(none.read_bytes())
    assert call(package) == (4.0, 0)


def test_another_users_folder_is_not_used(package, monkeypatch):
    assert call(package) == (4.0, 0)
    another = os.getuid() + 1
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: another)
        with pytest.warns(FallbackWarning):
            found = call(package)
    assert found == (4.0, 0)
    assert call(package) == (4.0, 1)


@pytest.mark.parametrize(
    "damage",
    [lambda kept: kept[:-7], lambda kept: b"", lambda kept: b"no program", lambda kept: kept[40:]],
    ids=["cut short", "empty", "text", "beginning lost"],
)
def test_a_damaged_program_is_compiled_again(package, damage):
    call(package)
    for file in (package / "cache").rglob("*.nb?"):
        file.write_bytes(damage(file.read_bytes()))
    assert call(package) == (4.0, 0)
    assert call(package) == (4.0, 1)


def test_compiled_programs_are_reported_and_read_ones_are_not(package):
    kernel = package / "sample" / "kernel.py"
    kernel.write_text(
        kernel.read_text()
        + "\n@compiled\ndef four_times(x):\n    return twice(x) + twice(moved(x) - 1.0)\n"
    )
    both = {"sample.kernel.twice", "sample.kernel.four_times"}
    heard = []
    with progress.listening(lambda tally: heard.append((tally.done, tally.total))):
        assert call(package, "four_times") == (8.0, 0)
        assert heard == [(0, 2), (0, 2), (1, 2), (2, 2)]
        assert call(package, "four_times") == (8.0, 1)
        assert len(heard) == 4
    four_times = importlib.import_module("sample.kernel").four_times
    assert programs_of(four_times) == both
