"""Files: checked reading, atomic writing, and the arrays and facts of fitted models."""

from cosmodag.io.files.model import read_model, write_model
from cosmodag.io.files.reading import (
    UTF_8,
    check_file,
    given_file,
    opened_bytes,
    opened_text,
    read_text,
    refuse_other_format,
)
from cosmodag.io.files.writing import write_bytes, write_text

__all__ = [
    "UTF_8",
    "check_file",
    "given_file",
    "opened_bytes",
    "opened_text",
    "read_model",
    "read_text",
    "refuse_other_format",
    "write_bytes",
    "write_model",
    "write_text",
]
