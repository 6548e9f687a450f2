"""Time fits of the cosmodag on the path, so that `speed.py` can compare two versions.

    PYTHONPATH=CHECKOUT/src python benchmarks/step_cost.py linear-30

Prints processor and wall seconds as JSON: per step, from the difference between a long and a short
fit, which excludes the fixed cost of a fit, then the fixed cost; or of a whole fit of DAGMA.
Parameters that older releases lack are left out, and so is the search for hidden causes after a
fit: older releases have none, and its time depends on the graph, which differs between the fits.
"""

import json
import sys
import time
import warnings
from contextlib import suppress

import cosmodag
from cosmodag import simulate

# Learner, data, and epochs of the short and the long fit. Both run hundreds of epochs: a fit checks
# its time limit after each hundredth of its epochs, so this costs both fits the same.
CASES = {
    "linear-30": ("Cosmo", "n1000_d30_ER4_gauss", 200, 2200),
    "linear-100": ("Cosmo", "n1000_d100_ER4_gauss", 100, 500),
    "linear-500": ("Cosmo", "n1000_d500_ER4_gauss", 100, 200),
    "networks-20": ("CosmoMLP", "n1000_d20_ER4_mlp", 100, 600),
    "networks-100": ("CosmoMLP", "n1000_d100_ER4_mlp", 100, 200),
    "dagma-30": ("Dagma", "n1000_d30_ER4_gauss", 0, 0),
}
STEPS_PER_EPOCH = 16


def fit(learner: str, X: object, epochs: int) -> tuple[float, float]:
    """Processor and wall seconds of one fit, without refinement."""
    kind = getattr(cosmodag, learner)
    wanted = {"epochs": epochs, "refine": None, "random_state": 0, "verbose": False}
    if learner == "Dagma":
        del wanted["epochs"]
    known = kind().get_params()
    model = kind(**{name: value for name, value in wanted.items() if name in known})
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(X)
    return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Time one case, after a first fit that compiles."""
    with suppress(ImportError):
        from cosmodag.data.diagnose import table_checks as checks

        checks._hidden_causes = lambda *_: []
    warnings.simplefilter("ignore")
    learner, name, short, long = CASES[sys.argv[1]]
    X = simulate.load(name, seed=0).X
    if learner == "Dagma":
        fit(learner, simulate.load("n100_d5_ER1_gauss", seed=0).X, 0)
        print(json.dumps([*fit(learner, X, 0), 0.0, 0.0]))
        return
    fit(learner, X, short)
    few, many = fit(learner, X, short), fit(learner, X, long)
    steps = (long - short) * STEPS_PER_EPOCH
    per_step = [(b - a) / steps for a, b in zip(few, many, strict=True)]
    rest = [a - short * STEPS_PER_EPOCH * b for a, b in zip(few, per_step, strict=True)]
    print(json.dumps([*per_step, *rest]))


if __name__ == "__main__":
    main()
