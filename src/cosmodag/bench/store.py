"""Results in one SQLite file, which stays valid if the process is killed at any moment.

The file is in write-ahead mode, and a batch of rows is one transaction. Several processes may write
at the same time; the first of two rows with the same key is kept. After a power failure the last
transactions may be missing: a resumed run computes their rows again.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cosmodag.errors import StoreError

# Application id in the header of the file ("COSM"), and version of the tables.
_APPLICATION = 0x434F534D
_LAYOUT = 1

# Seconds that a writer waits for others, each of which takes milliseconds.
_TIMEOUT = 60.0

_TABLES = (
    "CREATE TABLE cells (key TEXT PRIMARY KEY, batch TEXT NOT NULL, "
    "description TEXT NOT NULL, result TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE experiments (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
)
_REMEDY = "Use an intact copy of it, or start again with another name."
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Row(NamedTuple):
    """One finished cell: its key, the key of its batch, its description, status and figures."""

    key: str
    batch: str
    description: dict[str, Any]
    result: dict[str, Any]


class Store(AbstractContextManager["Store"]):
    """A file of results, as a context manager; created if it is missing and `create` is true.

    A `StoreError` is raised if the file is damaged, belongs to another program or version, or
    cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with Store(Path(tempfile.mkdtemp()) / "results.sqlite") as store:
    ...     store.add([Row("k1", "b1", {"method": "cosmo"}, {"status": "done", "auc": 0.9})])
    ...     store.rows()[0].result["auc"]
    0.9
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"'{self.path}' does not exist: run an experiment first.")
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise StoreError(f"'{self.path}' is a folder, or its folder is missing: name a file.")
        with self._explained():
            self._connection = sqlite3.connect(self.path, _TIMEOUT, isolation_level="IMMEDIATE")
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows in one transaction, omitting those whose keys exist."""
        values = [(row.key, row.batch, _json(row.description), _json(row.result)) for row in rows]
        self._write("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)", values)

    def rows(self) -> list[Row]:
        """All rows, sorted by key."""
        return [
            Row(key, batch, self._parsed(description), self._parsed(result))
            for key, batch, description, result in self._read("SELECT * FROM cells ORDER BY key")
        ]

    def remember(self, name: str, text: str) -> None:
        """Store the text of an experiment, so that it can be resumed and reported from the file.

        A `StoreError` is raised if the store has another experiment of the same name.
        """
        self._write("INSERT OR IGNORE INTO experiments VALUES (?, ?)", [(name, text)])
        if self.experiments()[name] != text:
            raise StoreError(
                f"'{self.path}' contains another experiment with the name {name!r}: change the "
                "name of this one, or use another store."
            )

    def experiments(self) -> dict[str, str]:
        """Texts of the experiments, by name."""
        found = dict(self._read("SELECT name, text FROM experiments ORDER BY rowid"))
        if not all(isinstance(part, str) for experiment in found.items() for part in experiment):
            raise StoreError(f"'{self.path}' is damaged: an experiment is not text. {_REMEDY}")
        return found

    def _prepare(self) -> None:
        """Create the tables of a new file; refuse a damaged file, or one of another program."""
        execute = self._connection.execute
        execute("BEGIN")  # all three at one moment: another process may be creating the tables
        found = set(execute("SELECT type, sql FROM sqlite_master WHERE sql NOT NULL"))
        [(application,)] = execute("PRAGMA application_id")
        [(layout,)] = execute("PRAGMA user_version")
        execute("COMMIT")
        if application == 0 and not found:
            execute("PRAGMA journal_mode = WAL")
            with self._connection:  # commits, or rolls back after an error
                execute("BEGIN IMMEDIATE")
                for table in _TABLES:
                    execute(table.replace("TABLE", "TABLE IF NOT EXISTS"))
                execute(f"PRAGMA application_id = {_APPLICATION}")
                execute(f"PRAGMA user_version = {_LAYOUT}")
        elif application != _APPLICATION:
            raise StoreError(f"'{self.path}' is an SQLite file of another program: use another.")
        elif layout != _LAYOUT:
            raise StoreError(
                f"'{self.path}' was written by another version of cosmodag (layout {layout} "
                f"instead of {_LAYOUT}): use another file."
            )
        # A view, or a computed column, would run code when it is read.
        elif found != {("table", table) for table in _TABLES}:
            raise StoreError(f"'{self.path}' has other tables than cosmodag creates. {_REMEDY}")
        execute("PRAGMA synchronous = NORMAL")
        if (verdict := execute("PRAGMA quick_check").fetchone()) != ("ok",):
            raise sqlite3.DatabaseError(*verdict)

    def _write(self, statement: str, values: Sequence[tuple[str, ...]]) -> None:
        with self._explained(), self._connection:
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
        """Replace errors of SQLite by a `StoreError` with one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(f"'{self.path}' cannot be used: {error}.") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise StoreError(
                f"'{self.path}' is not a store of results, or it is damaged ({reason}). {_REMEDY}"
            ) from error
