"""Results in one SQLite file, which survives a kill of the process at any moment.

The file is in write-ahead mode. A batch of rows is one transaction; several processes may write at
once; of two rows with one key the first stays. After a power cut the last transactions may be
missing: a resumed run does them again.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cosmodag.errors import StoreError

# Application id in the header of the file: "COSM".
_APPLICATION = 0x434F534D
_LAYOUT = 1

# Seconds that a writer waits for others; each takes milliseconds.
_PATIENCE = 60.0

_TABLES = (
    "CREATE TABLE cells (key TEXT PRIMARY KEY, batch TEXT NOT NULL, "
    "description TEXT NOT NULL, result TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE experiments (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
)
_REMEDY = "Take a copy that is whole, or start anew under another name."
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Row(NamedTuple):
    """One finished cell: its key, the key of its batch, its description, status and figures."""

    key: str
    batch: str
    description: dict[str, Any]
    result: dict[str, Any]


class Store(AbstractContextManager["Store"]):
    """A file of results, created if `create` is true; a context that closes it.

    A file that is damaged, belongs to another program or version, or cannot be written raises a
    `StoreError`.

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
            raise StoreError(f"'{self.path}' is no file, nor can one be made: name another.")
        with self._explained():
            self._connection = sqlite3.connect(self.path, _PATIENCE, isolation_level="IMMEDIATE")
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
        """Write rows, all or none; a row whose key exists is left out."""
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
        found = dict(self._read("SELECT name, text FROM experiments ORDER BY rowid"))
        if not all(isinstance(part, str) for experiment in found.items() for part in experiment):
            raise StoreError(f"'{self.path}' is damaged: an experiment is no text. {_REMEDY}")
        return found

    def _prepare(self) -> None:
        """Create the tables of a new file; refuse a damaged file, or one of another program."""
        ask = self._connection.execute
        ask("BEGIN")  # one moment for all three: another process may be creating the tables
        found = set(ask("SELECT type, sql FROM sqlite_master WHERE sql NOT NULL"))
        [(application,)], [(layout,)] = ask("PRAGMA application_id"), ask("PRAGMA user_version")
        ask("COMMIT")
        if application == 0 and not found:
            ask("PRAGMA journal_mode = WAL")
            with self._connection:  # commits, or rolls back after an error
                ask("BEGIN IMMEDIATE")
                for table in _TABLES:
                    ask(table.replace("TABLE", "TABLE IF NOT EXISTS"))
                ask(f"PRAGMA application_id = {_APPLICATION}")
                ask(f"PRAGMA user_version = {_LAYOUT}")
        elif application != _APPLICATION:
            raise StoreError(f"'{self.path}' is an SQLite file of another program: give another.")
        elif layout != _LAYOUT:
            raise StoreError(
                f"'{self.path}' was written by another version of cosmodag (layout {layout}, this "
                f"one has {_LAYOUT}): give another name."
            )
        # A view, or a computed column, would run code when it is read.
        elif found != {("table", table) for table in _TABLES}:
            raise StoreError(f"'{self.path}' holds other tables than cosmodag makes. {_REMEDY}")
        ask("PRAGMA synchronous = NORMAL")
        if (verdict := ask("PRAGMA quick_check").fetchone()) != ("ok",):
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
        """Turn errors of SQLite into a `StoreError` with one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(f"'{self.path}' cannot be used: {error}.") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise StoreError(
                f"'{self.path}' is no file of results, or is damaged ({reason}). {_REMEDY}"
            ) from error
