"""The Python on the pages runs, and prints what it says.

All ``python`` blocks of a page run in one namespace, in their order, but for those below a line
``<!-- not run -->``. Names that pages use for whatever the reader has are given here.
"""

import doctest
import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- not run -->\n+)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks_of(page: Path) -> list[str]:
    return [
        text for skipped, text in BLOCK.findall(page.read_text(encoding="utf-8")) if not skipped
    ]


# Pages about an extra: the package without which their examples cannot run.
NEEDS = {"torch.md": "torch"}

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def reader_has() -> dict[str, object]:
    """A table of a few variables, tables like it, and a fitted model."""
    from cosmodag import VarianceSort, simulate

    data = simulate.load("n200_d5_ER1_gauss", seed=0)
    table = pd.DataFrame(data.X, columns=["rain", "yield", "sun", "soil", "price"])
    return {
        "data": data,
        "table": table,
        "held_out": table,
        "tables": [(data.X - data.X.mean(0)).astype("float32")] * 2,
        "model": VarianceSort().fit(table),
    }


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, id=p.name, marks=pytest.mark.optional if p.name in NEEDS else ())
        for p in PAGES
        if blocks_of(p)
    ],
)
def test_examples_run(page, reader_has, tmp_path, monkeypatch):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    monkeypatch.chdir(ROOT / "tests" / "protein_data")
    names = dict(reader_has)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, text in enumerate(blocks_of(page)):
        if text.startswith(">>> "):
            test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        else:
            script = tmp_path / f"block_{number}.py"
            script.write_text(text, encoding="utf-8")
            names.update(runpy.run_path(str(script), init_globals=names))
    assert runner.summarize(verbose=False).failed == 0


def test_a_block_may_be_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\na\n```\n\n<!-- not run -->\n```python\nb\n```\n", encoding="utf-8")
    assert blocks_of(page) == ["a\n"]
