"""Each fault in the list occurs once in the sources and names tests that should detect it."""

import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks" / "reliability"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not distributed")


@pytest.fixture
def mutants(monkeypatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import mutants

    return mutants


def test_every_fault_has_its_place_and_its_tests(mutants):
    assert mutants.misplaced() == []


def test_there_are_many_and_no_two_are_the_same(mutants):
    names = [fault.name for fault in mutants.FAULTS]
    changes = {(fault.file, fault.old, fault.new) for fault in mutants.FAULTS}
    assert len(set(names)) == len(changes) == len(names) >= 120


def test_the_first_faults_that_were_missed_are_in_the_list_and_on_the_page(mutants, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    faults = {fault.name: fault for fault in mutants.FAULTS}
    assert all(faults[name].was_missed for name in mutants.FIRST_MISSED)
    verdicts = [mutants.Verdict(fault, "noticed", "", 1.0) for fault in faults.values()]
    first = mutants.page(verdicts).partition("## The first 49")[2].partition("## All")[0]
    assert [line.split(" | ")[0][2:] for line in first.splitlines()[7:] if line] == [
        *mutants.FIRST_MISSED
    ]


def test_a_fault_without_its_place_is_refused(mutants):
    fault = mutants.Fault("a sum is a difference", "sums.py", "a + b", "a - b", ())
    assert fault.changed("return a + b") == "return a - b"
    for source in ("return a * b", "return a + b, a + b"):
        with pytest.raises(ValueError, match="occurs"):
            fault.changed(source)


def test_a_test_that_fails_anyway_says_nothing(mutants):
    for one in ("test_sums.py::test_a[3]", "test_sums.py::test_a", "test_sums.py"):
        assert mutants.is_broken("test_sums.py::test_a", {one})
    assert not mutants.is_broken("test_sums.py::test_a", {"test_sums.py::test_another"})


def test_what_a_run_means(mutants):
    def word(code, *failed, all_ran=True):
        return mutants.word_for(mutants.Ran(code, failed, 1.0, ""), all_ran=all_ran)

    assert word(1, "test_sums.py::test_a") == word(2, "test_sums.py") == mutants.NOTICED
    assert word(0) == mutants.SURVIVED
    assert word(0, all_ran=False) == word(2) == word(5) == mutants.UNCLEAR
    assert word(None) == mutants.LATE


def test_the_copy_comes_before_the_sources(mutants, monkeypatch, tmp_path):
    given = f"{mutants.ROOT / 'src'}:{tmp_path / 'libraries'}"
    monkeypatch.setenv("PYTHONPATH", given)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    made = mutants.environment(tmp_path / "copy")
    assert made["PYTHONPATH"] == f"{tmp_path / 'copy'}:{tmp_path / 'libraries'}"
    assert "NUMBA_CACHE_DIR" not in made
