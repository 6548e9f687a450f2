"""The file of points of the comparison of searches, to which each table adds its own."""

import csv
import os
from pathlib import Path

# The last three are the date, the machine with its versions, and its load.
COLUMNS = ("cell", "number", "arm", "seconds", "bic", "class_distance")
COLUMNS += ("date", "machine", "load")


def read_points(path: Path) -> list[dict[str, str]]:
    """Read all points of the file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def replace_points(path: Path, found: list[dict[str, object]]) -> None:
    """Replace the points of the same searches by new ones."""
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
