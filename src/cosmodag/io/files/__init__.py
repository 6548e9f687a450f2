"""Files: checked reading, atomic writing, and saved models."""

from cosmodag.io.files.model import read_model, write_model
from cosmodag.io.files.reading import check_file, read_text
from cosmodag.io.files.writing import write_bytes, write_text

__all__ = ["check_file", "read_model", "read_text", "write_bytes", "write_model", "write_text"]
