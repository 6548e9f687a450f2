"""The page of runs of the suite: targets, results, and every run."""

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
    "load": "as warm, with as many busy processes as cores",
    "cold-load": "as cold, with as many busy processes as cores",
}
LIMITS = {"cold": 420, "warm": 240}
CORES = "2"
MOST_MB = 2000

Row = dict[str, str]


def page(rows: Sequence[Row]) -> str:
    """Write targets and all runs, machine by machine."""
    text = (
        "# Runs of the whole suite\n\n"
        "Written by `python benchmarks/reliability/suite_runs.py` from `suite_runs.csv`. Each run "
        "has its own copy of the working tree and its own cores, and runs the tests in the random "
        "order of its seed. Times exclude the installation with which the README's command "
        "starts. That command installs none of the optional packages (PyTorch, Ray, a browser); "
        "the gate installs all. Processor time is summed over processes, peak memory is that of "
        "the largest process.\n\n"
    )
    text += "".join(f"- {name}: {meaning}\n" for name, meaning in MEANING.items())
    for place in dict.fromkeys(_place(row) for row in rows):
        here = [row for row in rows if _place(row) == place]
        text += f"\n## {place[0]}, {place[1]}\n\n- versions: {place[2]}\n"
        if place[3]:
            text += f"- further arguments of pytest: `{place[3]}`\n"
        text += f"\n{_targets(here)}\n{_runs(here)}"
    return text


def _place(row: Row) -> tuple[str, str, str, str]:
    """Key of a table of runs: machine, code, versions, further arguments.

    The code is identified by its commit, or by the date for runs recorded without a commit.
    """
    code = f"commit {row['commit']}" if row["commit"] else row["date"]
    return row["machine"], code, row["versions"], row["pytest_args"]


def _targets(rows: Sequence[Row]) -> str:
    """Compare the runs on one machine with the targets."""
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
            "five random orders, with and without load: no failure",
            f"{len(rows)} runs, {loaded} of them under load: {failures} failures",
            verdict(failures == 0 and len(rows) >= 5 and 0 < loaded < len(rows)),
        ]
    )
    return table(["target", "found", ""], lines)


def _met(values: Sequence[int], limit: int) -> str:
    return verdict(max(values) <= limit)


def _few(values: Sequence[int]) -> str:
    return ", ".join(f"{value:,}" for value in values)


def _runs(rows: Sequence[Row]) -> str:
    """Tabulate all runs."""
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
