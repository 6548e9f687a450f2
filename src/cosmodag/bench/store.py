"""Results in one SQLite file, which survives a kill of the process at any moment.

The file is in write-ahead mode. A batch of rows is one transaction; several processes may write at
once; of two rows with one key the first stays. After a power cut the last transactions may be
missing: a resumed run does them again.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cosmodag.errors import StoreError

__all__ = ["Row", "Store"]

# Application id in the header of the file: "COSM".
_APPLICATION = 0x434F534D
_LAYOUT = 1
_MAGIC = b"SQLite format 3\0"

# Seconds that a writer waits for others; each takes milliseconds.
_PATIENCE = 60.0

_TABLES = (
    "CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, batch TEXT NOT NULL, "
    "description TEXT NOT NULL, result TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS experiments (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
)


class Row(NamedTuple):
    """One finished cell: its key, the key of its batch, its description, status and figures."""

    key: str
    batch: str
    description: dict[str, Any]
    result: dict[str, Any]


class Store:
    """A file of results, created if `create` is true; a context that closes it.

    A file that is damaged, belongs to another program or version, or cannot be written raises a
    `StoreError`.

    Examples
    --------
    >>> import tempfile
    >>> with Store(Path(tempfile.mkdtemp()) / "results.sqlite") as store:
    ...     store.add([Row("k1", "b1", {"method": "cosmo"}, {"status": "done", "auc": 0.9})])
    ...     store.keys(), store.rows()[0].result["auc"]
    ({'k1'}, 0.9)
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = Path(path)
        self._check_before_opening(create)
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows, all or none; a row whose key exists is left out."""
        values = [(row.key, row.batch, _json(row.description), _json(row.result)) for row in rows]
        self._write("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)", values)

    def keys(self) -> set[str]:
        """Keys of all finished cells."""
        return {key for (key,) in self._read("SELECT key FROM cells")}

    def rows(self) -> list[Row]:
        """All rows, sorted by key."""
        return [
            Row(key, batch, self._parsed(description), self._parsed(result))
            for key, batch, description, result in self._read("SELECT * FROM cells ORDER BY key")
        ]

    def remember(self, name: str, text: str) -> None:
        """Store the text of an experiment, so that it can be resumed and reported from the file.

        Another experiment of the same name raises a `StoreError`.
        """
        self._write("INSERT OR IGNORE INTO experiments VALUES (?, ?)", [(name, text)])
        if self.experiments()[name] != text:
            raise StoreError(
                f"'{self.path}' holds another experiment that is called {name!r}: give this one "
                "another name, or another store."
            )

    def experiments(self) -> dict[str, str]:
        """Texts of the experiments, by name."""
        return dict(self._read("SELECT name, text FROM experiments ORDER BY rowid"))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write all rows, flat, to a ``.csv`` or ``.parquet`` file."""
        import pandas

        table = pandas.DataFrame([flat(row) for row in self.rows()])
        suffix = Path(path).suffix
        if suffix == ".csv":
            table.to_csv(path, index=False, lineterminator="\n")
        elif suffix == ".parquet":
            table.to_parquet(path, index=False)
        else:
            raise StoreError(f"'{path}' must end in .csv or .parquet.")

    def _check_before_opening(self, create: bool) -> None:
        if self.path.is_dir():
            raise StoreError(f"'{self.path}' is a folder: give the name of a file for the results.")
        if not self.path.exists():
            if not create:
                raise StoreError(f"'{self.path}' does not exist: run an experiment first.")
            if not self.path.parent.is_dir():
                raise StoreError(f"'{self.path}' cannot be made: there is no such folder.")
            return
        try:
            with self.path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except OSError as error:
            raise StoreError(f"'{self.path}' cannot be read: {error.strerror}.") from error
        if head not in (b"", _MAGIC):
            raise StoreError(
                f"'{self.path}' is no file of results, or its beginning is damaged: give another "
                "name."
            )

    def _prepare(self) -> None:
        """Create the tables of a new file; refuse a damaged file, or one of another program."""
        ask = self._connection.execute
        ask(f"PRAGMA busy_timeout = {1000 * _PATIENCE:.0f}")
        # Tables first: another process may be creating them, and then the ids, at this moment.
        (tables,) = ask("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = ask("PRAGMA application_id").fetchone()
        (layout,) = ask("PRAGMA user_version").fetchone()
        if application == 0 and tables == 0:
            self._make_tables()
        elif application != _APPLICATION:
            raise StoreError(f"'{self.path}' is an SQLite file of another program: give another.")
        elif layout != _LAYOUT:
            raise StoreError(
                f"'{self.path}' was written by another version of cosmodag (layout {layout}, this "
                f"one has {_LAYOUT}): give another name."
            )
        ask("PRAGMA synchronous = NORMAL")
        self._check_tables()
        (verdict, *_) = ask("PRAGMA quick_check").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)

    def _check_tables(self) -> None:
        """Refuse a file with other tables than those of `_make_tables`.

        A view, or a computed column, would run code when it is read.
        """
        found = self._connection.execute("SELECT type, sql FROM sqlite_master WHERE sql NOT NULL")
        expected = {("table", sql.replace("IF NOT EXISTS ", "")) for sql in _TABLES}
        if set(found.fetchall()) != expected:
            raise StoreError(f"'{self.path}' holds other tables than cosmodag makes. {_REMEDY}")

    def _make_tables(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._transaction():
            for table in _TABLES:
                self._connection.execute(table)
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_LAYOUT}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _write(self, statement: str, values: Sequence[tuple[str, ...]]) -> None:
        with self._explained(), self._transaction():
            self._connection.executemany(statement, values)

    def _read(self, statement: str) -> list[tuple[Any, ...]]:
        with self._explained():
            return self._connection.execute(statement).fetchall()

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise StoreError(f"'{self.path}' is damaged: a row cannot be read. {_REMEDY}")
        return value

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite into a `StoreError` with one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(f"'{self.path}' cannot be used: {error}.") from error
        except sqlite3.DatabaseError as error:
            reason = " ".join(str(error).split())
            raise StoreError(f"'{self.path}' is damaged ({reason}). {_REMEDY}") from error
        except UnicodeDecodeError as error:
            raise StoreError(f"'{self.path}' is damaged. {_REMEDY}") from error


_REMEDY = "Take a copy that is whole, or start anew under another name."


def flat(row: Row) -> dict[str, Any]:
    """Flatten a row: every entry, and every setting, is a column.

    Examples
    --------
    >>> flat(Row("k", "b", {"settings": {"lambda1": 0.1}, "graph": 3}, {"auc": 1.0}))
    {'key': 'k', 'batch': 'b', 'settings.lambda1': 0.1, 'graph': 3, 'auc': 1.0}
    """
    columns: dict[str, Any] = {"key": row.key, "batch": row.batch}
    for name, value in (*row.description.items(), *row.result.items()):
        if isinstance(value, dict):
            columns |= {f"{name}.{inner}": entry for inner, entry in value.items()}
        else:
            columns[name] = value
    return columns


_json: Callable[[Any], str] = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
