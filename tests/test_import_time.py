"""CPU time to import a learner and to fit a small table, with the package installed by pip."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import cosmodag

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"jax", "numba", "networkx", "matplotlib", "pyarrow", "yaml", "typer", "rich"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the installed package, or with a copy of it if no build tools are available."""
    already = Path(cosmodag.__file__).parents[1]
    if already.name == "site-packages":
        return already
    folder = tmp_path_factory.mktemp("site")
    if find_spec("hatchling") is None or find_spec("pip") is None:
        shutil.copytree(
            ROOT / "src" / "cosmodag",
            folder / "cosmodag",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        return folder
    options = ["--no-deps", "--no-build-isolation", "--target", str(folder), "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder


def after(statement: str, folder: Path) -> tuple[float, set[str]]:
    """Run a statement in a new process: its CPU seconds and the packages that it imported."""
    script = (
        f"{statement}\nimport json, os, sys\ntimes = os.times()\n"
        "print(json.dumps([times.user + times.system, "
        "sorted({name.partition('.')[0] for name in sys.modules})]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages keep their byte code
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    seconds, packages = json.loads(done.stdout)
    return seconds, set(packages)


def test_learners_import_nothing_that_only_a_fit_needs(installed: Path) -> None:
    statement = "from cosmodag import Cosmo, OrderSearch; Cosmo(); OrderSearch()"
    _, packages = after(statement, installed)
    needed_by_scikit_learn = after("import sklearn.base", installed)[1]
    assert "cosmodag" in packages
    assert not (packages - needed_by_scikit_learn) & HEAVY


def test_importing_cosmo_costs_at_most_one_and_a_fifth_seconds(installed: Path) -> None:
    statement = "from cosmodag import Cosmo"
    after(statement, installed)  # compiles to byte code

    def is_quick() -> bool:
        ours, theirs = (after(what, installed)[0] for what in (statement, "import sklearn.base"))
        runs.append((ours, theirs))
        # Most of the time is scikit-learn's own import, which therefore scales the limit on a
        # machine that is slow or busy.
        return ours <= max(1.2, 1.25 * theirs + 0.1)

    runs: list[tuple[float, float]] = []
    assert any(is_quick() for _ in range(10)), runs


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """CPU seconds of a whole process, from its start to its end."""
    before = os.times()
    subprocess.run([sys.executable, *command], env=environment, check=True, timeout=300)
    now = os.times()
    user = now.children_user - before.children_user
    return user + now.children_system - before.children_system


def test_a_second_fit_of_a_small_file_costs_at_most_two_seconds(
    installed: Path, tmp_path: Path
) -> None:
    table, out = tmp_path / "table.csv", tmp_path / "out"
    rows = np.random.default_rng(0).normal(size=(16, 7))
    np.savetxt(table, rows, delimiter=",", header="a,b,c,d,e,f,g", comments="")
    environment = {
        **os.environ,
        "PYTHONPATH": str(installed),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    fit = ["-m", "cosmodag", "fit", str(table), "-o", str(out), "--quiet"]
    cpu_seconds(fit, environment)  # compiles
    assert (out / "report.html").exists()

    def is_quick() -> bool:
        ours = cpu_seconds(fit, environment)
        theirs = cpu_seconds(["-c", "import sklearn.base"], environment)
        runs.append((ours, theirs))
        # 1.2 times the import of scikit-learn when this test was written; 1.7 times before.
        return ours <= max(2.0, 1.4 * theirs)

    runs: list[tuple[float, float]] = []
    assert any(is_quick() for _ in range(10)), runs
