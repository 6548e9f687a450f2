"""Configuration of the whole suite: compilation cache, memory, Hypothesis profiles and marks.

Environment variables:

``COSMODAG_REQUIRE_OPTIONAL=1``
    Treats a skipped test that is marked ``optional`` as a failure (used by the gate).
``COSMODAG_NIGHTLY_SAMPLE=SEED``
    Runs about one in twenty of the tests marked ``nightly``, at least one of them from each test
    folder that has any. The seed determines which.
``COSMODAG_RANDOM_ORDER=SEED``
    Shuffles the modules, and the tests within each module.
``HYPOTHESIS_PROFILE=nightly``
    Tries 1,000 random examples of every property. By default, every run tries the same examples.
``XLA_FLAGS=``
    Compiles JAX programs with XLA's default optimisation, as users do.
"""

import gc
import hashlib
import os
import random
import signal
import sys
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Half of the time of a first run is spent on compilation. Workers, subprocesses of tests and later
# runs share the programs that JAX compiled. JAX reads these variables when it is imported.
_CACHE = Path(__file__).resolve().parents[1] / ".pytest_cache" / "jax"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
# Otherwise the path of the cache is part of its keys, and a copy of the cache would be useless.
os.environ.setdefault("JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES", "none")

# Most programs run for milliseconds here, so that optimising them with LLVM, or fusing them with
# MLIR, takes longer than it saves. The flags are part of the cache's key, so nothing outside the
# tests loads these programs. XLA aborts on an unknown flag, so the second flag is set only for
# versions on which it was tried.
_FAST_COMPILATION = ["--xla_backend_optimization_level=0"]
if version("jaxlib").startswith("0.10."):
    _FAST_COMPILATION.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(_FAST_COMPILATION))

# A background process ignores Ctrl-C by default, and the package respects that. Tests of Ctrl-C
# need the usual handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline, because the first example of a property may compile a program. Every run tries the
# same examples, so that the suite fails because of a change and never by chance.
settings.register_profile(
    "cosmodag", parent=settings(), deadline=None, derandomize=True, max_examples=50
)
settings.register_profile(
    "nightly",
    parent=settings(),
    deadline=None,
    max_examples=1000,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "cosmodag"))

_GATE = os.environ.get("COSMODAG_REQUIRE_OPTIONAL") == "1"
_SAMPLE_SEED = os.environ.get("COSMODAG_NIGHTLY_SAMPLE", "")
_ONE_IN = 20  # about one nightly test in this many is in a sample
_ORDER_SEED = os.environ.get("COSMODAG_RANDOM_ORDER", "")
_MAX_WORKERS = 8  # each holds its own JAX, about half a gigabyte


@pytest.fixture(scope="session")
def sachs() -> Path:
    """The folder of the protein data: ``sachs.csv`` and two graphs (see its README)."""
    return Path(__file__).resolve().parent / "protein_data"


@pytest.fixture(scope="session")
def installed_package() -> None:
    """Skip a test of the installed package if cosmodag is only on the path as sources."""
    try:
        distribution("cosmodag")
    except PackageNotFoundError:
        pytest.skip("cosmodag runs from source and is not installed")


@pytest.fixture(scope="module")
def unflushed_files() -> Generator[None, None, None]:
    """Disable fsync in modules that write thousands of small files; other tests cover it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cosmodag.io.files.writing.os.fsync", lambda _: None)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Number of workers for ``-n auto``: one more than the cores, because some tests only wait."""
    return min(_cores() + 1, _MAX_WORKERS)


def _cores() -> int:
    """Number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Give each worker consecutive tests, so that each module compiles its programs once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked ``nightly``, unless they are requested by mark or by name."""
    if _ORDER_SEED:
        items[:] = _shuffled(items)
    if "nightly" in config.option.markexpr or any("::" in word for word in config.args):
        return
    sampled = _sampled([item.nodeid for item in items if item.get_closest_marker("nightly")])
    kept, deselected = [], []
    for item in items:
        is_deselected = item.get_closest_marker("nightly") and item.nodeid not in sampled
        (deselected if is_deselected else kept).append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = kept


def _shuffled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Shuffle the modules, and the tests within each, in an order that depends on the seed only."""
    generator = random.Random(_ORDER_SEED)
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    order = list(modules.values())
    generator.shuffle(order)
    for tests in order:
        generator.shuffle(tests)
    return [item for tests in order for item in tests]


def _sampled(names: list[str]) -> set[str]:
    """Names of the nightly tests that this seed selects.

    Whether a test is selected depends on the seed and its name only, so adding or removing tests in
    one folder does not change the sample of another. A folder of which no test would be selected
    contributes the test with the smallest hash.
    """
    if not _SAMPLE_SEED:
        return set()
    folders: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        digest = hashlib.sha256(f"{_SAMPLE_SEED} {name}".encode()).digest()
        folder = "/".join(name.partition("::")[0].split("/")[:-1][:2])
        folders.setdefault(folder, []).append((int.from_bytes(digest[:4], "big"), name))
    sampled = set()
    for tests in folders.values():
        sampled |= {name for number, name in tests if number % _ONE_IN == 0} or {min(tests)[1]}
    return sampled


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Free the compiled programs of a module after its last test.

    Otherwise the programs of JAX would add up to gigabytes. Objects that outlive the module are
    frozen, so that the garbage collector does not traverse them again and again.
    """
    if nextitem is not None and nextitem.path == item.path:
        return
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a skipped test marked ``optional`` as a failure in the gate."""
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if _GATE and report.skipped and not expected_failure and item.get_closest_marker("optional"):
        report.outcome = "failed"
        report.longrepr = f"skipped where it must run: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Report a module that is skipped as a whole as a failure in the gate, whatever its marks."""
    report = yield
    if _GATE and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped where it must run: {_reason(report.longrepr)}"
    return report


def _reason(long_representation: object) -> str:
    if isinstance(long_representation, tuple):
        return str(long_representation[2])
    return str(long_representation)
