"""Read-only arrays of a fit: a changed array would contradict the rest of the fit."""

from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse


def read_only(value: Any) -> Any:
    """Make arrays read-only: NumPy, sparse, or those in a tuple, dict or dataclass.

    NumPy arrays are not copied, and the caller's own arrays stay writable.

    Examples
    --------
    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        view = value.view()
        view.flags.writeable = False
        return view
    if sparse.issparse(value):
        # Entries are sorted here, since SciPy would later sort them in place.
        matrix = sparse.csr_array(value, copy=not value.has_canonical_format)
        matrix.sum_duplicates()
        for name in ("data", "indices", "indptr"):
            setattr(matrix, name, read_only(getattr(matrix, name)))
        return matrix
    if type(value) is tuple and any(isinstance(one, np.ndarray) for one in value):
        return tuple(read_only(one) for one in value)
    if type(value) is dict:
        parts = {name: read_only(one) for name, one in value.items()}
        return parts if any(parts[name] is not value[name] for name in parts) else value
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        frozen = {name: read_only(one) for name, one in held.items()}
        changed = {name: one for name, one in frozen.items() if one is not held[name]}
        if changed:
            value = copy(value)  # not `replace`, since a user's class may define its constructor
        for name, one in changed.items():
            object.__setattr__(value, name, one)
        return value
    return value


def read_only_edges(edges: sparse.coo_array) -> sparse.coo_array:
    """Copy edges, without sorting them, and make the arrays of the copy read-only."""
    copied = sparse.coo_array(edges, copy=True)
    for array in (copied.data, copied.row, copied.col):
        array.flags.writeable = False
    return copied
