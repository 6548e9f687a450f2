"""Files of fitted models: arrays as safetensors, facts as JSON in the metadata."""

import hashlib
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
    write_bytes(path, _signed(save(contiguous, metadata)))


def _parts(file: bytes) -> tuple[dict[str, Any], memoryview]:
    """Split a file of safetensors into its header and its data.

    A file starts with the length of its header (8 bytes) and the header: JSON, padded with spaces
    to a multiple of 8.
    """
    end = 8 + int.from_bytes(file[:8], "little")
    return json.loads(file[8:end]), memoryview(file)[end:]


def _signed(file: bytes) -> bytes:
    """Add the hash of its content to a file.

    The metadata are sorted: safetensors writes them in an order that differs between calls.
    """
    header, data = _parts(file)
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    header["__metadata__"]["sha256"] = _hash(header, data)
    text = _text(header)
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def _text(header: dict[str, Any]) -> bytes:
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()


def _hash(header: dict[str, Any], data: memoryview) -> str:
    found = hashlib.sha256(_text(header))
    found.update(data)
    return found.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved: it is a {type(value).__name__}, not plain data.")


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read the arrays and the facts that :func:`write_model` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = Path(path)
    check_file(path)
    file = path.read_bytes()
    try:
        arrays = load(file)
        header, data = _parts(file)
        metadata = header.get("__metadata__") or {}
        if metadata.get("format") != _MODEL_FORMAT:
            raise DataError(f"'{path}' was not written by cosmodag, or by an unsupported version.")
        if metadata.pop("sha256") != _hash(header, data):
            raise ValueError
        return arrays, json.loads(metadata["facts"])
    except DataError:
        raise
    except (SafetensorError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise DataError(f"'{path}' is not a saved model, or it is damaged.") from None
