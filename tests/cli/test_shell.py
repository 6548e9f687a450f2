"""However a command ends, it has the right exit code and at most one line on stderr."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from cosmodag.cli import app, main
from cosmodag.cli.terminal.output import print_json, print_table, say
from cosmodag.cli.terminal.shell import register, run
from cosmodag.errors import (
    CosmodagError,
    DataError,
    DataWarning,
    DivergenceError,
    ResourceError,
)

COMMANDS = [
    "demo", "fit", "diagnose", "pag", "simulate", "report", "effect", "validate", "evaluate",
    "convert", "methods", "doctor", "bench",
]  # fmt: skip


def app_raising(error: BaseException | None) -> typer.Typer:
    """An app with a command that raises, and another one, so that Typer keeps their names."""
    small = typer.Typer()

    def act(count: int = 1) -> None:
        """Act."""
        if error is not None:
            raise error

    def rest() -> None:
        """Rest."""

    register(small, "act", act)
    register(small, "rest", rest)
    return small


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("'a.csv' has no rows."), 2, "error: 'a.csv' has no rows."),
        (DataError("two\nlines"), 2, "error: two lines"),
        (DivergenceError("epoch 3 is not finite."), 1, "error: epoch 3 is not finite."),
        (CosmodagError("failed."), 1, "error: failed."),
        (KeyboardInterrupt(), 130, "error: interrupted by Ctrl-C."),
        (MemoryError(), 1, "error: out of memory; try fewer columns, rows or trainings."),
        (ResourceError("It needs 9 GiB."), 1, "error: It needs 9 GiB."),
        (
            OSError(errno.ENOSPC, "No space left on device", "out/graph.graphml"),
            1,
            "error: cannot read or write 'out/graph.graphml': no space left on device.",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", b"out"),
            1,
            "error: cannot read or write 'out': permission denied.",
        ),
    ],
)
def test_an_error_is_one_line_and_a_code(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app_raising(error), ["act"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == line + "\n"


def test_the_app_behaves_the_same_under_a_test_runner() -> None:
    result = CliRunner().invoke(app_raising(DataError("no.")), ["act"])
    assert (result.exit_code, result.stderr) == (2, "error: no.\n")


def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run(app_raising(ZeroDivisionError()), ["act"])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["act", "--number", "3"], "--number"),
        (["act", "--count", "many"], "--count"),
        (["act", "surplus"], "surplus"),
        (["atc"], "atc"),
    ],
)
def test_bad_usage_is_one_line_that_names_the_option(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app_raising(None), arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert named in err
    assert "--help')." in err
    assert err.count("\n") == 1


def test_a_command_that_ends_well_returns_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_raising(None), ["act"]) == 0
    assert capsys.readouterr() == ("", "")


def test_help_shows_the_docstring_and_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_raising(None), ["act", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Act." in shown
    assert "--count" in shown


@dataclass(frozen=True)
class Group:
    """Options that two commands share."""

    size: Annotated[int, typer.Option(help="How large.")] = 3
    names: Annotated[list[str] | None, typer.Option("--name", help="What to call it.")] = None


def test_commands_share_the_options_of_a_dataclass(capsys: pytest.CaptureFixture[str]) -> None:
    small = typer.Typer()

    def first(place: str, *, before: bool = False, group: Group, after: int = 1) -> None:
        print(place, before, group, after)

    def second(group: Group) -> None:
        print(group)

    register(small, "first", first)
    register(small, "second", second)
    assert run(small, ["first", "here", "--size", "4", "--name", "a", "--name", "b"]) == 0
    assert run(small, ["second"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"here False {Group(4, ['a', 'b'])} 1", str(Group())]
    assert run(small, ["first", "--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(option) for option in ("--before", "--size", "--name", "--after")]
    assert places == sorted(places)
    assert "How large." in shown
    assert run(small, ["second", "--size", "x"]) == 2
    assert "--size" in capsys.readouterr().err


def test_our_warnings_are_one_line_and_others_pass_on(capsys: pytest.CaptureFixture[str]) -> None:
    small = typer.Typer()

    def act() -> None:
        """Act."""
        warnings.warn(DataWarning("column 'a' is constant."), stacklevel=1)
        warnings.warn("from elsewhere", RuntimeWarning, stacklevel=1)

    register(small, "act", act)
    register(small, "rest", lambda: None)
    before = warnings.showwarning
    with pytest.warns(RuntimeWarning, match="from elsewhere"):
        run(small, ["act"])
    assert warnings.showwarning is before
    assert capsys.readouterr().err == "warning: column 'a' is constant.\n"


def test_nothing_asked_for_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "doctor" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_page(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"cosmodag {command}" in shown
    assert "Parameters\n" not in shown  # a docstring in numpydoc form is not for the help page
    assert "----------" not in shown


def test_every_command_is_listed() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    for command in COMMANDS:
        assert f"\n  {command} " in shown


@pytest.mark.parametrize("arguments", [["--help"], ["doctor", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    heavy = ["jax", "numba", "pandas", "scipy", "sklearn", "networkx", "matplotlib", "torch"]
    code = (
        f"import sys; from cosmodag.cli import main; main({arguments!r}); "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_ctrl_c_during_the_imports_prints_no_traceback() -> None:
    script = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting)
from cosmodag.__main__ import program
program()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "error: interrupted by Ctrl-C.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "line"),
    [
        (signal.SIGINT, 130, "error: interrupted by Ctrl-C.\n"),
        (signal.SIGTERM, 143, "error: stopped by SIGTERM.\n"),
    ],
)
def test_signals(number: signal.Signals, code: int, line: str) -> None:
    script = """
import signal, sys, time, typer
# If the tests run in the background, they and this process ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
from cosmodag.cli.terminal.shell import register, run
app = typer.Typer()
def wait() -> None:
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("cleaned up", flush=True)
register(app, "wait", wait)
register(app, "rest", lambda: None)
sys.exit(run(app, ["wait"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (code, "cleaned up\n", line)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_ctrl_c_within_a_callback_of_the_garbage_collector_is_not_lost() -> None:
    script = """
import gc, os, signal, sys, time
from cosmodag.cli.terminal.shell import register, run
import typer
# If the tests run in the background, this process ignores Ctrl-C from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
app = typer.Typer()
def act():
    def callback(phase, facts):
        gc.callbacks.remove(callback)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    gc.callbacks.append(callback)
    gc.collect()
    time.sleep(20)
    print("went on")
register(app, "act", act)
register(app, "rest", lambda: None)
sys.exit(run(app, ["act"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    # Python reports the exception that it drops; the signal is then sent again.
    assert done.stderr.endswith("\nerror: interrupted by Ctrl-C.\n")


@pytest.mark.parametrize(("code", "expected"), [(130, 130), (143, 143), (0, -signal.SIGABRT)])
def test_a_program_that_was_interrupted_skips_clean_up_at_exit(code: int, expected: int) -> None:
    script = f"""
import atexit, os
from cosmodag import cli
atexit.register(os.abort)  # as LLVM does after an interrupted compilation
cli.main = lambda: {code}
cli.program()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == expected


@pytest.mark.skipif(os.name == "nt", reason="needs sh")
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_is_no_traceback(closed: str) -> None:
    number = {"stdout": 1, "stderr": 2}[closed]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m cosmodag methods {number}>&-', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_run_puts_the_handler_of_sigterm_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    run(app_raising(None), ["act"])
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_reader_that_leaves_is_no_traceback() -> None:
    code = (
        "import sys; from cosmodag.cli.terminal.shell import run, register; import typer\n"
        "app = typer.Typer()\n"
        "register(app, 'act', lambda: print('x' * 10_000_000))\n"
        "register(app, 'rest', lambda: None)\n"
        "sys.exit(run(app, ['act']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=300) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.optional
@pytest.mark.usefixtures("installed_package")
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["methods", "--json"]])
def test_a_full_disk_under_stdout_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cosmodag", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "no space left" in done.stderr
    assert done.stderr.count("\n") == 1


def test_say_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\n  b")
    assert capsys.readouterr() == ("", "a b\n")


def test_json_is_strict_and_plain(capsys: pytest.CaptureFixture[str]) -> None:
    value = {
        "none": None,
        "nan": float("nan"),
        "infinite": np.float32("inf"),
        "integer": np.int64(3),
        "flag": np.bool_(True),
        "array": np.array([[1.0, np.nan]]),
        "path": Path("a") / "b",
        "tuple": (1, "é"),
        4: {"empty": []},
    }
    print_json(value)
    assert json.loads(capsys.readouterr().out) == {
        "none": None,
        "nan": None,
        "infinite": None,
        "integer": 3,
        "flag": True,
        "array": [[1.0, None]],
        "path": str(Path("a") / "b"),
        "tuple": [1, "é"],
        "4": {"empty": []},
    }


def test_a_table_escapes_characters_that_would_disorder_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(["cause"], [["a\tb"], ["\u202eabc"], ["naïve\u200c name"]])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[-3:] == [r"a\tb", r"\u202eabc", "naïve\u200c name"]


def test_a_table_keeps_names_that_look_like_markup_and_is_not_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    long_name = "[bold]" + "x" * 300
    print_table(["from", "weight"], [[long_name, "-0.50"], ["[/]", "12.25"]], title="arcs")
    lines = stream.getvalue().splitlines()
    assert lines[0].strip() == "arcs"
    assert any(line.startswith(long_name) and line.endswith(" -0.50") for line in lines)
    assert any(line.startswith("[/] ") and line.endswith(" 12.25") for line in lines)


def test_a_piped_table_has_one_line_per_row_without_padding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    sentence = "learn from earlier rows as well (lags=1, --lags 1) " + "and more " * 40 + "end"
    print_table(["finding", "what it means"], [["rows", sentence], ["b", "short"]], title="t.csv")
    shown = sentence.replace("lags=1, ", "")
    lines = stream.getvalue().splitlines()
    assert lines == ["t.csv", "finding  what it means", f"rows     {shown}", "b        short"]


@pytest.mark.parametrize(
    ("given", "suggested"),
    [("--dropna", "--missing drop"), ("--gpu", "--device gpu"), ("--sed", "--seed")],
)
def test_an_unknown_option_suggests_the_one_that_is_meant(capsys, given, suggested):
    assert main(["fit", "t.csv", given]) == 2
    error = capsys.readouterr().err
    assert given in error
    assert suggested in error
    assert error.count("\n") == 1
