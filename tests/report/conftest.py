"""A headless browser for tests of the page, and pages that are written once per session."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs_to_report import (
    bootstrap_of,
    levels_model,
    mixed_model,
    model_of,
    named_dag,
    random_dag,
    sachs_model,
    time_model,
)
from opened import PATIENCE, Opened

WIDE, NARROW = 1400, 390


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright; tests that need them are otherwise skipped."""
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed")
    with driver.sync_playwright() as playwright:
        # Containers seldom allow the sandbox, which is not needed for our own page.
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def graphs(sachs: Path) -> Callable[[str], Any]:
    """Fitted models by name, each fitted once."""

    @cache
    def made(name: str) -> Any:
        if name == "proteins":
            return sachs_model(sachs)
        fits = {"time": time_model, "levels": levels_model, "mixed": mixed_model}
        if name in fits:
            return fits[name]()
        if name.isdecimal():
            return named_dag(int(name))
        weights = {
            "chain": lambda: np.diag([0.9, -0.8, 0.7], 1),
            "small": lambda: random_dag(6, 9, seed=2),
            "dense": lambda: random_dag(31, 130),
            "large": lambda: random_dag(200, 350),
            "huge": lambda: random_dag(700, 1400),
            "empty": lambda: random_dag(5, 0),
        }[name]()
        model = model_of(weights)
        model.fitted_ = replace(model.fitted_, noise="gaussian")
        return model

    return made


@pytest.fixture(scope="session")
def written(
    graphs: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Pages of these models by name, each written once.

    "shares" is proteins with a bootstrap, "bootstrap" 12 variables with one.
    """
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if name in ("shares", "bootstrap"):
            model = graphs("proteins" if name == "shares" else "12")
            model.report(path, bootstrap=bootstrap_of(model))
        elif name == "small":
            model = graphs(name)
            model.report(path, groups={"x0": "blood", "x1": "blood", "x2": "urine"})
        else:
            graphs(name).report(path)
        return path

    return page


@pytest.fixture
def show(browser: Any, written: Callable[[str], Path], tmp_path: Path) -> Iterator[Any]:
    """Open a page by name, or the page of a model, and check that it reported nothing."""
    contexts, shown = [], []

    def open_page(
        what: Any,
        *,
        dark: bool = False,
        width: int = WIDE,
        height: int = 900,
        hash: str = "",
        **evidence: Any,
    ) -> Opened:
        if isinstance(what, str):
            path = written(what)
        else:
            path = tmp_path / f"report{len(shown)}.html"
            what.report(path, **evidence)
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=width == NARROW,
        )
        contexts.append(context)
        opened = Opened(context.new_page())
        page = opened.page
        page.on("console", lambda message: opened.console.append(message.text))
        page.on("pageerror", lambda error: opened.console.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("dialog", lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri() + hash)
        page.wait_for_selector("#graph[data-ready]", timeout=PATIENCE)
        shown.append(opened)
        return opened

    yield open_page
    for opened in shown:
        assert opened.console == []
        assert opened.dialogs == []
        others = ("file:", "blob:", "data:image/svg+xml")
        assert [url for url in opened.requests if not url.startswith(others)] == []
        assert len([url for url in opened.requests if url.startswith("file:")]) == 1
    for context in contexts:
        context.close()
