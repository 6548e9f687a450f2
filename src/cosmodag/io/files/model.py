"""Files of fitted models: arrays as safetensors, facts as JSON in the metadata."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import DataError
from cosmodag.io.files.reading import check_file
from cosmodag.io.files.writing import write_bytes

_MODEL_FORMAT = "cosmodag-model-1"


def write_model(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and facts (JSON types or NumPy scalars) atomically.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> write_model(path, {"weights": np.eye(2)}, {"learner": "Cosmo"})
    >>> arrays, facts = read_model(path)
    >>> arrays["weights"].tolist(), facts
    ([[1.0, 0.0], [0.0, 1.0]], {'learner': 'Cosmo'})
    """
    from safetensors.numpy import save

    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    metadata = {"format": _MODEL_FORMAT, "facts": json.dumps(dict(facts), default=_plain)}
    write_bytes(path, _in_order(save(contiguous, metadata)))


def _in_order(file: bytes) -> bytes:
    """Sort the metadata, which safetensors writes in an order that differs between calls."""
    # A file starts with the length of its header (8 bytes) and the header: JSON, padded with spaces
    # to a multiple of 8.
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + file[end:]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved: it is a {type(value).__name__}, not plain data.")


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read the arrays and the facts that :func:`write_model` wrote."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, ValueError, AttributeError):
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
    if metadata.get("format") != _MODEL_FORMAT:
        raise DataError(f"'{path}' was not written by cosmodag, or by an unsupported version.")
    try:
        return arrays, json.loads(metadata["facts"])
    except (KeyError, ValueError, RecursionError):
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
