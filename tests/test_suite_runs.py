"""The script that runs the whole suite: how it parses pytest's output and writes its page."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks" / "reliability"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not distributed")

OUTPUT = """
.F.s                                                                     [100%]
=========================== short test summary info ============================
SKIPPED [1] tests/test_a.py:3: not here
FAILED tests/test_a.py::test_one[a b] - AssertionError: 1 != 2
ERROR tests/test_b.py - ImportError
1 failed, 50 passed, 1 skipped, 2 xfailed, 1 error in 12.34s
"""


@pytest.fixture
def suite_runs(monkeypatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), str(FOLDER.parent), *sys.path])
    import suite_runs

    return suite_runs


def row(suite_runs: Any, **entries: object) -> dict[str, str]:
    plain = {
        **{"situation": "warm", "seed": 1, "cores": 2, "at_once": 1, "machine": "m", "date": "d"},
        **{"passed": 50, "failed": 0, "seconds": 200, "cpu_seconds": 400, "peak_mb": 1500},
    }
    return {name: str({**plain, **entries}.get(name, "")) for name in suite_runs.COLUMNS}


def test_outcomes_and_names_of_failures_are_read(suite_runs):
    found = suite_runs._result(OUTPUT)
    assert found["failures"] == "test_a.py::test_one[a b]; test_b.py"
    assert {**found, "failures": ""} == {
        "passed": 50,
        "failed": 2,
        "skipped": 1,
        "xfailed": 2,
        "failures": "",
    }


def test_a_run_that_was_killed_is_a_failure(suite_runs):
    found = suite_runs._result("....\n......")
    assert (found["failed"], found["failures"]) == (1, "the run did not end")


@pytest.mark.parametrize("text", ["hot:1", "cold", "cold:", "cold:-1"])
def test_an_unknown_run_is_refused(suite_runs, text):
    with pytest.raises(argparse.ArgumentTypeError, match="cold-load"):
        suite_runs.Run.of(text)


def test_the_page_says_what_was_missed(suite_runs):
    good = [row(suite_runs, situation=name) for name in ("cold", "warm", "warm", "load", "load")]
    assert "missed" not in suite_runs.page(good)
    for wrong in (
        {"situation": "cold", "seconds": 421},
        {"seconds": 241},
        {"peak_mb": 2001},
        {"failed": 1, "failures": "test_a.py::test_one"},
    ):
        text = suite_runs.page([*good, row(suite_runs, **wrong)])
        assert text.count("**missed**") == 1
    assert "test_a.py::test_one" in text
    assert suite_runs.page(good[:4]).count("**missed**") == 1


def test_runs_of_one_commit_and_environment_stand_in_one_table(suite_runs):
    def tables(*changes: dict[str, str]) -> int:
        text = suite_runs.page(
            [row(suite_runs, commit="abc"), *(row(suite_runs, **c) for c in changes)]
        )
        return text.count("\n## ")

    other_days = [{"commit": "abc", "date": day, "situation": "load"} for day in ("e", "f")]
    assert tables(*other_days) == 1
    assert tables({"commit": "abc", "versions": "jax 1"}, {"commit": "abd"}) == 3
    # Runs without a commit are grouped by date.
    assert tables({"date": "e"}, {"date": "f"}, {"date": "f", "situation": "load"}) == 3


def test_caches_and_nothing_else_go_from_one_tree_to_another(suite_runs, tmp_path):
    for name in ("src/a/__pycache__/a.nbc", "src/a/a.py", ".pytest_cache/jax/b", ".cache/c"):
        file = tmp_path / "from" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    caches = suite_runs.Caches(tmp_path / "kept")
    assert not caches.are_there
    caches.keep(tmp_path / "from")
    suite_runs.Caches(tmp_path / "kept").give(tmp_path / "to")
    found = {
        str(p.relative_to(tmp_path / "to")) for p in (tmp_path / "to").rglob("*") if p.is_file()
    }
    assert found == {"src/a/__pycache__/a.nbc", ".pytest_cache/jax/b", ".cache/c"}
