"""The documentation site: pages that are made from the code, search from disk, accessibility."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow(9)


@pytest.fixture(scope="module")
def hooks(repository) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(repository / "docs" / "_site" / "hooks.py")))


def test_messages_stand_with_the_command_that_says_them(hooks) -> None:
    page = hooks.messages_page()
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    assert list(sections) == list(hooks.COMMANDS)
    assert all("\n    - " in section for section in sections.values())
    assert hooks.command_of("config/starting/command.py") == "favor init"
    assert hooks.command_of("sites/server.py") == "favor site and server"
    folders = [folder for rooms in hooks.COMMANDS.values() for folder in rooms]
    assert all((hooks.SOURCE / folder).is_dir() for folder in folders)
    assert "{_}" not in page


@pytest.fixture(scope="module")
def site(repository, tmp_path_factory) -> Path:
    """The site as ``make docs`` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    subprocess.run(command, cwd=repository, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    return folder


def test_every_page_is_built_and_no_link_is_broken(site) -> None:
    """``--strict`` stops at a broken link."""
    assert {"index.html", "configuration.html", "messages.html"} <= {page.name for page in site.glob("*.html")}


def test_the_site_searches_from_disk(site, browser) -> None:
    browser.set_window_size(1400, 900)
    browser.get((site / "index.html").as_uri())
    field = browser.find_element("css selector", ".md-search__input")
    field.click()
    field.send_keys("determinism")
    results = "return [...document.querySelectorAll('.md-search-result__link')].map(link => link.textContent)"
    WebDriverWait(browser, 20).until(lambda page: any("Determinism" in text for text in page.execute_script(results)))
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in loaded if not name.startswith("file:")] == []


@pytest.mark.parametrize("page", ["index", "tutorial", "extending", "studies", "messages"])
def test_pages_of_the_site_are_accessible(site, violations, page) -> None:
    assert violations(site / f"{page}.html") == []
