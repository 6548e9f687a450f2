"""The examples run from the first line to the last.

Each script of ``examples/`` runs as a main module in an empty folder, with ``--quick``: it executes
every line but is too short to learn much. ``first_fit`` and the nightly scripts run in a process of
their own, as a user would run them. A script that imports a package which is not a dependency of
cosmodag is skipped if that package is not installed.
"""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPTS = sorted((ROOT / "examples").rglob("*.py"))


def imported_by(script: Path) -> set[str]:
    """Names of the packages that a script imports, at any level."""
    names = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def optional_for(script: Path) -> list[str]:
    """Packages that a script needs and that are not dependencies of cosmodag."""
    declared = {re.split(r"[^\w-]", name)[0] for name in PROJECT["dependencies"]}
    always = declared | {"cosmodag", "sklearn"} | sys.stdlib_module_names
    return sorted(imported_by(script) - always)


# `torch_vae_cosmo`, `golem_ev`, `test_extending.py` and the tests of Ray cover the same features.
NIGHTLY = {
    "torch_vae_penalty", "torch_interventions", "quadratic", "laplace_noise", "many_machines",
}  # fmt: skip

IN_SUBPROCESS = {"first_fit", *NIGHTLY}  # run in a process of their own


def marks_of(script: Path) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.optional] if optional_for(script) else []
    return [*marks, pytest.mark.nightly] if script.stem in NIGHTLY else marks


@pytest.mark.parametrize("script", [pytest.param(s, id=s.stem, marks=marks_of(s)) for s in SCRIPTS])
def test_example_runs(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    absent = [name for name in optional_for(script) if find_spec(name) is None]
    if absent:
        pytest.skip(f"{script.name} needs {', '.join(absent)}, not installed here")
    monkeypatch.chdir(tmp_path)
    if script.stem in IN_SUBPROCESS:
        shown = run_in_subprocess(script, "--quick")
    else:
        run_in_process(script, monkeypatch, "--quick")
        shown = capsys.readouterr().out
    assert shown.strip(), f"{script.name} printed nothing"


def run_in_process(script: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    """Run a script as the main module of this process, which has already imported the packages."""
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    monkeypatch.syspath_prepend(str(script.parent))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(script), run_name="__main__")


def run_in_subprocess(script: Path, *arguments: str) -> str:
    """Run a script in a process of its own, as a user would, and return its output."""
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads((ROOT / "examples" / "first_look.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(shown), "a code cell of the notebook has no stored output"
    kinds = {kind for cell in shown for output in cell for kind in output.get("data", {})}
    assert "image/png" in kinds
    script = tmp_path / "notebook.py"
    script.write_text("\n\n".join(cells), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run_in_process(script, monkeypatch)


def test_optional_packages_are_told_from_others(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import json\nimport torch.nn\nfrom cosmodag import Cosmo\nimport numpy\n")
    assert optional_for(script) == ["torch"]
