"""The package never runs code from data and never seeds a global generator."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "cosmodag"
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ENDS = ("random.seed", "torch.load", "yaml.load", "np.load", "numpy.load")
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib.load"}


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def offences(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module in FORBIDDEN_MODULES else []
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            plain = any(
                word.arg == "allow_pickle" and ast.unparse(word.value) == "False"
                for word in node.keywords
            )
            if name in FORBIDDEN_CALLS or (name.endswith(FORBIDDEN_ENDS) and not plain):
                names = [name]
        found += [f"{path.name}:{node.lineno} {name}" for name in names]
    return found


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_no_code_from_data_and_no_global_seed(path: Path) -> None:
    assert offences(path) == []


@pytest.mark.parametrize(
    "line", ["eval('1')", "import pickle", "np.random.seed(0)", "import torch\ntorch.load('x')"]
)
def test_the_reader_sees_what_it_looks_for(tmp_path: Path, line: str) -> None:
    (tmp_path / "bad.py").write_text(line)
    assert offences(tmp_path / "bad.py")
