"""The number of compiled programs is shown on a terminal, in a notebook and in a log."""

import logging
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import typer

from cosmodag.cli.terminal import shell
from cosmodag.cli.terminal.shell import register, run
from cosmodag.runtime import compile_progress as progress
from cosmodag.runtime.later import jax, jitted
from cosmodag.solve import watch
from cosmodag.solve.watch import Watch


def compile_three() -> None:
    """Report programs as compiled functions do, two of them at the same time."""
    with progress.compiling("train"), progress.compiling("shuffle"):
        pass
    with progress.compiling("mask"):
        pass


class Terminal:
    """A stream that is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace stderr by a terminal. Tests call it, because pytest undoes it after a fixture."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return stream


def test_on_a_terminal_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with Watch(1, "Cosmo") as watch:
        compile_three()
        with progress.compiling("search"):
            watch._bar._bar.refresh()
    assert "compiling (first run only)" in terminal.text
    assert "3 done" in terminal.text
    assert "Cosmo" not in terminal.text  # its own bar appears after a second


def test_a_fit_without_progress_stays_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with Watch(1, "Cosmo", show=False):
        compile_three()
    assert terminal.text == ""


def test_the_library_writes_nothing_to_a_file_or_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    with Watch(1, "Cosmo"):
        compile_three()
    assert capfd.readouterr() == ("", "")


def run_command(act: Callable[[], None], *arguments: str) -> int:
    """Run a command with an option ``--quiet`` that calls `act`."""

    def command(quiet: bool = False) -> None:
        act()

    app = typer.Typer()
    register(app, "act", command)
    return run(app, list(arguments))


def test_a_command_writes_lines_to_a_file_or_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said, say = threading.Event(), shell.say

    def heard(line: str) -> None:
        say(line)
        said.set()

    def act() -> None:
        with progress.compiling("search"):
            assert said.wait(60)

    monkeypatch.setattr(shell, "_SECONDS_PER_LINE", 0.02)
    monkeypatch.setattr(shell, "_SECONDS_PER_CHECK", 0.01)
    monkeypatch.setattr(shell, "say", heard)
    assert run_command(act) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert set(err.splitlines()) == {"compiling (first run only): 0 done"}


def test_a_command_is_silent_if_it_compiles_for_less_than_two_seconds(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run_command(compile_three) == 0
    assert capfd.readouterr() == ("", "")


def test_a_quiet_command_and_one_on_a_terminal_write_no_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listeners: list[int] = []

    def act() -> None:
        listeners.append(len(progress._LISTENERS))

    run_command(act, "--quiet")
    run_command(act)
    on_a_terminal(monkeypatch)
    run_command(act)
    assert listeners == [0, 1, 0]


def test_in_a_notebook_one_line_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    class ZMQInteractiveShell:
        pass

    lines: list[str] = []

    def update(content: dict[str, str], raw: bool) -> None:
        lines.append(content["text/plain"])

    def shown(content: dict[str, str]) -> SimpleNamespace:
        update(content, raw=True)
        return SimpleNamespace(update=update)

    shell = SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setattr(watch, "notebook_line", shown)
    with Watch(1, "Cosmo"):
        compile_three()
    assert "compiling (first run only): 0 done" in lines
    assert "compiling (first run only): 1 done" in lines
    assert lines[-1] == ""


def test_a_log_has_a_line_every_two_seconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "cosmodag")
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock.now)
    with Watch(1, "Cosmo", show=False):
        compile_three()
        assert caplog.messages == []
        clock.now = 2.5
        compile_three()
        assert caplog.messages == ["compiling (first run only): 3 done"]


def test_listeners_are_removed_after_the_run() -> None:
    heard: list[str] = []
    with progress.listening(lambda tally: heard.append(str(tally))):
        progress.begin_jax_program("/jax/core/compile/jaxpr_to_mlir_module_duration", 0.0)
    progress.end_jax_program("/jax/core/compile/backend_compile_duration", 0.0)
    assert heard == ["compiling (first run only): 0 done"]


def test_programs_of_jax_are_counted() -> None:
    @jitted()
    def cubed(x: float) -> float:
        return x * x * x + 1

    jax.clear_caches()
    heard: list[tuple[int, bool]] = []
    with progress.listening(lambda tally: heard.append((tally.done, tally.is_busy))):
        assert float(cubed(2.0)) == 9
    assert heard[0] == (0, True)
    assert heard[-1][0] > 0
    assert heard[-1][1] is False
