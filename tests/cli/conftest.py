"""What tests of the command line share: stderr does not depend on what is compiled already."""

import pytest

from cosmodag.cli.terminal import shell


@pytest.fixture(autouse=True)
def no_lines_about_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no lines about programs that the first test compiles."""
    monkeypatch.setattr(shell, "_SECONDS_PER_LINE", float("inf"))
