"""The gate and the README agree, and the gate fails if an optional test is skipped.

These tests run small suites in this process, with the ``conftest.py`` of this suite.
"""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from cosmodag import __version__

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
pytest_plugins = ["pytester"]

SAMPLE = """
import pytest

@pytest.mark.optional
def test_needs_something():
    {first}

def test_plain():
    {second}
"""


def run_sample(
    pytester: pytest.Pytester, first: str, second: str, is_gate: bool
) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers =\n    optional\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_sample=SAMPLE.format(first=first, second=second))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSMODAG_REQUIRE_OPTIONAL", "1" if is_gate else "")
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs")


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
    pytester: pytest.Pytester, first: str, second: str, code: int
) -> None:
    done = run_sample(pytester, first, second, is_gate=True)
    assert done.ret == code
    assert ("skipped where it must run" in done.stdout.str()) == (code != 0)


def test_elsewhere_the_same_skip_is_honest(pytester: pytest.Pytester) -> None:
    done = run_sample(pytester, "pytest.skip('not here')", "pass", is_gate=False)
    assert done.ret == 0
    assert "not here" in done.stdout.str()


NIGHTLY = """
import pytest

@pytest.mark.nightly
@pytest.mark.parametrize("number", range(200))
def test_slow(number):
    pass

def test_quick():
    pass
"""


@pytest.fixture
def nightly_tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite of one quick test and 200 nightly tests, with the ``conftest.py`` of this suite."""
    for name in ("COSMODAG_NIGHTLY_SAMPLE", "COSMODAG_RANDOM_ORDER"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\nmarkers =\n    nightly\n    optional\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_sample=NIGHTLY)
    return pytester


def passed(pytester: pytest.Pytester, *options: str) -> list[str]:
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v", *options)
    return [line.split()[0] for line in done.outlines if " PASSED " in f"{line} "]


def test_nightly_tests_run_when_they_are_asked_for(nightly_tests: pytest.Pytester) -> None:
    assert passed(nightly_tests) == ["test_sample.py::test_quick"]
    assert len(passed(nightly_tests, "-m", "nightly")) == 200
    (named,) = passed(nightly_tests, "test_sample.py::test_slow[7]")
    assert named == "test_sample.py::test_slow[7]"


def test_a_sample_of_nightly_tests_depends_on_the_seed_alone(
    nightly_tests: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = []
    for seed in ("a", "b", "a"):
        monkeypatch.setenv("COSMODAG_NIGHTLY_SAMPLE", seed)
        samples.append(passed(nightly_tests))
    assert samples[0] == samples[2] != samples[1]
    for sample in samples:
        assert 2 < len(sample) < 30
        assert "test_sample.py::test_quick" in sample


def test_every_folder_has_a_nightly_test_in_every_sample(
    nightly_tests: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("many", "few"):
        path = nightly_tests.mkpydir("tests") if folder == "many" else nightly_tests.path / "tests"
        (path / folder / "deeper").mkdir(parents=True)
        text = NIGHTLY if folder == "many" else NIGHTLY.replace("200", "2")
        (path / folder / "deeper" / f"test_nightly_of_{folder}.py").write_text(text)
    for seed in "abcd":
        monkeypatch.setenv("COSMODAG_NIGHTLY_SAMPLE", seed)
        drawn = [name for name in passed(nightly_tests) if "test_slow" in name]
        few = [name for name in drawn if name.startswith("tests/few/")]
        assert len(few) == 1
        assert 2 < len([name for name in drawn if name.startswith("tests/many/")]) < 30
        # The sample of a folder does not depend on the tests of other folders.
        alone = passed(nightly_tests, "tests/few")
        assert [name for name in alone if "test_slow" in name] == few


def test_a_random_order_is_that_of_its_seed_and_loses_no_test(
    nightly_tests: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSMODAG_RANDOM_ORDER", "a")
    first, again = (passed(nightly_tests, "-m", "nightly") for _ in range(2))
    in_order = [f"test_sample.py::test_slow[{number}]" for number in range(200)]
    assert first == again != in_order
    assert sorted(first) == sorted(in_order)


def test_the_gate_installs_the_ray_that_the_extra_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = project["optional-dependencies"]["ray"]
    assert f"'{wanted}'" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


# A fake interpreter. It logs its arguments to the file $ASKED, "creates" a virtual environment by
# copying itself, and fails if its arguments contain $FAILS.
INTERPRETER = """#!/usr/bin/env bash
echo "$(basename "$0") ${HYPOTHESIS_PROFILE:-} $*" >>"$ASKED"
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *"$FAILS"*) exit 1 ;;
esac
"""


def nightly(folder: Path, *parts: str, fails: str = "nothing") -> tuple[int, list[str], list[str]]:
    """Run the nightly script: its exit code, its summary, and the commands it gave to Python."""
    for name in ("old", "new"):
        (folder / name).write_text(INTERPRETER)
        (folder / name).chmod(0o755)
    asked = folder / "asked"
    asked.write_text("")
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "nightly"), *parts],
        env={
            **{"PATH": os.defpath, "TMPDIR": str(folder), "ASKED": str(asked), "FAILS": fails},
            "PYTHONS": f"{folder / 'absent'} {folder / 'old'} {folder / 'new'}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    summary = [line for line in done.stdout.splitlines() if "FAILED" in line]
    return done.returncode, summary, asked.read_text().splitlines()


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not distributed")
def test_nightly_runs_every_part_and_says_what_failed(tmp_path: Path) -> None:
    code, summary, asked = nightly(tmp_path)
    assert (code, summary) == (0, ["── FAILED: nothing"])
    suites = [line for line in asked if "-m pytest" in line]
    assert suites == [
        *["python  -m pytest -n auto"] * 3,
        "python  -m pytest -n auto -m nightly",
        "python nightly -m pytest -n auto tests/properties",
        "python  -m pytest -n auto tests/search tests/solve tests/runtime",
    ]
    made = [line.split()[0] for line in asked if "-m venv" in line]
    assert made == ["old", "new", "old", "old", "old", "old"]
    (pins,) = (line.split()[-1] for line in asked if "lower_bounds" in line)
    for place in (pins, "tests/properties"):
        assert (ROOT / place).exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []

    code, summary, asked = nightly(tmp_path, "slow", "lowest", fails="-m nightly")
    assert (code, summary) == (1, [f"── FAILED: slow on {tmp_path / 'old'}"])
    assert sum("-m pytest" in line for line in asked) == 2
    assert nightly(tmp_path, "fast")[0] == 2


def readme_commands() -> list[str]:
    """Lines of the README that install the package, as a new user would copy them."""
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


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation


def test_the_gate_installs_a_browser_that_is_missing(tmp_path: Path) -> None:
    """Run the gate's own functions with only a fake package manager on the path."""
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    functions = re.findall(r"^(?:install|has)_browser\(\) \{\n.*?^\}$", gate, re.M | re.S)
    installer = tmp_path / "apt-get"
    installer.write_text(
        f"#!/bin/bash\n[ $1 = update ] || {{ : > {tmp_path}/chromium; "
        f"/bin/chmod +x {tmp_path}/chromium; }}\n"
    )
    installer.chmod(0o755)
    script = "\n".join([*functions, "has_browser && exit 9", "install_browser"])
    done = subprocess.run(
        ["/bin/bash", "-c", script], env={"PATH": str(tmp_path)}, timeout=60, check=False
    )
    assert len(functions) == 2
    assert done.returncode == 0
    assert (tmp_path / "chromium").exists()
