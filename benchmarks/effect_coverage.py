"""How often 90 % intervals of effects contain the true effect.

Random standardised models of 10 variables with normal or exponential noise of unequal variances;
all pairs whose true effect is not zero and whose class identifies the effect. Intervals for the
graph only (``bootstrap=None``) are compared with those of 100 resamples, which are the default if
they take less than five seconds.

``python benchmarks/effect_coverage.py --tables 20``
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd

from cosmodag import OrderSearch

_LEVEL, _MOST_PAIRS, _VARIABLES = 0.9, 15, 10


def drawn(random: np.random.Generator, rows: int, shape: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table, and the total effects between its columns."""
    d = _VARIABLES
    sizes = random.uniform(0.2, 1.0, (d, d)) * random.choice([-1, 1], (d, d))
    weights = np.triu(sizes * (random.random((d, d)) < 4 / (d - 1)), 1)
    noise = (
        random.normal(size=(rows, d)) if shape == "normal" else random.exponential(size=(rows, d))
    )
    noise = (noise - noise.mean(axis=0)) * random.uniform(0.5, 1.5, d)
    totals = np.linalg.inv(np.eye(d) - weights)
    X = noise @ totals
    deviations = X.std(axis=0)
    places = random.permutation(d)
    totals = (totals * deviations[:, None] / deviations)[np.ix_(places, places)]
    names = [f"v{place}" for place in range(d)]
    return pd.DataFrame((X / deviations)[:, places], columns=names), totals


def main() -> None:
    """Print one line for each number of rows and shape of the noise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=20)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for shape in ("normal", "exponential"):
        for rows in (500, 2_000):
            random = np.random.default_rng([rows, shape == "normal"])
            hits = {"for this graph only": [], "100 resamples": []}
            begin = time.process_time()
            for _ in range(asked.tables):
                table, totals = drawn(random, rows, shape)
                model = OrderSearch(random_state=0, verbose=False).fit(table)
                pairs = [(u, v) for u, v in np.argwhere(totals) if u != v]
                random.shuffle(pairs)
                for u, v in pairs[:_MOST_PAIRS]:
                    ends = f"v{u}", f"v{v}"
                    found = model.effect(*ends, level=_LEVEL, bootstrap=None)
                    if not found.identified or not found.estimate:
                        continue
                    long = model.effect(*ends, level=_LEVEL, bootstrap=100)
                    for name, one in (("for this graph only", found), ("100 resamples", long)):
                        hits[name].append(one.low <= totals[u, v] <= one.high)
            seconds = (time.process_time() - begin) / asked.tables
            shown = ", ".join(f"{name} {np.mean(one):.3f}" for name, one in hits.items())
            number = len(hits["100 resamples"])
            print(
                f"{shape}, {rows:,} rows: {shown} ({number} effects, "
                f"{seconds:.1f} CPU s per table)",
                flush=True,
            )


if __name__ == "__main__":
    main()
