"""Configuration of the command-line tests: stderr does not depend on the compilation cache."""

import pytest

from cosmodag.cli.terminal import shell


@pytest.fixture(autouse=True)
def no_lines_about_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no lines about programs that the first test compiles."""
    monkeypatch.setattr(shell, "_SECONDS_PER_LINE", float("inf"))
