"""Fixtures shared by every test."""

import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
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


def pytest_ignore_collect(collection_path, config) -> bool | None:
    """Import no file of which all tests are slow where those are left out: each imports libraries of its own."""
    whole = re.compile(r"^pytestmark = pytest\.mark\.slow\(", re.MULTILINE)
    left_out = config.option.markexpr == "not slow" and collection_path.suffix == ".py"
    return True if left_out and whole.search(collection_path.read_text(encoding="utf-8")) else None


def seconds(item) -> float:
    """How long the slow marker of a test's file or of the test says that it takes, 0 of a fast one."""
    marker = item.get_closest_marker("slow")
    return marker.args[0] if marker else 0.0


def pytest_collection_modifyitems(items) -> None:
    """What uses a browser, the real base or a run for sites is slow. Long files come first, for an even end.

    Of the fast ones those are whole runs.
    """
    for item in items:
        if {"browser", "real_base", "simulation"} & set(item.fixturenames):
            item.add_marker(pytest.mark.slow(2))
    items.sort(key=lambda item: (seconds(item), "/workflow/" in str(item.path)), reverse=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session) -> Generator[None, Any, Any]:
    """Say last of all how many tests were skipped because of what: a machine may lack optional programs and data."""
    outcome = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reporter.stats.get("skipped", []))
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        reporter.write_line(f"{reasons.total()} tests were skipped{': ' if listed else ''}{listed}")
    return outcome


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
        pytest.skip("without a Blog Authorship Corpus (FAVOR_BLOG_CSV)")
    return Path(location)


@pytest.fixture(scope="session")
def real_base(repository) -> Path:
    """The GGUF file of "make real-base"; skips where it is not there."""
    path = repository / "resources" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.is_file():
        pytest.skip("without the real base of 'make real-base'")
    return path


@pytest.fixture
def browser(tmp_path) -> Iterator[Any]:
    """A headless Chromium that stays off the network; skips where there is none."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("without chromium or chromedriver")
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
    started.set_script_timeout(300)  # axe takes long over a large page on a busy machine
    yield started
    started.quit()
