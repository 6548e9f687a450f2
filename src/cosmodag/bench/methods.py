"""Methods that are compared, and ranges of their configurations: ``paper/methods.toml``."""

import tomllib
import zlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

__all__ = ["METHODS", "Method", "draw", "ranges_for"]

_FILE = tomllib.loads(files("cosmodag.bench").joinpath("paper", "methods.toml").read_text("utf-8"))


class Method(NamedTuple):
    """One row of a table."""

    learner: str  # class of the learner
    label: str  # name in tables
    parameters: Mapping[str, Any]  # those that are fixed
    space: str = "nothing"  # search space of the others
    like: str | None = None  # method whose chosen configuration is used, instead of a search
    # "raw": optimised weights, cut at 0.3, as in the paper; "graph": the graph that a user gets,
    # its weights ranked.
    reads: str = "raw"

    @property
    def is_solved_together(self) -> bool:
        """Whether cells are problems of one solver; others are fitted one by one, on a CPU."""
        return self.reads == "raw"


def _method(entries: dict[str, Any]) -> Method:
    layers = [_FILE["parameters"][name] for name in entries.pop("base", ())]
    given = {k: v for layer in (*layers, entries.pop("parameters", {})) for k, v in layer.items()}
    return Method(**entries, parameters={k: None if v == "" else v for k, v in given.items()})


METHODS = {name: _method(entries) for name, entries in _FILE["methods"].items()}
"""Methods by name; the paper's name where it has one."""


def ranges_for(space: str, data: str) -> Mapping[str, tuple[float, float]]:
    """Return the ranges that the paper searched on a data set.

    Examples
    --------
    >>> ranges_for("cosmo", "n1000_d30_ER4_exp")["lambda_p"]
    [0.001, 0.003]
    >>> ranges_for("cosmo", "n1000_d30_ER4_gauss")["lambda_p"]
    [0.0001, 0.01]
    """
    ranges: Mapping[str, tuple[float, float]] = _FILE["spaces"][space]
    return _FILE["wide"].get(space, ranges) if data in _FILE["wide"]["data"] else ranges


def draw(
    ranges: Mapping[str, tuple[float, float]], data: str, number: int, seed: int = 0
) -> dict[str, float]:
    """Draw configuration `number` of a data set, log-uniformly in its ranges.

    It does not depend on the other configurations.
    """
    random = np.random.default_rng([seed, zlib.crc32(data.encode()), number])
    return {
        name: float(f"{np.exp(random.uniform(np.log(low), np.log(high))):.6g}")
        for name, (low, high) in sorted(ranges.items())
    }
