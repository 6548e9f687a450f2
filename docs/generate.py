"""Writes docs/surface.md: the public names with one line each, and the lines of code by folder.

    python docs/generate.py                    # names, and lines now
    python docs/generate.py --before REVISION  # lines at an earlier commit beside them

The names are those of `__all__` of the public modules; a test compares the page with them.
"""

import argparse
import inspect
import subprocess
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import get_origin

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "surface.md"

MODULES = (
    "cosmodag",
    "cosmodag.assess.bootstrapping",
    "cosmodag.selection",
    "cosmodag.metrics",
    "cosmodag.simulate",
    "cosmodag.io",
    "cosmodag.data.diagnose",
    "cosmodag.data.knowledge",
    "cosmodag.data.time",
    "cosmodag.assess",
    "cosmodag.search",
    "cosmodag.search",
    "cosmodag.report",
    "cosmodag.bench",
    "cosmodag.runtime.engines",
    # Parts for those who add a learner, a mechanism or a loss (`examples/extend`).
    "cosmodag.errors",
    "cosmodag.graph.constraint",
    "cosmodag.model.structure",
    "cosmodag.model.mechanism",
    "cosmodag.model.objective",
    "cosmodag.solve.recipe",
    "cosmodag.solve.methods.one_problem",
    "cosmodag.learners.declarations",
    "cosmodag.learners.refined",
    "cosmodag.learners.trained.trained_learner",
)

# Folders of earlier plans, and what they are part of now.
RENAMED = {
    **dict.fromkeys(("acyclicity", "constraint.py", "dags.py", "equivalence.py"), "graph"),
    **dict.fromkeys(("mechanism", "structure", "objective.py", "orientation.py"), "model"),
    **dict.fromkeys(("diagnose", "knowledge"), "data"),
    **dict.fromkeys(("refinement", "order"), "order, refinement"),
    **dict.fromkeys(("learners", "fit"), "fit, learners"),
    **dict.fromkeys(("solver", "solve"), "solve"),
    **dict.fromkeys(("bench", "engines", "engines.py"), "bench, engines"),
}


def names() -> str:
    """List every public name with the first sentence of its docstring."""
    lines = []
    for module in MODULES:
        home = import_module(module)
        lines += [f"### `{module}`", "", "| name | meaning |", "|---|---|"]
        lines += [f"| `{name}` | {_summary(home, name)} |" for name in sorted(home.__all__)]
        lines.append("")
    return "\n".join(lines)


def _summary(home: object, name: str) -> str:
    value = getattr(home, name)
    if get_origin(value) is not None:
        return "type"
    if not (inspect.ismodule(value) or inspect.isclass(value) or callable(value)):
        return "constant"
    text = inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def lines_now() -> Counter[str]:
    """Count the lines of the package by folder."""
    counts: Counter[str] = Counter()
    source = ROOT / "src" / "cosmodag"
    for path in source.rglob("*.py"):
        counts[_part(path.relative_to(source).parts)] += len(path.read_text("utf-8").splitlines())
    return counts


def lines_at(revision: str) -> Counter[str]:
    """Count the lines of the package by folder, at a commit."""
    command = ["git", "grep", "-c", "", revision, "--", "src/cosmodag/*.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    counts: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        _, path, number = line.split(":")
        counts[_part(Path(path).parts[2:])] += int(number)
    return counts


def _part(parts: tuple[str, ...]) -> str:
    if parts[0] in RENAMED:
        return RENAMED[parts[0]]
    return parts[0] if len(parts) > 1 else "other files"


def lines(revision: str | None) -> str:
    """Table of lines by folder."""
    now = lines_now()
    before = lines_at(revision) if revision else Counter[str]()
    rows = [f"| folder | at `{revision}` | now |", "|---|---:|---:|"] if revision else []
    rows = rows or ["| folder | lines |", "|---|---:|"]
    for part in sorted(now | before):
        old = [f"{before[part]:,}"] if revision else []
        rows.append("| " + " | ".join([part, *old, f"{now[part]:,}"]) + " |")
    old = [f"**{before.total():,}**"] if revision else []
    rows.append("| " + " | ".join(["**all**", *old, f"**{now.total():,}**"]) + " |")
    return "\n".join(rows)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="commit whose lines are shown beside the present ones")
    options = parser.parse_args()
    PAGE.write_text(
        "# The public surface, and the size of the package\n\n"
        "Written by `python docs/generate.py`. Names that are not listed here may change between "
        "releases.\n\n## Public names\n\n"
        f"{names()}\n## Lines of Python by folder\n\n{lines(options.before)}\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
