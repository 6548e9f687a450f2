"""Fitted models on disk: arrays and plain JSON in one safetensors file, nothing that can run."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.io.files import check_file, write_bytes

__all__ = ["read_model", "write_model"]

_FORMAT = "cosmodag-model-1"


def write_model(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays, and facts that JSON can hold or that are NumPy scalars, atomically.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> write_model(path, {"weights": np.eye(2)}, {"learner": "Cosmo"})
    >>> arrays, facts = read_model(path)
    >>> arrays["weights"].tolist(), facts
    ([[1.0, 0.0], [0.0, 1.0]], {'learner': 'Cosmo'})
    """
    from safetensors.numpy import save

    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"format": _FORMAT, "facts": json.dumps(dict(facts), default=_plain)}
    write_bytes(path, save(contiguous, metadata))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved: it is a {type(value).__name__}, not plain data.")


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what :func:`write_model` wrote: the arrays and the facts."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError:
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
    if metadata.get("format") != _FORMAT:
        raise DataError(f"'{path}' was not written by cosmodag, or by a version not known here.")
    return arrays, json.loads(metadata["facts"])
