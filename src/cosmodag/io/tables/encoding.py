"""Encoding of text tables, which spreadsheets write in several."""

import gzip
import os
import warnings
import zlib

from cosmodag.errors import DataError, DataWarning
from cosmodag.io.files import UTF_8, opened_bytes, refuse_other_format

__all__ = ["text_encoding"]

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text_encoding(path: str | os.PathLike[str], source: str) -> str:
    """Find the encoding of a text file: UTF-8, UTF-16 with its mark, or Windows-1252.

    Spreadsheets of Western systems write Windows-1252, in which almost any bytes are text: it is
    accepted only without control characters, and with a warning.
    """
    try:
        with opened_bytes(path, source) as handle:
            content = handle.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{source} is not a complete gzip file: compress it again.") from error
    if content.startswith(_UTF_16):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse_other_format(path, source)
        if not _is_windows_text(content):
            raise DataError(
                f"{source} is not UTF-8 text: save it as UTF-8, in Excel as 'CSV UTF-8' (byte "
                f"{error.start} is not)."
            ) from error
        warnings.warn(
            f"{source} is not UTF-8 text and was read as Windows-1252: check accented letters in "
            "its names, or save it as UTF-8.",
            DataWarning,
            stacklevel=6,
        )
        return "cp1252"
    return UTF_8


def _is_windows_text(content: bytes) -> bool:
    if any(byte < 32 and byte not in b"\t\r\n" for byte in set(content)):
        return False
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
