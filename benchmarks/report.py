"""The report in a browser: its size, and the time to write it, to its first paint and to the graph.

    python benchmarks/report.py --output benchmarks/report.md

The graphs are learnt by a search from simulated data of the paper's kind, with about four arcs per
variable, and from the proteins. Needs Playwright and Chromium.
"""

import argparse
import shutil
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from playwright.sync_api import sync_playwright

from cosmodag import OrderSearch, simulate
from cosmodag.errors import CosmodagWarning
from environment import header, table, verdict

SIZES = (5, 11, 30, 100, 500, 1000)
OPENED = 5
PROTEINS = Path(__file__).resolve().parents[1] / "tests" / "protein_data" / "sachs.csv"
PAINT_TARGET, SIZE_TARGET = 3000, 2e6
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    """Measure all sizes and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        rows = [measured(browser, d, Path(folder) / f"{d}.html") for d in arguments.sizes]
        said = f"Chromium {browser.version}"
        browser.close()
    columns = ["variables", "arcs", "file", "written", "first paint", "graph drawn", "targets"]
    page = header("The report in a browser", ("playwright", "numpy", "scipy"))
    page += f"- browser: {said}, headless, 1400 × 900\n\n"
    page += f"Median of {OPENED} openings of the file; times are measured from the request. "
    page += "Targets: first paint at 500 variables under 3 s, 30 variables under 2 MB.\n\n"
    page += table(columns, rows)
    print(page)
    if arguments.output:
        arguments.output.write_text(page, encoding="utf-8")


def measured(browser: Any, d: int, path: Path) -> list[object]:
    """Write one report, open it several times, and return its row of the page."""
    model = OrderSearch(random_state=0, max_time=60).fit(data_of(d))
    begin = time.perf_counter()
    model.report(path)
    seconds = time.perf_counter() - begin
    times = [opened(browser, path) for _ in range(OPENED)]
    paint, drawn = (median(column) for column in zip(*times, strict=True))
    size = path.stat().st_size
    judged = {30: size < SIZE_TARGET, 500: paint < PAINT_TARGET}
    return [
        d,
        model.edges_.nnz,
        f"{size / 1e6:.2f} MB",
        f"{seconds:.2f} s",
        f"{paint / 1000:.2f} s",
        f"{drawn:.2f} s",
        verdict(judged[d]) if d in judged else "",
    ]


def data_of(d: int) -> pd.DataFrame:
    """Return a table of d variables; for 11, the proteins."""
    if d == 11:
        return pd.read_csv(PROTEINS)
    arcs = 1 if d == 5 else 4
    X = simulate.load(f"n1000_d{d}_ER{arcs}_gauss", seed=0).X
    return pd.DataFrame(X, columns=[f"gene{i}" for i in range(d)])


def opened(browser: Any, path: Path) -> tuple[float, float]:
    """Open a page; return milliseconds to its first paint and seconds until the graph is drawn."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("#graph[data-ready]", timeout=60_000)
    drawn = time.perf_counter() - begin
    paint = float(page.evaluate(PAINT))
    context.close()
    return paint, drawn


if __name__ == "__main__":
    main()
