"""The commands of the page for new users print what the page shows."""

import doctest
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from cosmodag.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "new-user.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def words(text: str) -> str:
    """Text without line breaks, and with seconds replaced, because they vary between runs."""
    return re.sub(r"in [\d.]+ s;", "in # s;", " ".join(text.split()))


@pytest.mark.optional
def test_the_transcript(tmp_path, monkeypatch, capsys):
    if find_spec("dowhy") is None:
        pytest.skip("dowhy is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    commands = 0
    for kind, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python" and block.startswith(">>> "):
            test = doctest.DocTestParser().get_doctest(block, names, PAGE.name, str(PAGE), 0)
            runner.run(test, clear_globs=False)
        elif kind == "python":
            exec(block, names)
        elif not block.startswith("$ "):
            lines = Path("trial.csv").read_text().splitlines()
            assert lines[: len(block.splitlines())] == block.splitlines()
        else:
            for command in re.split(r"^\$ cosmodag ", block, flags=re.MULTILINE)[1:]:
                arguments, *shown = command.splitlines()
                capsys.readouterr()
                code = main(shlex.split(arguments))
                printed = capsys.readouterr()
                said = words(printed.err + printed.out)
                for piece in "\n".join(shown).split("…"):
                    assert words(piece) in said
                assert code == (2 if "error:" in command else 0)
                commands += 1
    assert commands == 4
    assert runner.summarize(verbose=False).failed == 0
    assert Path("out/report.html").exists()
