"""Cached programs are executed, so only the user may have write access to the cache."""

import os
import stat
import threading
from pathlib import Path

import pytest

from cosmodag.cli.terminal import cache_folder as cache
from cosmodag.errors import FallbackWarning

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no file modes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "cosmodag")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    return tmp_path / "cosmodag" / "jax"


def test_the_folder_is_its_owners_alone(folder: Path) -> None:
    cache.keep_compiled_programs()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.warns(FallbackWarning, match=r"others may write to .*: delete the folder"):
        cache.keep_compiled_programs()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path)
    with pytest.warns(FallbackWarning, match="link"):
        cache.keep_compiled_programs()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ


def test_another_users_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(FallbackWarning, match="another user"):
        cache.keep_compiled_programs()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
def test_files_of_another_user_are_refused(folder: Path) -> None:
    """Closing a folder to others does not remove files that they left in it."""
    folder.mkdir(parents=True, mode=0o700)
    (folder / "program").write_bytes(b"")
    os.chown(folder / "program", 12345, -1)
    with pytest.warns(FallbackWarning, match="belong to another user"):
        cache.keep_compiled_programs()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ


def test_a_folder_of_the_users_choice_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    cache.keep_compiled_programs()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "/elsewhere"
    assert not folder.exists()


def test_a_damaged_program_is_removed_and_that_is_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_REPORTED", threading.Event())
    cache.keep_compiled_programs()
    for name in ("jit_step-1f-cache", "jit_step_back-2e-cache", "jit_other-3d-cache"):
        (folder / name).touch()
    message = "Error reading persistent compilation cache entry for 'jit_step': ZstdError: cut"
    assert "damaged" in str(cache.remove_damaged(message))
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "jit_other-3d-cache",
        "jit_step_back-2e-cache",
    ]
    assert cache.remove_damaged(message) == ""
    assert cache.remove_damaged("Something else") is None
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    assert cache.remove_damaged(message) is None


def test_a_folder_that_cannot_be_created_need_not_be_deleted(folder: Path) -> None:
    folder.parent.write_bytes(b"")  # a file instead of the parent folder
    with pytest.warns(FallbackWarning, match=r"cannot be created .*: set JAX_COMPILATION") as said:
        cache.keep_compiled_programs()
    assert "delete" not in str(said[0].message)
