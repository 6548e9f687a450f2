"""Faults generated from syntax trees: each kind changes the program, and the result compiles."""

import ast
import random
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "reliability"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not distributed")


@pytest.fixture
def faults(monkeypatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), str(FOLDER.parent), *sys.path])
    import faults

    return faults


EXPECTED = [
    ("operator", "z = (a + b) * c", ["z = (a + b) / c", "z = (a - b) * c"]),
    ("operator", "z = a if x is not None and x <= 3 else b", [
        "z = a if x is not None or x <= 3 else b",
        "z = a if x is None and x <= 3 else b",
        "z = a if x is not None and x < 3 else b",
    ]),
    ("operator", "z = 'ä' < b", ["z = 'ä' <= b"]),
    ("constant", "z = x[2] * 0.5", ["z = x[3] * 0.5", "z = x[2] * 2.0"]),
    ("axis", "z = x.sum(axis=0) + y.sum(axis=-1)", [
        "z = x.sum(axis=1) + y.sum(axis=-1)", "z = x.sum(axis=0) + y.sum(axis=0)",
    ]),
    ("arguments", "z = f(a, g(b), c)", ["z = f(g(b), a, c)"]),
    ("keyword", "z = f(a, k=1, q=b)", ["z = f(a,  q=b)", "z = f(a, k=1, )"]),
    ("branch", "if a or b:\n    pass", ["if (not (a or b)):\n    pass"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "source", "expected"), EXPECTED)
def test_each_kind_of_fault(faults, kind, source, expected):
    found = [one.applied(source) for one in faults.changes(source) if one.kind == kind]
    assert found == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 1 + 1."""',
        "def f(x: int | None = None) -> Literal[2]: ...",
        "raise DataError(f'{n + 1} rows', 2)",
        "assert x + 1 < 2",
        "if TYPE_CHECKING:\n    LIMIT = 3",
    ],
)
def test_what_is_not_computed_has_no_fault(faults, source):
    assert faults.changes(source) == []


def test_drawn_faults_compile_and_change_the_program(faults):
    folders = ["model", "simulate", "assess"]
    drawn = faults.drawn(48, 0, folders)
    assert {one.folder for one in drawn} == set(folders)
    assert {one.change.kind for one in drawn} == set(faults.KINDS)
    for fault in random.Random(0).sample(drawn, 16):
        source = (faults.PACKAGE / fault.file).read_text("utf-8")
        changed = fault.change.applied(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert fault.difference.count("\n") >= 2
        assert all((ROOT / test).is_file() for test in faults.tests_of(fault))


def test_a_fault_is_taken_out_again(faults, monkeypatch, tmp_path):
    (fault,) = faults.drawn(1, 0, ["metrics"])
    file = tmp_path / "cosmodag" / fault.file
    file.parent.mkdir(parents=True, exist_ok=True)
    source = (faults.PACKAGE / fault.file).read_text("utf-8")
    file.write_text(source)
    answers = iter([(1, "tests/test_one.py::test_a"), (0, "")])

    monkeypatch.setattr(faults, "run_tests", lambda *given: next(answers))
    verdict = faults.judged(tmp_path, fault, 1.0)
    assert verdict.word == faults.NOTICED
    assert file.read_text() == source
    assert "1 noticed, 0 survived" in faults.page([verdict])


@pytest.mark.parametrize(
    ("runs", "word"),
    [
        ([(0, "")], "survived"),
        ([(None, "")], "ran out of time"),
        ([(1, "t"), (1, "t")], "unclear"),  # the test also fails without the fault
        ([(5, "")], "unclear"),
    ],
)
def test_what_a_run_means(faults, monkeypatch, tmp_path, runs, word):
    (fault,) = faults.drawn(1, 0, ["metrics"])
    file = tmp_path / "cosmodag" / fault.file
    file.parent.mkdir(parents=True)
    file.write_text((faults.PACKAGE / fault.file).read_text("utf-8"))
    answers = iter(runs)
    monkeypatch.setattr(faults, "run_tests", lambda *given: next(answers))
    assert faults.judged(tmp_path, fault, 1.0).word == word
