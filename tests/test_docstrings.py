"""The examples in docstrings run and print the documented output."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"


def module_names() -> list[str]:
    names = []
    for path in sorted((SOURCE / "cosmodag").rglob("*.py")):
        if path.name != "__main__.py" and ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(SOURCE).with_suffix("").parts
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def needs(name: str) -> str | None:
    """Optional package that the examples of a module need."""
    if name.startswith("cosmodag.torch."):
        return "torch"
    return "gadjid" if name == "cosmodag.metrics.scores" else None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.optional if needs(name) else ())
        for name in module_names()
    ],
)
def test_examples_run(name: str) -> None:
    if package := needs(name):
        pytest.importorskip(package, reason=f"{package} is not installed")
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0
