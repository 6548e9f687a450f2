"""The folder that keeps compiled programs between runs, and whether it is safe to run them."""

import os
import stat
from pathlib import Path

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Return the cache folder for this user's compiled programs."""
    from platformdirs import user_cache_path

    return user_cache_path("cosmodag", appauthor=False)


def danger_of(folder: Path, setting: str) -> str | None:
    """Create a folder; return why it cannot be used and the remedy, or None if it can.

    Programs in it are executed, so other users must not be able to write to it: it is created with
    access for its owner only. `setting` is the environment variable that names another folder.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        return (
            f"'{folder}' cannot be created ({error.strerror}), so every run compiles them again: "
            f"set {setting} to a folder that you can write to"
        )
    if not stat.S_ISDIR(found.st_mode):
        reason = f"'{folder}' is a link or a file"
    elif not hasattr(os, "getuid"):  # Windows protects the folders of users in other ways
        return None
    elif found.st_uid != os.getuid():
        reason = f"'{folder}' belongs to another user"
    elif found.st_mode & _OTHERS_MAY_WRITE:
        reason = f"others may write to '{folder}'"
    elif any(file.stat(follow_symlinks=False).st_uid != os.getuid() for file in os.scandir(folder)):
        reason = f"files in '{folder}' belong to another user"
    else:
        return None
    return (
        f"{reason}. Programs that others put there would run with your rights: delete the folder, "
        "and it is created again for you alone"
    )
