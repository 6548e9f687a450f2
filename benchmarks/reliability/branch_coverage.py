r"""Coverage of src/ by folder, with functions compiled by Numba counted separately.

    python -m pytest -n auto --cov --cov-report=json:build/coverage.json
    NUMBA_DISABLE_JIT=1 python -m pytest tests/search tests/runtime tests/solve/kernels -n auto \
        --cov --cov-config=benchmarks/reliability/compiled.ini --cov-report=json:build/compiled.json
    python benchmarks/reliability/branch_coverage.py build/coverage.json \
        --compiled build/compiled.json

coverage.py does not see compiled functions, so the first run leaves them out; the second runs them
as plain Python, slowly, in their own tests. Prints Markdown.
"""

import argparse
import ast
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

COMPILING = {"compiled", "inlined", "part"}


class Share(NamedTuple):
    """Numbers of statements and branches, run and total."""

    lines_run: int = 0
    lines: int = 0
    branches_run: int = 0
    branches: int = 0

    @classmethod
    def of(cls, summary: dict[str, Any]) -> "Share":
        """Read one summary of a report."""
        names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
        return cls(*(summary.get(name, 0) for name in names))

    def plus(self, other: "Share") -> "Share":
        """Add two counts."""
        return Share(*(one + another for one, another in zip(self, other, strict=True)))

    def cells(self) -> list[str]:
        """Cells of a table: statements, branches, and both together as in coverage.py."""
        both = percent(self.lines_run + self.branches_run, self.lines + self.branches)
        return [
            f"{self.lines:,}",
            percent(self.lines_run, self.lines),
            f"{self.branches:,}",
            percent(self.branches_run, self.branches),
            both,
        ]


def percent(part: int, whole: int) -> str:
    """Format a fraction in percent."""
    return f"{100 * part / whole:.1f}" if whole else "–"


def folder_of(path: str) -> str:
    """Name the part of the package that a file belongs to."""
    inside = Path(path.replace("\\", "/")).parts
    inside = inside[inside.index("cosmodag") + 1 :]
    return f"{inside[0]}/" if len(inside) > 1 else "(single files)"


def compiled_functions(path: Path) -> set[str]:
    """Names of the functions in a file that Numba compiles."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id in COMPILING for mark in node.decorator_list)
    }


def by_folder(report: dict[str, Any]) -> dict[str, Share]:
    """Tabulate the coverage of all folders."""
    found: dict[str, Share] = defaultdict(Share)
    for path, entry in report["files"].items():
        folder = folder_of(path)
        found[folder] = found[folder].plus(Share.of(entry["summary"]))
    return found


def of_compiled(report: dict[str, Any]) -> dict[str, Share]:
    """Tabulate the coverage of the compiled functions of all folders."""
    found: dict[str, Share] = defaultdict(Share)
    for path, entry in report["files"].items():
        source = ROOT / "src" / Path(*Path(path).parts[Path(path).parts.index("cosmodag") :])
        names = compiled_functions(source)
        for name, function in entry["functions"].items():
            if name in names:
                folder = folder_of(path)
                found[folder] = found[folder].plus(Share.of(function["summary"]))
    return found


def as_table(shares: dict[str, Share]) -> str:
    """Write a table, with the totals at its end."""
    from environment import table

    whole = Share()
    for share in shares.values():
        whole = whole.plus(share)
    columns = ["part", "statements", "run, %", "branches", "run, %", "both, %"]
    rows = [[name, *share.cells()] for name, share in sorted(shares.items())]
    return table(columns, [*rows, ["**all**", *whole.cells()]])


def least_covered(report: dict[str, Any], count: int = 12) -> list[list[object]]:
    """Tabulate the files with the most statements and branches that were not run."""
    shares = {path: Share.of(entry["summary"]) for path, entry in report["files"].items()}
    left = {
        path: share.lines - share.lines_run + share.branches - share.branches_run
        for path, share in shares.items()
    }
    worst = sorted(left, key=lambda path: -left[path])[:count]
    return [[path.split("cosmodag/")[-1], left[path], shares[path].cells()[-1]] for path in worst]


def main() -> None:
    """Read the reports and print the page."""
    from environment import header, table

    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("report", type=Path)
    reader.add_argument("--compiled", type=Path)
    asked = reader.parse_args()
    report = json.loads(asked.report.read_text())
    print(header("Branch coverage of src/", ("coverage", "pytest", "numba", "jax")))
    print("## The whole suite, without functions compiled by Numba\n")
    print(as_table(by_folder(report)))
    print("Files with the most statements and branches not run:\n")
    print(table(["file", "statements and branches not run", "both, %"], least_covered(report)))
    if asked.compiled is not None:
        print("## Functions compiled by Numba, run as plain Python\n")
        print(as_table(of_compiled(json.loads(asked.compiled.read_text()))))


if __name__ == "__main__":
    main()
