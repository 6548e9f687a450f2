"""``cosmodag doctor`` describes this environment correctly."""

import json
import platform
from importlib import metadata
from pathlib import Path

import pytest

from cosmodag import __version__
from cosmodag.cli import about, main
from cosmodag.runtime import memory, threads
from cosmodag.solve.kernels import backends_for


@pytest.mark.optional
@pytest.mark.usefixtures("installed_package")
def test_json_holds_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cosmodag"] == __version__
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == metadata.version("jax")
    assert found["packages"]["numpy"] == metadata.version("numpy")
    assert found["extras"]["test"]["pytest"] == metadata.version("pytest")
    assert "pytest" not in found["packages"]
    assert "cosmodag" not in found["extras"]["dev"]
    assert found["devices"]
    assert found["device_problem"] is None
    assert found["backend"] in {b.name for p in ("cpu", "gpu") for b in backends_for(p)} - {
        "reference"
    }


def test_cores_and_memory_are_those_of_the_container(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setattr(memory, "main_memory", lambda: 5 * 2**29)
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cores"], found["memory_gib"]) == (3, 2.5)
    monkeypatch.setattr(memory, "main_memory", lambda: None)
    assert main(["doctor"]) == 0
    assert "unknown" in capsys.readouterr().out


def test_text_names_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for = ["numpy>=1.26", "no-such-package>=1; extra == 'ray'"]
    monkeypatch.setattr(metadata, "requires", lambda name: asked_for)
    assert main(["doctor"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["base", "numpy", metadata.version("numpy")] in lines
    assert ["ray", "no-such-package", "not", "installed"] in lines


def test_a_package_run_from_its_source_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", fail)
    assert main(["doctor", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["packages"] == {}
    assert err.startswith("warning: ")


def test_no_device_is_told_and_not_fatal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import jax

    def fail() -> None:
        raise RuntimeError("no backend\nmore lines")

    monkeypatch.setattr(jax, "devices", fail)
    assert main(["doctor"]) == 0
    assert "none (RuntimeError: no backend)" in capsys.readouterr().out


def test_the_cache_is_examined_without_making_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = tmp_path / "not" / "there"
    monkeypatch.setattr(about, "cache_folder", lambda: cache)
    main(["doctor", "--json"])
    assert json.loads(capsys.readouterr().out)["cache_writable"] is True
    assert not (tmp_path / "not").exists()


def test_a_file_where_the_cache_should_be_is_not_writable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(about, "cache_folder", lambda: file / "cache")
    main(["doctor"])
    assert "NOT writable" in capsys.readouterr().out


def test_tools_of_developers_are_left_out_of_the_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    required = ["numpy", "ray; extra == 'ray'", "pytest; extra == 'test'", "ruff; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: required)
    assert main(["doctor"]) == 0
    words = capsys.readouterr().out.split()
    assert {"numpy", "ray"} <= set(words)
    assert not {"pytest", "ruff"} & set(words)
