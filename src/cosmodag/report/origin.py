"""Origin of a result: the code that repeats it, versions, date, and hashes of the data."""

import hashlib
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag._version import __version__

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

_PACKAGES = ("numpy", "scipy", "scikit-learn", "jax", "numba")


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of its numerical dependencies."""
    found = {"cosmodag": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def now() -> str:
    """Return the current time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def table_hash(X: NDArray[Any]) -> str:
    """SHA-256 of the numbers of a table as float64, row by row.

    >>> table_hash(np.zeros((2, 2)))[:8]
    '66687aad'
    """
    return hashlib.sha256(np.ascontiguousarray(X, np.float64).tobytes()).hexdigest()


def code_for(model: "StructureLearner") -> str:
    r"""Write Python code that fits a learner with the same parameters.

    >>> from cosmodag import VarianceSort
    >>> code_for(VarianceSort())
    'from cosmodag import VarianceSort\n\nmodel = VarianceSort().fit(table)'
    """
    name = type(model).__name__
    defaults = type(model)().get_params(deep=False)
    changed = {
        key: value
        for key, value in model.get_params(deep=False).items()
        if repr(value) != repr(defaults.get(key))
    }
    given = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    arguments = {"regimes_": "regimes=…", "target_sets_": "interventions=…"}
    used = [text for name, text in arguments.items() if hasattr(model, name)][:1]
    window = getattr(model, "window_", None)
    columns = {} if window is None else {"series": window.series, "time": window.time}
    used += [f"{what}={column!r}" for what, column in columns.items() if column is not None]
    return (
        f"from cosmodag import {name}\n\nmodel = {name}({given}).fit({', '.join(['table', *used])})"
    )
