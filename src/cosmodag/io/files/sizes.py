"""Limits on what a short file may grow to in memory."""

from cosmodag.errors import DataError

__all__ = ["check_filled", "check_unpacked"]

# A file may unpack to so many bytes, or to so many times its own size.
_MOST_BYTES = 100_000_000
_MOST_TIMES = 200

# A table may have so many cells, or so many for each entry in the file.
_MOST_CELLS = 2_000_000
_MOST_CELLS_AN_ENTRY = 10


def check_unpacked(unpacked: int, packed: int, source: str) -> None:
    """Refuse a compressed file that unpacks to far more bytes than any table in it needs."""
    if unpacked > max(_MOST_BYTES, _MOST_TIMES * packed):
        raise DataError(
            f"{source} unpacks to more than {_MOST_BYTES // 10**6} MB and more than "
            f"{_MOST_TIMES} times its size: if it is meant to be so large, save it uncompressed, "
            "as CSV."
        )


def check_filled(rows: int, columns: int, entries: int, source: str) -> None:
    """Refuse a table that would consist almost entirely of missing values."""
    if rows * columns > max(_MOST_CELLS, _MOST_CELLS_AN_ENTRY * entries):
        raise DataError(
            f"{source} would be a table of {rows:,} rows and {columns:,} columns, of whose cells "
            f"it holds only {entries:,}: write all values of each row, under the same columns."
        )
