"""Computations with bit-identical results, and a digest of each result.

As a script, it prints the digests of the named computations as JSON, for use in a subprocess.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cosmodag import Auto, Cosmo, OrderSearch, VarianceSort, refine, simulate
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.bench.bench_plan import Cell
from cosmodag.bench.work import carry_out
from cosmodag.errors import CosmodagWarning
from learner_catalogue import CATALOGUE, chain_table

QUIET = {"verbose": False, "random_state": 3}


def digest(parts: Iterable[Any]) -> str:
    """Hash of arrays and plain values, which changes if any bit changes."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype} {part.shape}".encode())
            found.update(part.tobytes())
        else:
            found.update(repr(part).encode())
    return found.hexdigest()


def of_model(model: Any) -> str:
    """Digest of all results of a fitted learner, except for times."""
    table = chain_table()
    names = ("raw_weights_", "weights_", "adjacency_", "noise_variances_", "priorities_")
    arrays = [
        np.asarray(value) for name in names if (value := getattr(model, name, None)) is not None
    ]
    facts = (model.causal_order_, model.arrow_basis_, model.was_cyclic_, model.score(table))
    drawn = model.sample(7, random_state=1)
    return digest([*arrays, *facts, np.asarray(model.predict(table)), np.asarray(drawn)])


def fitted(name: str) -> str:
    """Digest of a fit of a learner in the catalogue."""
    return of_model(CATALOGUE[name]().fit(chain_table()))


def a_bootstrap(model: Any) -> str:
    result = bootstrap(model, chain_table(), n=6, **QUIET)
    return digest([result.arc_probabilities, result.seeds[:], result.consensus(0.5)])


def a_selection() -> str:
    model = Auto(**QUIET).fit(chain_table())
    return digest([of_model(model), model.family_reason_, model.refuted_])


def an_imputation() -> str:
    holed = chain_table().mask(np.random.default_rng(0).random((120, 5)) < 0.1)
    return of_model(OrderSearch(missing="impute", **QUIET).fit(holed))


def a_refinement(method: str) -> str:
    start = VarianceSort().fit(chain_table())
    return of_model(refine(start, chain_table(), method=method, random_state=3))


def some_cells() -> str:
    cells = [
        Cell("fit", method, "n120_d5_ER1_gauss", graph, {} if "sort" in method else {"epochs": 5})
        for method in ("cosmo", "variance-sort")
        for graph in range(3)
    ]
    rows = [row for half in (cells[:3], cells[3:]) for row in carry_out(tuple(half))]
    return digest({key: row[key] for key in sorted(row) if "seconds" not in key} for row in rows)


def some_simulations() -> str:
    found = []
    for kind in ("ER", "SF", "BP"):
        for mechanism in (*simulate.NOISES, *simulate.NONLINEAR):
            data = simulate.load(f"n20_d10_{kind}1_{mechanism}", seed=5)
            found += [np.asarray(data.X), np.asarray(data.graph)]
            data = simulate.interventional(f"n20_d10_{kind}1_{mechanism}", 2, rows=5, seed=5)
            found += [np.asarray(data.X), np.asarray(data.targets)]
    return digest(found)


WORK: dict[str, Callable[[], str]] = {
    "batch of trainings": lambda: of_model(
        Cosmo(epochs=10, trainings=4, refine=None, **QUIET).fit(chain_table())
    ),
    "bootstrap of a search": lambda: a_bootstrap(OrderSearch()),
    "bootstrap of COSMO": lambda: a_bootstrap(Cosmo(epochs=10)),
    "pruning": lambda: a_refinement("prune"),
    "order search": lambda: a_refinement("order"),
    "non-Gaussian search": lambda: of_model(
        OrderSearch(noise="non-gaussian", **QUIET).fit(chain_table())
    ),
    "selection": a_selection,
    "imputation": an_imputation,
    "benchmark cells": some_cells,
    "simulators": some_simulations,
}


def done(name: str) -> str:
    """Digest of the computation, or of a fit of the learner, with the given name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        return WORK[name]() if name in WORK else fitted(name)


if __name__ == "__main__":
    print(json.dumps({name: done(name) for name in sys.argv[1:]}))
