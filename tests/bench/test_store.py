"""The store keeps committed rows, allows several writers, and refuses foreign files."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.bench.store import Row, Store
from cosmodag.errors import StoreError

WRITER = """
import sys
from cosmodag.bench.store import Row, Store
name, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
assert "jax" not in sys.modules, "a store is opened within half a second"
with Store(path) as store:
    for batch in range(count):
        store.add(Row(f"{name}-{batch}-{i}", f"{name}-{batch}", {"i": i}, {"status": "done"})
                  for i in range(5))
        print(batch, flush=True)
"""


def row(number: int, **result: object) -> Row:
    return Row(f"key {number}", "batch", {"graph": number}, {"status": "done", **result})


def writer(name: str, path: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, name, str(path), str(count)],
        stdout=subprocess.PIPE,
        text=True,
    )


def read_or_sentence(path: Path) -> bool:
    """Whether a file gives rows, or is refused by an error that names it."""
    try:
        with Store(path) as store:
            return all(isinstance(found.result, dict) for found in store.rows())
    except StoreError as error:
        return str(path) in str(error)


def test_rows_come_back_and_the_first_of_one_key_stays(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.add([row(2), row(1, auc=0.5)])
        store.add([row(1, auc=0.9), row(3)])
    with Store(path) as store:
        assert store.rows() == [row(1, auc=0.5), row(2), row(3)]


def test_a_batch_is_stored_completely_or_not_at_all(tmp_path: Path) -> None:
    def half() -> object:
        yield row(1)
        raise RuntimeError

    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(RuntimeError):
            store.add(half())  # type: ignore[arg-type]
        assert store.rows() == []


def test_committed_rows_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    for attempt in range(3):
        process = writer(f"w{attempt}", path, 100_000)
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(5 + 7 * attempt)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
        process.wait()
        whole = [int(line) for line in said if line.endswith("\n")]
        with Store(path) as store:
            mine = [r for r in store.rows() if r.key.startswith(f"w{attempt}-")]
        assert len(mine) % 5 == 0
        assert {f"w{attempt}-{batch}" for batch in whole} <= {r.batch for r in mine}


def test_several_writers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    writers = [writer(name, path, 40) for name in "abc"]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    with Store(path) as store:
        assert len(store.rows()) == 3 * 40 * 5


def test_a_foreign_file_is_refused_and_not_changed(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("These are my notes, and no database at all.")
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    for path, expected in ((notes, "not a store of results"), (other, "another program")):
        before = path.read_bytes()
        with pytest.raises(StoreError, match=expected):
            Store(path)
        assert path.read_bytes() == before


@settings(max_examples=25)
@given(st.data())
def test_a_damaged_file_gives_its_rows_or_an_error_message(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "results.sqlite"
    with Store(path) as store:
        store.add(row(number) for number in range(200))
    content = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(1, 4096))
    content[start : start + length] = b"\xff" * len(content[start : start + length])
    cut = data.draw(st.integers(1, len(content)))
    path.write_bytes(content[:cut])
    assert read_or_sentence(path)


def test_paths_that_cannot_be_a_store_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent" / "results.sqlite"):
        with pytest.raises(StoreError, match="is a folder, or its folder is missing"):
            Store(place)
    with pytest.raises(StoreError, match="run an experiment first"):
        Store(tmp_path / "results.sqlite", create=False)


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="layout 99"):
        Store(path)


def test_experiments_are_remembered(tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        store.remember("one", "a = 1")
        store.remember("one", "a = 1")
        assert store.experiments() == {"one": "a = 1"}
        with pytest.raises(StoreError, match="another experiment"):
            store.remember("one", "a = 2")
