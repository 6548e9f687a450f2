"""Full or read-only disks: one line, exit code 1 or 2, and no partial files."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cosmodag import Cosmo
from cosmodag.cli import main
from cosmodag.io.files import writing as files
from learner_catalogue import chain_table


@pytest.fixture
def table(tmp_path):
    chain_table().to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("failing", range(1, 9))
def test_a_disk_that_fills_up_at_any_file(table, tmp_path, monkeypatch, capsys, failing):
    out = tmp_path / "out"
    options = ["-o", str(out), "--method", "variance-sort", "-q"]
    assert main(["fit", table, *options]) == 0
    before = {name: (out / name).read_bytes() for name in names(out)}
    write, calls = files._write_through, []

    def full(path, parts):
        calls.append(path)
        if len(calls) == failing:
            data = b"".join(parts)
            path.write_bytes(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, parts)

    monkeypatch.setattr(files, "_write_through", full)
    capsys.readouterr()
    assert main(["fit", table, *options, "--threshold", "0.1"]) == 1
    error = capsys.readouterr().err
    assert "no space left on device" in error
    assert error.count("\n") == 1
    assert {name: (out / name).read_bytes() for name in names(out)} == before


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


@pytest.fixture(params=[pytest.param("tmpfs", marks=pytest.mark.nightly), "limit"])
def small_disk(request, tmp_path):
    """A folder on a disk of 64 KiB, or a folder and a function that limits the size of files."""
    folder = tmp_path / "small"
    folder.mkdir()
    if request.param == "limit":
        yield folder, small_files
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems cannot be mounted here; the limit on file sizes covers this case")
    yield folder, None
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.machine
def test_a_disk_that_is_too_small(table, small_disk, tmp_path):
    folder, before = small_disk
    # A cache of its own, so that failed writes do not affect the programs of other tests.
    programs = tmp_path / "programs"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "cosmodag", "fit", table, "-o", str(folder / "out"), "-q"),
            *("--method", "variance-sort"),  # compiles nothing, so that its cache stays empty
        ],
        env={
            **os.environ,
            **dict.fromkeys(("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"), str(folder)),
            "NUMBA_CACHE_DIR": str(programs),
        },
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=before,
    )
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: cannot read or write '{folder / 'out'}/")
    assert ".part" not in last
    assert "Traceback" not in done.stderr
    assert names(folder / "out") == []


def test_a_read_only_folder_is_refused_before_the_work(table, tmp_path, monkeypatch, capsys):
    def refuse(**kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    monkeypatch.setattr(Cosmo, "fit", None)
    assert main(["fit", table, "-o", str(tmp_path)]) == 1
    assert "read-only file system" in capsys.readouterr().err
    assert names(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("below", [False, True])
def test_an_output_that_is_a_file(table, tmp_path, capsys, below):
    file = tmp_path / "file"
    file.write_text("mine")
    assert main(["fit", table, "-o", str(file / "out" if below else file)]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert file.read_text() == "mine"
