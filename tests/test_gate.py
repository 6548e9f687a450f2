"""The gate and the README agree, and a skip that matters is a failure there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosmodag import __version__

ROOT = Path(__file__).resolve().parents[1]

SAMPLE = """
import pytest

@pytest.mark.optional
def test_needs_something():
    {first}

def test_plain():
    {second}
"""


def run_sample(folder: Path, first: str, second: str, gate: bool) -> subprocess.CompletedProcess:
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    optional\n")
    (folder / "test_sample.py").write_text(SAMPLE.format(first=first, second=second))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", str(folder)],
        env=os.environ | {"COSMODAG_REQUIRE_OPTIONAL": "1" if gate else ""},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("pytest.skip('not here')", "pass", 1),
        ("pytest.importorskip('no_such_package')", "pass", 1),
        ("pass", "pytest.skip('needs a GPU')", 0),
        ("pytest.xfail('known')", "pass", 0),
        ("pass\n\npytest.importorskip('no_such_package')", "pass", 2),
    ],
)
def test_the_gate_fails_on_a_skip_that_matters(
    tmp_path: Path, first: str, second: str, code: int
) -> None:
    done = run_sample(tmp_path, first, second, gate=True)
    assert done.returncode == code, done.stdout
    assert ("skipped where it must run" in done.stdout) == (code != 0)


def test_elsewhere_the_same_skip_is_honest(tmp_path: Path) -> None:
    done = run_sample(tmp_path, "pytest.skip('not here')", "pass", gate=False)
    assert done.returncode == 0, done.stdout
    assert "not here" in done.stdout


def readme_commands() -> list[str]:
    """Lines of the README that install the package, as a newcomer would copy them."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return [line for line in readme.splitlines() if re.match(r"python3? -m venv ", line)]


def test_the_readme_has_two_commands_of_one_line() -> None:
    demo, tests = readme_commands()
    assert demo.endswith("cosmodag demo")
    assert "pip install '.[test]'" in tests
    assert tests.endswith("python -m pytest -n auto")


def test_the_gate_finds_the_readmes_test_command() -> None:
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run"), "--show-test-command"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == readme_commands()[1]


def test_the_readmes_python_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    assert {"data", "model"} <= names.keys()


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
