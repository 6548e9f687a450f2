"""The page of runs of the suite: what was asked for, what was found, every run."""

from collections.abc import Callable, Sequence

from environment import table, verdict

COLUMNS = (
    *("date", "machine", "versions", "at_once", "situation", "seed", "cores"),
    *("passed", "failed", "skipped", "xfailed", "seconds", "cpu_seconds", "peak_mb"),
    *("failures", "pytest_args", "commit"),
)
MEANING = {
    "cold": "empty caches",
    "warm": "caches of a cold run",
    "load": "as warm, beside as many busy processes as cores",
    "cold-load": "as cold, beside as many busy processes as cores",
}
LIMITS = {"cold": 420, "warm": 240}
CORES = "2"
MOST_MB = 2000

Row = dict[str, str]


def page(rows: Sequence[Row]) -> str:
    """Write targets and all runs, machine by machine."""
    text = (
        "# The suite, run whole\n\n"
        "Made by `python benchmarks/reliability/suite_runs.py` from `suite_runs.csv`. Each run "
        "has a copy of the working tree, tests in the random order of its seed, and cores of its "
        "own; the installation that the README's command begins with is not in the times. It "
        "installs none of the optional packages (PyTorch, Ray, a browser); the gate installs all. "
        "Processor time is of all processes, peak memory of the largest of them.\n\n"
    )
    text += "".join(f"- {name}: {meaning}\n" for name, meaning in MEANING.items())
    for place in dict.fromkeys(_place(row) for row in rows):
        here = [row for row in rows if _place(row) == place]
        text += f"\n## {place[0]}, {place[1]}\n\n- versions: {place[2]}\n"
        if place[3]:
            text += f"- further words for pytest: `{place[3]}`\n"
        text += f"\n{_targets(here)}\n{_runs(here)}"
    return text


def _place(row: Row) -> tuple[str, str, str, str]:
    """Tell what runs in one table share: machine, code, versions, further words.

    The code is known by its commit, whatever the day. Runs that were recorded before commits were
    are told apart by their date.
    """
    code = f"commit {row['commit']}" if row["commit"] else row["date"]
    return row["machine"], code, row["versions"], row["pytest_args"]


def _targets(rows: Sequence[Row]) -> str:
    """Compare what was asked for with what was found on one machine."""
    lines: list[list[object]] = []
    for situation, limit in LIMITS.items():
        found = sorted(
            int(row["seconds"])
            for row in rows
            if row["situation"] == situation and row["cores"] == CORES
        )
        if found:
            asked = f"{situation}, two cores: at most {limit} s"
            lines.append([asked, _few(found), _met(found, limit)])
    peaks = sorted(int(row["peak_mb"]) for row in rows)
    lines.append([f"largest process: at most {MOST_MB:,} MB", _few(peaks), _met(peaks, MOST_MB)])
    failures = sum(int(row["failed"]) for row in rows)
    loaded = sum(row["situation"].endswith("load") for row in rows)
    lines.append(
        [
            "five random orders, quiet and under load: no failure",
            f"{len(rows)} runs, {loaded} of them under load: {failures} failures",
            verdict(failures == 0 and len(rows) >= 5 and 0 < loaded < len(rows)),
        ]
    )
    return table(["asked for", "found", ""], lines)


def _met(values: Sequence[int], limit: int) -> str:
    return verdict(max(values) <= limit)


def _few(values: Sequence[int]) -> str:
    return ", ".join(f"{value:,}" for value in values)


def _runs(rows: Sequence[Row]) -> str:
    """One line for each run."""
    shown: dict[str, Callable[[Row], str]] = {
        "situation": lambda row: row["situation"],
        "seed": lambda row: row["seed"],
        "cores": lambda row: row["cores"],
        "runs at once": lambda row: row["at_once"],
        "passed": lambda row: f"{int(row['passed']):,}",
        "failed": lambda row: row["failed"],
        "skipped": lambda row: row["skipped"],
        "expected failures": lambda row: row["xfailed"],
        "s": lambda row: row["seconds"],
        "processor s": lambda row: f"{int(row['cpu_seconds']):,}",
        "peak, MB": lambda row: f"{int(row['peak_mb']):,}",
        "which failed": lambda row: row["failures"] or "none",
        "date": lambda row: row["date"],
    }
    lines: list[list[object]] = [[cell(row) for cell in shown.values()] for row in rows]
    return table(list(shown), lines)
