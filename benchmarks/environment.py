"""What a result was measured on, as lines of Markdown."""

import datetime
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def header(title: str, packages: tuple[str, ...] = ("jax", "numba", "numpy")) -> str:
    """Title, date, machine, versions and command of a benchmark."""
    command = " ".join(["python", *(Path(a).as_posix() for a in sys.argv)])
    found = ", ".join(f"{name} {_version(name)}" for name in ("cosmodag", *packages))
    return (
        f"# {title}\n\n"
        f"- date: {datetime.date.today().isoformat()}\n"
        f"- machine: {_processor()}, {os.cpu_count()} cores\n"
        f"- versions: Python {platform.python_version()}, {found}\n"
        f"- command: `{command}`\n"
    )


def table(columns: list[str], rows: list[list[object]]) -> str:
    """Write a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(from source)" if name == "cosmodag" else "absent"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
