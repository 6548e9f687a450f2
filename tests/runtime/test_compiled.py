"""Compiled functions are kept on disk and recompiled when what they are compiled from changes."""

import copy
import importlib
import json
import os
import pickle
import resource
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np
import pytest

from cosmodag.errors import FallbackWarning
from cosmodag.runtime import compile_progress as progress
from cosmodag.runtime import program_cache as cache
from cosmodag.runtime.compiled import compiled
from cosmodag.solve.training.batch_rows import fill_rows

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


def change(folder: Path, old: str, new: str) -> None:
    """Change the helper of the sample package."""
    helper = folder / "sample" / "helper.py"
    helper.write_text(helper.read_text().replace(old, new))


@contextmanager
def small_files() -> Iterator[None]:
    """Limit files to 2,000 bytes: Numba's index fits, a compiled program does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def call(folder: Path, name: str = "twice", at: float = 1.0) -> tuple[float, bool]:
    """Value of a compiled function, and whether its program was read from disk.

    The modules are imported anew, as in a new process; starting one takes about a second.
    """
    for module in [name for name in sys.modules if name.split(".")[0] == "sample"]:
        del sys.modules[module]
    importlib.invalidate_caches()
    cache._is_usable.cache_clear()
    function = getattr(importlib.import_module("sample.kernel"), name)
    heard = []
    with progress.listening(lambda tally: heard.append(tally.done)):
        value = function(at)
    return value, not heard


def test_a_changed_helper_or_constant_elsewhere_is_noticed(package):
    assert call(package) == (4.0, False)
    assert call(package) == (4.0, True)
    (package / "sample" / "constants.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (12.0, False)
    change(package, "x + OFFSET", "x - OFFSET")
    assert call(package) == (-8.0, False)
    assert call(package) == (-8.0, True)


def test_two_versions_share_a_cache(package, tmp_path_factory, monkeypatch):
    """Each version runs its own programs and does not delete the other version's programs."""
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(package / "sample", other / "sample")
    (other / "sample" / "constants.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (4.0, False)
    monkeypatch.syspath_prepend(str(other))
    assert call(other) == (12.0, False)
    assert call(other) == (12.0, True)
    monkeypatch.syspath_prepend(str(package))
    assert call(package) == (4.0, True)


def test_a_constant_that_comes_through_two_modules(package):
    sample = package / "sample"
    (sample / "constants.py").write_text("from sample.numbers import OFFSET\n")
    (sample / "numbers.py").write_text("OFFSET = 1.0\n")
    assert call(package) == (4.0, False)
    (sample / "numbers.py").write_text("OFFSET = 5.0\n")
    assert call(package) == (12.0, False)


def test_a_folder_that_others_may_write_to_is_not_used(package):
    call(package)
    (package / "cache" / "cosmodag").chmod(0o777)
    with pytest.warns(FallbackWarning, match="delete the folder"):
        assert call(package) == (4.0, False)
    with pytest.warns(FallbackWarning, match="others may write"):
        assert call(package) == (4.0, False)


def test_the_folder_is_closed_to_others(package):
    before = os.umask(0o002)
    try:
        call(package)
    finally:
        os.umask(before)
    assert stat.S_IMODE((package / "cache" / "cosmodag").stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_with_a_program_of_another_user_is_not_used(package):
    call(package)
    (folder,) = (package / "cache" / "cosmodag").iterdir()
    os.chown(folder, 12345, -1)
    with pytest.warns(FallbackWarning, match="belong to another user"):
        assert call(package) == (4.0, False)


def test_without_a_folder_the_function_is_compiled_in_memory(package):
    (package / "cache").write_text("a file where the folder should be")
    with pytest.warns(FallbackWarning, match="cannot be created .* set NUMBA_CACHE_DIR"):
        assert call(package) == (4.0, False)


def test_numbas_own_setting_is_left_as_it_was(package):
    before = numba.config.CACHE_DIR
    call(package)
    assert before == numba.config.CACHE_DIR


def test_a_full_disk_leaves_no_program_to_run(package):
    assert call(package) == (4.0, False)
    change(package, "x + OFFSET", "x - OFFSET")
    with small_files():
        assert call(package) == (0.0, False)
    assert call(package) == (0.0, False)
    assert call(package) == (0.0, True)


def test_programs_unused_for_a_month_are_deleted_with_the_next_change(package):
    call(package)
    (old,) = (package / "cache" / "cosmodag").iterdir()
    change(package, "x + OFFSET", "x - OFFSET")
    call(package)
    assert old.exists()  # another version of the package may use it
    os.utime(old, (0, time.time() - 31 * 86400))
    change(package, "x - OFFSET", "x * OFFSET")
    call(package)
    assert not old.exists()
    assert len(list((package / "cache" / "cosmodag").iterdir())) == 2


@pytest.mark.parametrize(
    "damage",
    [lambda kept: kept[:-7], lambda kept: b"", lambda kept: b"no program", lambda kept: kept[40:]],
    ids=["cut short", "empty", "text", "beginning lost"],
)
def test_a_damaged_program_is_compiled_again(package, damage):
    call(package)
    for file in (package / "cache").rglob("*.nb?"):
        file.write_bytes(damage(file.read_bytes()))
    assert call(package)[0] == 4.0
    assert call(package) == (4.0, False)
    assert call(package) == (4.0, True)


def test_an_error_of_the_function_itself_is_raised(package):
    with pytest.raises(numba.TypingError):
        call(package, at="no number")


def test_compiled_functions_call_each_other(package):
    kernel = package / "sample" / "kernel.py"
    text = "\n@compiled\ndef four_times(x):\n    return twice(x) + twice(moved(x) - 1.0)\n"
    kernel.write_text(kernel.read_text() + text)
    heard = []
    with progress.listening(lambda tally: heard.append((tally.done, tally.is_busy))):
        assert call(package, "four_times") == (8.0, False)
        assert heard == [(0, True), (1, False)]
        assert call(package, "four_times") == (8.0, True)
        assert len(heard) == 2
    change(package, "x + OFFSET", "x - OFFSET")
    assert call(package, "four_times") == (-4.0, False)


def test_a_compiled_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(fill_rows)) is fill_rows
    assert copy.deepcopy(fill_rows) is fill_rows


def test_checks_of_bounds_are_another_program(monkeypatch):
    before = cache._name(fill_rows.part)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert cache._name(fill_rows.part) != before


_LEARN = """
import numpy, warnings
from cosmodag import Cosmo, CosmoMLP, OrderSearch
warnings.simplefilter("ignore")
random = numpy.random.default_rng(0)
X = random.normal(size=(30, 3)) @ [[1, 2, 0], [0, 1, -1], [0, 0, 1]]
for learner in (Cosmo(epochs=2), OrderSearch(noise="non-gaussian"), CosmoMLP(epochs=1)):
    model = learner.set_params(random_state=0).fit(X)
    print([tuple(map(float, row)) for row in model.raw_weights_.round(3)], model.causal_order_)
"""


def test_the_learners_find_the_same_without_compiling():
    learnt = [
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", _LEARN],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in "01"
    ]
    assert learnt[0] == learnt[1]
    assert learnt[0].count("\n") == 3


def test_the_command_works_without_compiling(tmp_path):
    table = tmp_path / "table.csv"
    rows = np.random.default_rng(0).normal(size=(20, 3)) @ [[1, 2, 0], [0, 1, -1], [0, 0, 1]]
    np.savetxt(table, rows, delimiter=",", header="a,b,c", comments="")
    command = [sys.executable, "-m", "cosmodag", "fit", str(table), "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, "--method", "cosmo", "--epochs", "2", "--json"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "RuntimeWarning" not in done.stderr
    assert json.loads(done.stdout)["parameters"]["epochs"] == 2


def test_numbas_check_reveals_places_outside_of_an_array(monkeypatch, tmp_path):
    """A negative place counts from the end, as everywhere in Numba and NumPy."""

    def entry(line, i):
        return line[i]

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    checked = compiled(entry)
    assert checked(np.arange(3.0), 2) == checked(np.arange(3.0), -1) == 2.0
    for place in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            checked(np.arange(3.0), place)
