"""What all tests share: one compilation cache, memory freed between modules, nightly tests apart.

Variables of the environment:

``COSMODAG_REQUIRE_OPTIONAL=1``
    A skipped test that is marked ``optional`` fails (the gate).
``COSMODAG_NIGHTLY_SAMPLE=SEED``
    Runs about one in twenty of the tests marked ``nightly``, and at least one of each folder of
    tests that has some; the seed says which.
``COSMODAG_RANDOM_ORDER=SEED``
    Shuffles the modules, and the tests of each.
``HYPOTHESIS_PROFILE=nightly``
    Tries 1,000 new examples of every property; otherwise the examples are always the same.
``XLA_FLAGS=``
    Compiles programs of JAX as users do, and not in a hurry.
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

# Half of the time of a first run goes into compiling. Workers, processes that tests start, and
# later runs share what JAX compiled. JAX reads these variables when it is imported.
_CACHE = Path(__file__).resolve().parents[1] / ".pytest_cache" / "jax"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
# Otherwise the path of the cache is a part of its keys, and a copy of it would be of no use.
os.environ.setdefault("JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES", "none")

# Most programs run for milliseconds here, and LLVM's optimisation of them takes longer; so does
# fusion by MLIR. The flags are a part of the cache's key: no other program ever finds what was
# compiled with them. XLA ends the process at a flag that it does not know, so the second is set for
# versions that were tried.
_HURRY = ["--xla_backend_optimization_level=0"]
if version("jaxlib").startswith("0.10."):
    _HURRY.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(_HURRY))

# A background process ignores Ctrl-C by default, and the package respects that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a property may compile a program, so its time says nothing. Examples are the
# same in every run: a change, and not chance, decides whether the suite passes.
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
_ONE_IN = 20
_ORDER_SEED = os.environ.get("COSMODAG_RANDOM_ORDER", "")
_MOST_WORKERS = 8  # each holds its own JAX, about half a gigabyte


@pytest.fixture(scope="session")
def sachs() -> Path:
    """The folder of the protein data: ``sachs.csv`` and two graphs, see its README."""
    return Path(__file__).resolve().parent / "protein_data"


@pytest.fixture(scope="session")
def installed_package() -> None:
    """Skip a test about the installed package where the sources alone are on the path."""
    try:
        distribution("cosmodag")
    except PackageNotFoundError:
        pytest.skip("cosmodag runs from source and is not installed")


@pytest.fixture(scope="module")
def unflushed_files() -> Generator[None, None, None]:
    """For modules that write thousands of small files; whether they are flushed is tested apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cosmodag.io.files.writing.os.fsync", lambda _: None)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes ``-n auto`` starts: one more than cores, as some tests only wait."""
    return min(_cores() + 1, _MOST_WORKERS)


def _cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Give each worker one run of modules, so that what a module compiles is compiled once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked ``nightly``, unless they were asked for by mark or by name."""
    if _ORDER_SEED:
        items[:] = _shuffled(items)
    if "nightly" in config.option.markexpr or any("::" in word for word in config.args):
        return
    drawn = _drawn([item.nodeid for item in items if item.get_closest_marker("nightly")])
    kept, left_out = [], []
    for item in items:
        is_left_out = item.get_closest_marker("nightly") and item.nodeid not in drawn
        (left_out if is_left_out else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _shuffled(items: list[pytest.Item]) -> list[pytest.Item]:
    """The same tests, modules and the tests of each in an order that the seed alone decides."""
    chance = random.Random(_ORDER_SEED)
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    order = list(modules.values())
    chance.shuffle(order)
    for tests in order:
        chance.shuffle(tests)
    return [item for tests in order for item in tests]


def _drawn(names: list[str]) -> set[str]:
    """The nightly tests in the sample of this seed.

    A test is drawn by its own name, and the first of a folder where no other is: tests that come
    or go elsewhere change nothing.
    """
    if not _SAMPLE_SEED:
        return set()
    folders: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        digest = hashlib.sha256(f"{_SAMPLE_SEED} {name}".encode()).digest()
        folder = "/".join(name.partition("::")[0].split("/")[:-1][:2])
        folders.setdefault(folder, []).append((int.from_bytes(digest[:4], "big"), name))
    drawn = set()
    for tests in folders.values():
        drawn |= {name for number, name in tests if number % _ONE_IN == 0} or {min(tests)[1]}
    return drawn


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Free what the tests of a module compiled when the next test is of another module.

    Programs of JAX would add up to gigabytes, and the garbage collector would walk over all that
    is left again and again: what outlives a module is taken out of its sight.
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
    """In the gate, a test marked ``optional`` may not be skipped."""
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if _GATE and report.skipped and not expected_failure and item.get_closest_marker("optional"):
        report.outcome = "failed"
        report.longrepr = f"skipped where it must run: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In the gate, no file may be skipped whole: its marks, if any, were not even read."""
    report = yield
    if _GATE and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped where it must run: {_reason(report.longrepr)}"
    return report


def _reason(long_representation: object) -> str:
    if isinstance(long_representation, tuple):
        return str(long_representation[2])
    return str(long_representation)
