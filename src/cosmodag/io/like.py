"""Results with the names and the kind of the table that they belong to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["like_table"]


def like_table(values: NDArray[np.float64], table: Any, names: Sequence[Any]) -> Any:
    """Return rows of numbers as a data frame if `table` is one, and as an array otherwise.

    Parameters
    ----------
    values : (n, d) array
    table : object
        The rows that `values` were computed from: a pandas frame, whose index is kept, a polars
        frame or an Arrow table; of anything else the result is an array.
    names : sequence of d names

    Examples
    --------
    >>> import pandas as pd
    >>> like_table(np.ones((1, 2)), pd.DataFrame({"a": [5], "b": [6]}, index=["u"]), ["a", "b"])
         a    b
    u  1.0  1.0
    >>> like_table(np.ones((1, 2)), [[5, 6]], ["a", "b"])
    array([[1., 1.]])
    """
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return values
    if frame.implementation.is_pandas():
        import pandas as pd

        return pd.DataFrame(values, index=table.index, columns=list(names))
    texts = [str(name) for name in names]
    return nw.from_numpy(values, schema=texts, backend=frame.implementation).to_native()
