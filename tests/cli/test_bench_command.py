"""``cosmodag bench``: run, resume, report, list, and errors."""

import json
from pathlib import Path

import pytest

from cosmodag.bench import names
from cosmodag.cli import main

TEXT = """
name = "quick"
[[group]]
data = ["n100_d5_ER1_gauss"]
fixed = ["variance-sort", "empty-graph"]
validation = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(TEXT)
    return tmp_path


def facts(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    (found,) = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_run_then_resume_then_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "quick.toml", "--json"]) == 0
    assert facts(capsys)["done"] == 6
    assert main(["bench", "resume", "--json"]) == 0
    assert {**facts(capsys), "store": ""} == {
        "experiment": "quick",
        "done": 0,
        "found": 6,
        "failed": 0,
        "store": "",
    }
    assert main(["bench", "report", "-o", "pages"]) == 0
    assert capsys.readouterr().out.strip() == str(Path("pages") / "tables.md")
    assert (folder / "pages" / "tables.md").exists()


def test_a_part_is_chosen_by_data_and_method(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = ["--data", "n100_*", "--method", "empty-graph", "--json"]
    assert main(["bench", "run", "quick.toml", *part]) == 0
    assert facts(capsys)["done"] == 3
    assert main(["bench", "resume", "--json"]) == 0
    assert facts(capsys)["found"] == 3
    assert main(["bench", "run", "quick.toml", "--json"]) == 0
    found = facts(capsys)
    assert (found["done"], found["found"]) == (3, 3)


def test_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in names())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "no-such-experiment"], "neither a file nor one of the experiments"),
        (["run", "quick.toml", "--store", "quick.toml"], "not a store of results"),
        (["run", "quick.toml", "--address", "auto"], "engine='ray'"),
        (["resume"], "does not exist"),
        (["report"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert main(["bench", *arguments]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1
