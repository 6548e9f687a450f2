"""A COSMO layer replaces an acyclicity penalty in under ten lines, as the page shows."""

import difflib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("torch_vae_penalty.py", "torch_vae_cosmo.py")


def lines_of(name: str) -> list[str]:
    return (ROOT / "examples" / name).read_text(encoding="utf-8").splitlines()


def the_diff() -> list[str]:
    """Output of ``diff -U0``, without the file names."""
    found = difflib.unified_diff(*map(lines_of, NAMES), n=0, lineterm="")
    return [re.sub(r"^@@.*", "@@", line) for line in found][2:]


def test_fewer_than_ten_lines_are_written() -> None:
    written = [line for line in the_diff() if line.startswith("+")]
    assert 0 < len(written) < 10


def test_the_page_shows_this_very_diff() -> None:
    page = (ROOT / "docs" / "torch.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```diff\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert shown.splitlines() == the_diff()


def test_the_page_counts_the_lines_rightly() -> None:
    page = (ROOT / "docs" / "torch.md").read_text(encoding="utf-8")
    ((written, dropped),) = re.findall(r"(\d+) lines added and (\d+) removed", page)
    diff = the_diff()
    assert int(written) == sum(line.startswith("+") for line in diff)
    assert int(dropped) == sum(line.startswith("-") for line in diff)
