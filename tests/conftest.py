"""Fixtures shared by every test."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from selenium import webdriver

# The same examples in every run, and no deadline: a busy machine is no failure.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


# A shell has Ctrl-C ignored for what it runs in the background, and tests press it: with "make test &" they would wait.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take twenty seconds or more, the longest first, so that no worker ends alone with one of them. Refusals
# come after what makes the simulation that they share with equality.
LONGEST = (
    *("test_equality", "test_walk", "test_documented_commands", "test_refusals", "test_address"),
    *("test_end_to_end", "test_kills", "test_sweeps_and_cold_start", "test_determinism", "test_full_disk"),
    *("test_invalidation", "test_withdrawal", "test_studies", "test_released_layout"),
    *("test_widths", "test_damaged_files", "test_clock", "test_released", "test_quantised"),
)


def pytest_collection_modifyitems(items) -> None:
    """Run the longest files first; all others keep their order."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.fixture
def violations(browser) -> Callable[..., list[str]]:
    """What axe-core finds wrong with a page, or the one that is open, all unfolded, in light and in dark colours."""
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")

    def check(path=None) -> list[str]:
        found = []
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            if path is not None:
                browser.get(path.as_uri())
            browser.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true; });" + axe)
            found += browser.execute_async_script(
                """
                const [scheme, done] = arguments;
                axe.run().then(result => done(result.violations.flatMap(rule => rule.nodes.map(node =>
                  `${scheme} ${rule.id}: ${node.html.slice(0, 200)} ${node.failureSummary.slice(0, 300)}`))));
            """,
                scheme,
            )
        return found

    return check


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def real_blog_csv() -> Path:
    """A real Blog Authorship Corpus CSV, named by FAVOR_BLOG_CSV; tests that want it skip without it."""
    location = os.environ.get("FAVOR_BLOG_CSV", "")
    if not location or not Path(location).is_file():
        pytest.skip("FAVOR_BLOG_CSV does not name a file")
    return Path(location)


@pytest.fixture
def browser(tmp_path) -> Iterator[Any]:
    """A headless Chromium that stays off the network; skips where there is none."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        f"user-data-dir={tmp_path / 'browser'}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(executable_path=driver)
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()
