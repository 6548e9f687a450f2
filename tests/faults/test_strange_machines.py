"""Unusual environments: other encodings, no home, odd paths, strict interpreters."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cosmodag import simulate
from cosmodag.io.graphs import read_graph

nightly = pytest.mark.nightly


def cosmodag(
    *arguments: object, folder: Path, options: tuple[str, ...] = (), **variables: str | None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a subprocess; a variable set to None is removed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(
        [sys.executable, *options, "-m", "cosmodag", *map(str, arguments)],
        cwd=folder,
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        timeout=600,
        check=False,
    )


def fine(done: subprocess.CompletedProcess[bytes]) -> None:
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"Traceback" not in done.stderr


STRANGE = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "LC_ALL=C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "no HOME": {"HOME": None, "XDG_CACHE_HOME": None},
    "HOME that cannot be made": {"HOME": "/dev/null/home", "XDG_CACHE_HOME": None},
    "HOME that cannot be written to": {"HOME": "/proc", "XDG_CACHE_HOME": None},
    "TERM=dumb": {"TERM": "dumb", "COLUMNS": "20"},
}


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    folder = tmp_path / "donn\u00e9es \u6570\u636e"
    folder.mkdir()
    (folder / "true graph.csv").write_text("cause,effect\n\u00e9t\u00e9,\u6570\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["cp1252", "LC_ALL=C", "HOME that cannot be made"])
def test_a_command_runs_there(graphs: Path, name: str) -> None:
    done = cosmodag(
        "evaluate", "true graph.csv", graphs / "true graph.csv", folder=graphs, **STRANGE[name]
    )
    fine(done)
    assert b"shd" in done.stdout


@pytest.mark.parametrize("option", ["-OO", pytest.param("-O", marks=nightly)])
def test_a_command_runs_without_assertions(graphs: Path, option: str) -> None:
    done = cosmodag("convert", "true graph.csv", "g.json", folder=graphs, options=(option,))
    fine(done)
    assert read_graph(graphs / "g.json").named_arcs() == [("\u00e9t\u00e9", "\u6570", 1.0)]


def test_json_holds_any_name_whatever_the_encoding() -> None:
    script = (
        "from cosmodag.cli.terminal.output import *; prepare_streams(); "
        "print_json({'\u6570': '\u2192'}); print_result('a \u2192 \u6570')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=True,
    )
    document, _, line = done.stdout.decode("ascii").rpartition("}")
    assert json.loads(document + "}") == {"\u6570": "\u2192"}
    assert line.strip() == "a -> ?"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "\u00fcber \u6570"
    folder.mkdir()
    data = simulate.load("n30_d5_ER1_gauss", seed=0)
    header = ",".join(["\u00e4", "\u03b2", "=1+1", "d e", "\u6570"])
    np.savetxt(folder / "t.csv", data.X, delimiter=",", header=header, comments="", encoding="utf8")
    return folder / "t.csv"


@nightly
@pytest.mark.parametrize("name", STRANGE)
def test_a_fit_runs_there(table: Path, name: str) -> None:
    done = cosmodag("fit", table, "-o", "out", folder=table.parent, **STRANGE[name])
    fine(done)
    assert (table.parent / "out" / "report.html").is_file()


@nightly
@pytest.mark.parametrize("option", ["-O", "-Werror"])
def test_a_fit_runs_with_a_strict_interpreter(table: Path, option: str) -> None:
    fine(cosmodag("fit", table, "-o", "out", "--quiet", folder=table.parent, options=(option,)))


@nightly
def test_six_cold_processes_at_once_share_a_cache(table: Path, tmp_path: Path) -> None:
    caches = {"XDG_CACHE_HOME": str(tmp_path / "c"), "NUMBA_CACHE_DIR": str(tmp_path / "n")}
    command = [sys.executable, "-m", "cosmodag", "fit", str(table), "--seed", "0", "-o"]
    started = [
        subprocess.Popen(
            [*command, f"out{k}"],
            cwd=table.parent,
            env={**os.environ, **caches},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for k in range(6)
    ]
    errors = [process.communicate(timeout=900)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 6, errors
    found = {(table.parent / f"out{k}" / "edges.csv").read_text("utf8") for k in range(6)}
    assert len(found) == 1


@nightly
def test_damaged_programs_are_compiled_again_once(table: Path, tmp_path: Path) -> None:
    caches = {"XDG_CACHE_HOME": str(tmp_path / "c"), "JAX_COMPILATION_CACHE_DIR": None}
    method = ("--method", "nocurl")  # is compiled by JAX
    fine(cosmodag("fit", table, *method, "-o", "one", folder=table.parent, **caches))
    kept = list((tmp_path / "c" / "cosmodag" / "jax").iterdir())
    assert kept
    for entry in kept:
        os.truncate(entry, entry.stat().st_size // 2)
    second = cosmodag("fit", table, *method, "-o", "two", folder=table.parent, **caches)
    fine(second)
    assert second.stderr.count(b"were damaged; they are compiled again") == 1
    third = cosmodag("fit", table, *method, "-o", "three", folder=table.parent, **caches)
    fine(third)
    assert b"damaged" not in third.stderr


@nightly
def test_a_process_killed_while_it_compiles_leaves_nothing_wrong(
    table: Path, tmp_path: Path
) -> None:
    caches = {"XDG_CACHE_HOME": str(tmp_path / "c"), "NUMBA_CACHE_DIR": str(tmp_path / "n")}
    command = [sys.executable, "-m", "cosmodag", "fit", str(table), "--seed", "0", "-o"]
    for programs in (1, 3):
        process = subprocess.Popen(
            [*command, "killed"],
            cwd=table.parent,
            env={**os.environ, **caches},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 300
        while len(list((tmp_path / "n").rglob("*.nbc"))) < programs:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
        process.wait()
    options = ("--seed", "0", "-o")
    fine(cosmodag("fit", table, *options, "one", folder=table.parent, **caches))
    fine(cosmodag("fit", table, *options, "two", folder=table.parent, **caches))
    fine(cosmodag("fit", table, *options, "three", folder=table.parent))
    found = {(table.parent / name / "edges.csv").read_text("utf8") for name in ("one", "two")}
    assert found == {(table.parent / "three" / "edges.csv").read_text("utf8")}


@nightly
def test_a_damaged_numba_cache_is_made_anew(table: Path, tmp_path: Path) -> None:
    caches = {"NUMBA_CACHE_DIR": str(tmp_path / "n")}
    options = ("--seed", "0", "-o")
    fine(cosmodag("fit", table, *options, "one", folder=table.parent, **caches))
    kept = sorted((tmp_path / "n").rglob("*.nbc"))
    assert len(kept) > 3
    for place, entry in enumerate(kept):
        damage = (b"", b"not a program", entry.read_bytes()[: entry.stat().st_size // 2])
        entry.write_bytes(damage[place % 3])
    fine(cosmodag("fit", table, *options, "two", folder=table.parent, **caches))
    files = [(table.parent / name / "edges.csv").read_text("utf8") for name in ("one", "two")]
    assert files[0] == files[1]


@nightly
def test_a_fit_without_a_gpu_does_not_import_jax(table: Path) -> None:
    script = (
        "import sys\nfrom cosmodag.cli import main\n"
        "assert main(sys.argv[1:]) == 0\nassert 'jax' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "fit", str(table), "-o", "out", "--quiet"],
        cwd=table.parent,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
