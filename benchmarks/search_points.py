"""Points of the comparison of searches: a file to which each table adds its own."""

import csv
import os
from pathlib import Path

# The last three say when a point was measured, where and with what, and how busy the machine was.
COLUMNS = ("cell", "number", "arm", "seconds", "bic", "class_distance")
COLUMNS += ("date", "machine", "load")


def read_points(path: Path) -> list[dict[str, str]]:
    """Read all points that there are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def replace_points(path: Path, found: list[dict[str, object]]) -> None:
    """Write new points of tables in the place of those of the same searches."""
    new = [{name: str(value) for name, value in point.items()} for point in found]
    searched = {_search_of(point) for point in new}
    rows = [row for row in read_points(path) if _search_of(row) not in searched] + new
    temporary = path.with_suffix(".part")
    with temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(temporary, path)
    for point in new:
        print(*list(point.values())[:6], flush=True)


def _search_of(point: dict[str, str]) -> tuple[str, str, str]:
    return point["cell"], point["number"], point["arm"]
