r"""Read mutated files of every kind that this package reads, each kind in its own process.

    python benchmarks/reliability/mutations.py --count 2000 \
        --output benchmarks/reliability/mutations.md

A crash, a hang or an error of another package ends the process of the kind and counts as a failure.
Two figures of memory are recorded: the peak that Python allocated for one file, and the growth of
the process from its 50th file to its last.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent, HERE.parents[1] / "tests", HERE.parents[1] / "tests" / "faults"):
    sys.path.insert(0, str(folder))
LIMIT = 600


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def one_kind(kind: str, count: int) -> dict[str, Any]:
    """Read the mutated files of one kind in this process."""
    from mutations_of_files import try_mutations

    refused, slowest, peak, begin = 0, 0.0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for place, tried in enumerate(try_mutations(kind, Path(folder), count)):
            refused += tried.sentence is not None
            slowest, peak = max(slowest, tried.seconds), max(peak, tried.peak_bytes)
            begin = resident() if place == min(49, count - 1) else begin
    grown = resident() - begin
    return {"refused": refused, "slowest": slowest, "peak": peak, "grown": grown}


def main() -> None:
    """Run every kind and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="number of files of each kind")
    parser.add_argument("--kind", default=None, help="only this one, in this process, as JSON")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(one_kind(options.kind, options.count)))
        return
    from mutations_of_files import KINDS

    from environment import header, table

    rows: list[list[object]] = []
    for kind in KINDS:
        command = [sys.executable, __file__, "--kind", kind, "--count", str(options.count)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        print(kind, ended.returncode, ended.stdout, flush=True)
        if ended.returncode:
            rows.append([kind, options.count, "", "", "", "", ended.stderr.splitlines()[-1]])
            continue
        told = json.loads(ended.stdout)
        read = options.count - told["refused"]
        slowest, peak = f"{told['slowest']:.2f}", f"{told['peak'] / 2**20:.1f}"
        grown = f"{told['grown'] / 2**20:.1f}"
        rows.append([kind, options.count, read, told["refused"], slowest, peak, grown, "none"])
    columns = ["file", "tried", "read", "refused", "slowest, s", "peak, MiB", "grown, MiB"]
    text = header("Mutated files", ("numpy", "pandas", "pyarrow", "safetensors", "pyyaml"))
    text += f"\n{options.count * len(KINDS):,} files. " + EXPLAINED
    text += "\n" + table([*columns, "failures"], rows)
    if options.output:
        options.output.write_text(text)
    print(text)


EXPLAINED = """Each is a valid file with bytes changed, cut, repeated, deleted or inserted (NUL,
half of a UTF-16 mark, 500 brackets, 400 digits …) in one to three places. It must be read, or
refused by one typed error in one sentence; anything else (another exception, another package's
warning, a crash of the process) is a failure. *peak*: memory that Python allocated while reading
one file. *grown*: growth of the process from its 50th file to its last, with the memory of native
code.
"""


if __name__ == "__main__":
    main()
