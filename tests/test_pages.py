"""The Python on the pages runs, and prints what it says.

All ``python`` blocks of a page run in one namespace, in their order, but for those below a line
``<!-- not run -->``, and those below ``<!-- needs NAME -->`` where that package is absent. Names
that pages use for whatever the reader has are given here.
"""

import doctest
import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"(?:<!-- (not run|needs (\w+)) -->\n+)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL
)

# An empty line within an output, which doctest would take for its end.
INNER_BLANK = re.compile(r"\n\n(?!>>> |\Z)")


def blocks_of(page: Path) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for mark, package, text in found if not mark or (package and find_spec(package))]


# Pages about an extra: the package without which their examples cannot run.
NEEDS = {"torch.md": "torch"}

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


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
    # The README is read first, by a reader who has nothing yet.
    names = {} if page == README else dict(reader_has)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, text in enumerate(blocks_of(page)):
        if text.startswith(">>> "):
            text = INNER_BLANK.sub("\n<BLANKLINE>\n", text)
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


def test_a_block_may_need_a_package(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- needs json -->\n```python\na\n```\n\n<!-- needs no_such_one -->\n```python\nb\n```\n",
        encoding="utf-8",
    )
    assert blocks_of(page) == ["a\n"]


def test_every_page_is_in_the_navigation():
    """In one of its five groups; sphinx-build -W would fail later, and say less."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.MULTILINE | re.DOTALL)
    lines = [line for tree in trees for line in tree.splitlines()]
    listed = [line for line in lines if line and not line.startswith(":")]
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages - set(listed) == set()
    assert len(trees) == 5
    assert len(listed) == len(set(listed))


def test_pictures_are_there_and_small():
    for page in PAGES:
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            picture = page.parent / link
            assert picture.is_file(), f"{page.name} shows {link}, which is not there"
            assert picture.stat().st_size <= 101_000, link


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
