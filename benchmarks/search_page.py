"""The page and the picture of the comparison of searches."""

from pathlib import Path

import numpy as np

from environment import table, verdict, with_error
from search_tables import CELLS

OURS, BOSS = "order search", "BOSS"
COLOURS = {"flop 0": "tab:orange", "flop 20": "tab:red", "flop 100": "tab:green", BOSS: "tab:gray"}
HEADINGS = ["table", "tables", "rival", "its CPU s", "its BIC", "its class SHD"]
HEADINGS += ["our BIC in the same time", "our class SHD", "no worse", "measured"]


def write_page(points: list[dict[str, str]], about: str, folder: Path) -> None:
    """Write search.md, and search.png where matplotlib is installed."""
    try:
        if any(point["arm"] == OURS for point in points):
            draw(points, folder / "search.png")
    except ImportError:
        print("matplotlib is not installed: draw the picture elsewhere with --render.")
    page = [
        "# Order search compared with FLOP",
        _runs(points),
        about,
        table(HEADINGS, rows_of(points)),
    ]
    page += ["![BIC against time](search.png)", ""]
    (folder / "search.md").write_text("\n\n".join(page), encoding="utf-8")


def _runs(points: list[dict[str, str]]) -> str:
    """List dates and machines of the points, with the load of the machine if it is known."""
    lines = []
    for date, machine in sorted({(point["date"], point["machine"]) for point in points}):
        loads = [p["load"] for p in points if (p["date"], p["machine"]) == (date, machine)]
        known = [float(load) for load in loads if load]
        load = f"; load average {min(known)} to {max(known)}" if known else ""
        lines.append(f"- {date}: {machine}{load}")
    return "\n".join(lines)


def rows_of(points: list[dict[str, str]]) -> list[list[object]]:
    """One row per kind of table and rival."""
    rows: list[list[object]] = []
    by_arm: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for point in points:
        by_arm.setdefault((point["cell"], point["arm"]), {})[point["number"]] = point
    for (cell, arm), theirs in by_arm.items():
        if not arm.startswith(("flop", BOSS)):
            continue
        if arm != BOSS:  # only tables that both have searched
            searched = by_arm.get((cell, OURS), {})
            theirs = {number: theirs[number] for number in theirs if number in searched}
        if not theirs:
            continue
        ours = by_arm.get((cell, f"{OURS} in the time of {arm}"), {})
        bic = [float(point["bic"]) for point in theirs.values()]
        row: list[object] = [cell, len(theirs), arm, _mean(theirs, "seconds"), with_error(bic, 1)]
        row.append(_mean(theirs, "class_distance", 1))
        if arm == BOSS:
            row += ["", "", ""]
        elif len(ours) < len(theirs):
            row += [f"none yet on {len(theirs) - len(ours)}", "", verdict(False)]
        else:
            mine = [float(point["bic"]) for point in ours.values()]
            row += [with_error(mine, 1), _mean(ours, "class_distance", 1)]
            row.append(verdict(np.mean(mine) <= np.mean(bic) + 0.05))
        row.append(", ".join(sorted({point["date"] for point in theirs.values()})))
        rows.append(row)
    places = {cell.name: place for place, cell in enumerate(CELLS)}
    return sorted(rows, key=lambda row: (places[str(row[0])], float(str(row[3]))))


def _mean(points: dict[str, dict[str, str]], column: str, digits: int = 2) -> str:
    return f"{np.mean([float(point[column]) for point in points.values()]):.{digits}f}"


def draw(points: list[dict[str, str]], path: Path) -> None:
    """BIC against CPU seconds: a curve for the order search, a point for each rival."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    searched = {point["cell"] for point in points if point["arm"] == OURS}
    cells = [cell.name for cell in CELLS if cell.name in searched]
    columns = 4
    lines = -(-len(cells) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4 * columns, 3 * lines), squeeze=False)
    for axis, cell in zip(axes.flat, cells, strict=False):
        here = [point for point in points if point["cell"] == cell]
        last = max(float(p["seconds"]) for p in here)
        axis.plot(*_curve([p for p in here if p["arm"] == OURS], last), label=OURS)
        for arm in dict.fromkeys(p["arm"] for p in here if not p["arm"].startswith(OURS)):
            theirs = {p["number"]: p for p in here if p["arm"] == arm}
            place = float(_mean(theirs, "seconds", 4)), float(_mean(theirs, "bic", 3))
            axis.plot(*place, "o", color=COLOURS[arm], label=arm, clip_on=False)
        axis.set(xscale="log", yscale="symlog")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.margins(0.08)
        axis.set_title(cell, fontsize=8)
        axis.legend(fontsize=6)
    for axis in list(axes.flat)[len(cells) :]:
        axis.set_visible(False)
    figure.supxlabel("CPU seconds, one core")
    figure.supylabel("referee BIC above the true graph's (symmetric logarithm)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _curve(points: list[dict[str, str]], last: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean best BIC by CPU seconds, from the first time at which every table has one."""
    tables: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        tables.setdefault(point["number"], []).append(
            (float(point["seconds"]), float(point["bic"]))
        )
    first = max(min(seconds for seconds, _ in table) for table in tables.values())
    grid = np.geomspace(first, max(last, 1.01 * first), 60)
    means = [
        np.mean([min(bic for s, bic in table if s <= seconds + 1e-9) for table in tables.values()])
        for seconds in grid
    ]
    return grid, np.array(means)
