"""The Python code on the documentation pages runs and prints the documented output.

All ``python`` blocks of a page run in order in one namespace. A block below a line
``<!-- not run -->`` is skipped, and so is one below ``<!-- needs NAME -->`` if that package is not
installed. The fixture `predefined_names` has the names that pages use for the reader's own data.
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

# An empty line within an output, which doctest would interpret as its end.
INNER_BLANK = re.compile(r"\n\n(?!>>> |\Z)")


def blocks_of(page: Path) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for mark, package, text in found if not mark or (package and find_spec(package))]


# Packages that the examples of pages about an extra need.
NEEDS = {"torch.md": "torch"}

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def predefined_names() -> dict[str, object]:
    """Names that pages use without defining them: tables and a fitted model."""
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
def test_examples_run(page, predefined_names, tmp_path, monkeypatch):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    monkeypatch.chdir(ROOT / "tests" / "protein_data")
    # The README is read first, so its examples must define every name they use.
    names = {} if page == README else dict(predefined_names)
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
    """Each is in one of the five groups; sphinx-build -W would fail later and less clearly."""
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
