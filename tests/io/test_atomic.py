"""A file is replaced completely or not at all."""

import errno
import json
import multiprocessing
import os
import stat

import pytest

from cosmodag.errors import DataError
from cosmodag.io.files import write_bytes, write_text, writing


def test_writes_exactly_what_it_is_given(tmp_path):
    write_text(tmp_path / "a.txt", "é\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n\n".encode()
    write_bytes(tmp_path / "a.txt", b"\x00")
    assert (tmp_path / "a.txt").read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(writing.os, failing, fail)
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_data_is_on_the_disk_before_the_name_points_to_it(tmp_path, monkeypatch):
    calls = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(writing.os, "fsync", lambda fd: (calls.append("sync"), sync(fd)))
    monkeypatch.setattr(
        writing.os, "replace", lambda *paths: (calls.append("rename"), replace(*paths))
    )
    write_text(tmp_path / "a.txt", "text")
    assert calls[:2] == ["sync", "rename"]


def test_keeps_permissions_and_obeys_the_umask(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_refusals_name_the_path(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        write_text(tmp_path, "x")
    with pytest.raises(DataError, match="make the folder"):
        write_text(tmp_path / "none" / "a.txt", "x")


def test_a_device_is_written_to_not_replaced():
    write_text(os.devnull, "x")
    assert not os.path.isfile(os.devnull)


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    for name in (".cosmodag.abc123.part", ".note.txt.abc123.part", ".other.abc123.part"):
        (tmp_path / name).write_text("unfinished")
    stage = tmp_path / ".cosmodag.def456.part"
    stage.mkdir()
    (stage / "run.json").write_text("{}")
    with writing.replaced_together(tmp_path) as own:
        (own / "a.txt").write_text("a")
        with writing.replaced_together(tmp_path) as other:  # not that of a living writer
            (other / "b.txt").write_text("b")
        assert (own / "a.txt").is_file()
    write_text(tmp_path / "note.txt", "note")
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == [".other.abc123.part", "a.txt", "b.txt", "note.txt"]


def _write_number(folder, number):
    with writing.replaced_together(folder) as stage:
        for name in "abcdefgh":
            (stage / name).write_text(json.dumps(number))


def test_writers_of_one_folder_take_turns(tmp_path):
    with multiprocessing.get_context("fork").Pool(8) as pool:
        for _ in range(5):
            pool.starmap(_write_number, [(tmp_path, number) for number in range(12)])
            assert len({path.read_text() for path in tmp_path.iterdir()}) == 1
