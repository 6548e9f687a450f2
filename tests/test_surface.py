"""docs/surface.md lists the public names of the package."""

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_lists_all_public_names_and_no_others():
    expected = runpy.run_path(str(DOCS / "generate.py"))["names"]()
    page = (DOCS / "surface.md").read_text("utf-8")
    listed = page.partition("## Public names\n\n")[2].partition("\n## Lines")[0]
    assert listed == expected, "run python docs/generate.py"
