"""What all tests share: no display, no deadlines, and a gate where a skip can be a failure."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# A process started in the background is told to ignore Ctrl-C, and the package would obey.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a property may compile a program, so its time says nothing. The parent is
# Hypothesis' own choice, which on a build server is the repeatable one.
settings.register_profile("cosmodag", parent=settings(), deadline=None)
# A thousand examples of every property, new ones each time: HYPOTHESIS_PROFILE=nightly
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
_MOST_WORKERS = 8  # each holds its own JAX, about half a gigabyte


@pytest.fixture(scope="session")
def sachs() -> Path:
    """The folder of the protein data: ``sachs.csv`` and two graphs, see its README."""
    return Path(__file__).resolve().parent / "protein_data"


@pytest.fixture(scope="module")
def unflushed_files() -> Generator[None, None, None]:
    """For modules that write thousands of small files; whether they are flushed is tested apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cosmodag.io.files.os.fsync", lambda _: None)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes ``-n auto`` starts."""
    return min(os.cpu_count() or 1, _MOST_WORKERS)


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
