"""Imports follow the layers, heavy packages load late, and importing has no side effects."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "cosmodag"

# A module may import from its own layer and from earlier ones. Add each new module here.
LAYERS = [
    [
        "_version",
        "errors",
        "runtime",
    ],
    ["graph", "io", "simulate", "metrics"],
    ["model"],
    ["solve"],
    ["data", "search"],
    ["evidence"],
    ["fit", "learners"],
    ["selection", "assess"],
    ["bench", "report"],
    ["cli", "__main__"],
    ["torch"],
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

# Allowed imports from a later layer, made inside the function that needs them: model.report(),
# model.effect(), the drawing of graphs, and the search of a full diagnosis.
UPWARD = {
    ("data", "search"),
    ("fit", "report"),
    ("fit", "assess"),
    ("io", "report"),
}

LATE = {"gadjid", "matplotlib", "ray", "torch"}

# Subpackages that need an extra of the same name, whose packages they may import at the top. They
# are in the last layer, so that nothing else imports them.
EXTRAS = {"torch"}

# Packages that are imported under another name than they are installed.
IMPORT_NAMES = {"scikit-learn": "sklearn", "pyyaml": "yaml"}

# Private parts of Numba, JAX and joblib: a change of them may break a fit, or corrupt memory.
PRIVATE = re.compile(
    r"numba\.(core|_(?!_version__)|runtime|cpython|np\b)|llvmlite|\brtsys\b|\._cache\b|_cache_file|[\"']_nrt[\"']"
    r"|jax\._|jaxlib|joblib\._"
)


@dataclass(frozen=True)
class Import:
    """One import: the importing module, the imported one, the line, and whether it runs on load."""

    importer: str
    imported: str
    line: int
    at_top: bool


def module_name(path: Path) -> str:
    parts = list(path.relative_to(SOURCE.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def read_imports(path: Path) -> Iterator[Import]:
    importer = module_name(path)
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]

    def visit(node: ast.AST, at_top: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(importer, alias.name, child.lineno, at_top)
            elif isinstance(child, ast.ImportFrom):
                yield from from_import(child, at_top)
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                yield from visit(child, at_top and not is_function and not for_types)

    def from_import(node: ast.ImportFrom, at_top: bool) -> Iterator[Import]:
        origin = node.module or ""
        if node.level:
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*base, *filter(None, [node.module])])
        for alias in node.names:
            inner = f"{origin}.{alias.name}"
            found = inner if origin.startswith("cosmodag") and is_module(inner) else origin
            yield Import(importer, found, node.lineno, at_top)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), at_top=True)


IMPORTS = [found for path in sorted(SOURCE.rglob("*.py")) for found in read_imports(path)]
INSIDE = [found for found in IMPORTS if found.imported.split(".")[0] == "cosmodag"]


def part(module: str) -> str:
    """The first component below cosmodag, as listed in LAYERS."""
    return module.split(".")[1] if "." in module else ""


def describe(found: Import) -> str:
    return f"{found.importer}:{found.line} imports {found.imported}"


PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def names_to_import(requirements: list[str]) -> set[str]:
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}
    return {IMPORT_NAMES.get(name, name) for name in names}


def brought_by_extra(found: Import) -> set[str]:
    """Packages of extras that may be imported here.

    These are the packages of the extra that the importing module belongs to and, inside a function,
    those of the extras ray, excel, anndata and sid.
    """
    extras = PROJECT["optional-dependencies"]
    extra = part(found.importer)
    on_demand = (*extras["ray"], *extras["excel"], *extras["anndata"], *extras["sid"])
    inside_function = set() if found.at_top else names_to_import(on_demand)
    return inside_function | (names_to_import(extras[extra]) if extra in EXTRAS else set())


def test_nothing_imports_an_extra() -> None:
    assert set(LAYERS[-1]) == EXTRAS
    assert [
        describe(found)
        for found in INSIDE
        if part(found.imported) in EXTRAS and part(found.importer) != part(found.imported)
    ] == []


def test_every_module_has_a_layer() -> None:
    parts = {part(module_name(path)) for path in SOURCE.rglob("*.py")} - {""}
    assert sorted(parts - LEVEL.keys()) == []


def test_imports_go_one_way() -> None:
    upward = [
        describe(found)
        for found in INSIDE
        if part(found.importer)
        and LEVEL.get(part(found.imported), 0) > LEVEL.get(part(found.importer), 0)
        and ((part(found.importer), part(found.imported)) not in UPWARD or found.at_top)
    ]
    assert upward == []


def test_only_the_command_line_uses_the_public_names() -> None:
    through_the_root = [
        describe(found)
        for found in INSIDE
        if part(found.importer) not in ("", "cli") and not part(found.imported)
    ]
    assert through_the_root == []


def test_no_module_imports_itself_by_a_detour() -> None:
    graph: dict[str, set[str]] = {}
    for found in INSIDE:
        is_own_package = found.importer.startswith(found.imported + ".")
        if found.at_top and found.imported != found.importer and not is_own_package:
            graph.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    early = [
        describe(found)
        for found in IMPORTS
        if found.at_top and found.imported.split(".")[0] in LATE - brought_by_extra(found)
    ]
    assert early == []


def test_every_package_imported_is_declared() -> None:
    known = names_to_import(PROJECT["dependencies"]) | sys.stdlib_module_names
    undeclared = [
        describe(found)
        for found in IMPORTS
        if found.imported.split(".")[0] not in known | {"cosmodag"} | brought_by_extra(found)
    ]
    assert undeclared == []


def test_nothing_private_of_other_packages_is_used() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if PRIVATE.search(line)
    ]
    assert found == []
    assert PRIVATE.search("from numba.core import types")
    assert PRIVATE.search('njit(**{"_nrt": False})')


def test_importing_cosmodag_is_cheap_and_changes_nothing() -> None:
    code = """
import json, os, sys, warnings
import jax
modules, flags = set(sys.modules), dict(jax.config.values)
environment, filters = dict(os.environ), list(warnings.filters)
import cosmodag
print(json.dumps({
    "new": sorted({name.split(".")[0] for name in set(sys.modules) - modules}),
    "flags": dict(jax.config.values) == flags,
    "environment": dict(os.environ) == environment,
    "filters": list(warnings.filters) == filters,
    "backends": bool(jax._src.xla_bridge._backends),
}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    assert not LATE & set(seen["new"])
    assert not {"pandas", "sklearn", "networkx", "numba"} & set(seen["new"])
    assert seen["flags"]
    assert seen["environment"]
    assert seen["filters"]
    assert not seen["backends"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", [("torch", True)]),
        ("def f():\n    import torch.nn", [("torch.nn", False)]),
        ("try:\n    import torch\nexcept ImportError:\n    pass", [("torch", True)]),
        (
            "class A:\n    import torch\n    def f(self):\n        import ray",
            [("torch", True), ("ray", False)],
        ),
        ("if TYPE_CHECKING:\n    import torch", [("torch", False)]),
        ("from cosmodag import errors", [("cosmodag.errors", True)]),
        ("from cosmodag.errors import DataError", [("cosmodag.errors", True)]),
        ("from . import errors", [("cosmodag.errors", True)]),
        ("from .errors import DataError", [("cosmodag.errors", True)]),
        ("from cosmodag import Cosmo", [("cosmodag", True)]),
    ],
)
def test_the_reader_of_imports_reads(
    source: str,
    expected: list[tuple[str, bool]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = tmp_path / "cosmodag"
    package.mkdir()
    (package / "errors.py").write_text("")
    (package / "sample.py").write_text(source)
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", package)
    found = list(read_imports(package / "sample.py"))
    assert [(one.imported, one.at_top) for one in found] == expected


SCRIPTS = [
    path
    for folder in ("benchmarks", "examples", "docs")
    for path in sorted((SOURCE.parents[1] / folder).rglob("*.py"))
]
# Also matches imports in strings that scripts run in other processes.
OWN_IMPORT = re.compile(r"^ *from (cosmodag[\w.]*) import (\([^)]*\)|[\w, ]+)", re.MULTILINE)


def test_scripts_import_what_exists() -> None:
    """Scripts are rarely run, so that a missing name would otherwise be noticed months later."""
    missing = []
    for path in SCRIPTS:
        for module, names in OWN_IMPORT.findall(path.read_text(encoding="utf-8")):
            if part(module) in EXTRAS:
                continue
            for name in re.findall(r"(\w+)(?: as \w+)?(?:,|\s|\)|$)", names):
                is_there = hasattr(import_module(module), name) or is_module(f"{module}.{name}")
                missing += [] if is_there else [f"{path.name}: {module}.{name}"]
    assert SCRIPTS
    assert missing == []
