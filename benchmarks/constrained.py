"""Accuracy of NOTEARS, DAGMA and NOCURL as published by their authors, with default settings.

    python benchmarks/constrained.py --output benchmarks/constrained.md
    python benchmarks/constrained.py --data ER4 --learners "Dagma()" "NoCurl()"

`benchmarks/paper_variants.py` measures them as the COSMO paper ran them.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cosmodag import Dagma, NoCurl, Notears, metrics, simulate
from cosmodag.errors import CosmodagWarning
from cosmodag.learners.constrained.constrained_learner import ConstrainedLearner
from environment import header, spread, table

FIRST_SEED = 60_000
DATA = {"ER4": "n1000_d30_ER4_gauss", "SF4": "n1000_d30_SF4_gauss"}
TARGETS = {"Dagma()": "≥ 0.985, NHD ≤ 0.7", "Notears()": "≥ 0.97", "NoCurl()": "≥ 0.94"}
ORIGINALS: dict[str, ConstrainedLearner] = {
    "Dagma()": Dagma(),
    "Notears()": Notears(),
    "Notears(lambda1=0.1)": Notears(lambda1=0.1),
    "Notears(constraint='truncated')": Notears(constraint="truncated"),
    "Notears(constraint='spectral')": Notears(constraint="spectral"),
    "NoCurl()": NoCurl(),
}


def graphs_of(name: str, count: int) -> Iterator[simulate.Dataset]:
    """Simulate fresh data sets of one kind."""
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        yield simulate.load(name, seed=seed)


def measure_original(learner: ConstrainedLearner, name: str, count: int) -> list[object]:
    """Measure one row of the table."""
    scores, seconds, repairs = [], [], 0
    for data in graphs_of(name, count):
        begin = time.perf_counter()
        model = learner.fit(data.X)
        seconds.append(time.perf_counter() - begin)
        scores.append(metrics.evaluate(data.graph, model.raw_weights_))
        repairs += model.was_cyclic_
    auc, nhd, tpr = (np.array([s[key] for s in scores]) for key in ("auc", "nhd", "tpr"))
    return [spread(auc, 4), spread(nhd, 2), spread(tpr, 3), repairs, f"{np.median(seconds):.1f}"]


def originals(options: argparse.Namespace) -> str:
    """Measure the requested learners."""
    rows: list[list[object]] = []
    for kind in options.data:
        for label in options.learners:
            target = TARGETS.get(label, "") if kind == "ER4" else ""
            found = measure_original(ORIGINALS[label], DATA[kind], options.graphs)
            rows.append([DATA[kind], label, *found, target])
            print(rows[-1], flush=True)
    columns = ["data", "learner", "AUC", "NHD", "TPR", "repairs", "median s", "target (AUC)"]
    return f"\n{options.graphs} graphs each, default settings, one thread.\n\n" + table(
        columns, rows
    )


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=[*DATA], default=[*DATA])
    parser.add_argument("--learners", nargs="+", choices=[*ORIGINALS], default=[*ORIGINALS])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CosmodagWarning)
    text = header("NOTEARS, DAGMA and NOCURL, as published by their authors") + originals(options)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
