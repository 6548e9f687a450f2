"""Arrays of a fit that refuse writing: a changed array would contradict the rest of the fit."""

from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse


def read_only(value: Any) -> Any:
    """Return the value with arrays that refuse writing: NumPy, sparse, or fields of a dataclass.

    No array is copied, and the caller's own arrays can still be written.

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
        # Entries are sorted now: SciPy sorts them in place when it needs them so.
        matrix = sparse.csr_array(value, copy=not value.has_canonical_format)
        matrix.sum_duplicates()
        for name in ("data", "indices", "indptr"):
            setattr(matrix, name, read_only(getattr(matrix, name)))
        return matrix
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        frozen = {name: read_only(one) for name, one in held.items()}
        changed = {name: one for name, one in frozen.items() if one is not held[name]}
        if changed:
            value = copy(value)  # not `replace`: a class of a user may have its own constructor
        for name, one in changed.items():
            object.__setattr__(value, name, one)
        return value
    return value
