"""The record of the files of a fit: hashes, which show whether all files are of one fit."""

import hashlib
import json
from pathlib import Path

from cosmodag.errors import DataError

RUN = "run.json"


def written_files(folder: Path) -> dict[str, str]:
    """Read the names and SHA-256 of the files that a fit wrote to a folder, and of the record."""
    try:
        written = json.loads((folder / RUN).read_text(encoding="utf-8"))["written"]
        return {RUN: "", **{str(name): str(known) for name, known in written.items()}}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}


def check_written(path: Path) -> None:
    """Refuse a file of a fit that another fit wrote, or that was changed."""
    known = written_files(path.parent).get(path.name)
    if known is None:
        return
    with open(path, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != known:
        raise DataError(
            f"'{path}' was changed or damaged after cosmodag wrote it, or is of another fit than "
            f"{RUN}: fit again."
        )
