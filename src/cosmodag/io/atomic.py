"""The old address of `cosmodag.io.files.write_text` and `write_bytes`."""

from cosmodag.io.files import write_bytes, write_text

__all__ = ["write_bytes", "write_text"]
