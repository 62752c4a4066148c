"""The annotator's page: no identity in it, and a whole annotation in a real browser, by clicks and by keyboard."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from favor.studies.human_audit import page as annotators_page
from favor.studies.human_audit.items import CHECK, draw_items
from favor.studies.human_audit.page import annotator_page, expected_minutes
from favor.studies.human_audit.responses import read_votes

SEED = 7


def embedded(page) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    return dict(json.loads(text))


@pytest.mark.parametrize("annotator", ["annotator_1", "annotator_2"])
def test_nothing_in_the_source_tells_method_author_or_key(items, texts, annotator) -> None:
    page = annotator_page(items, annotator, SEED)
    identities = {"ditto", "favor", "fedavg", "gold", "distractor", "client", "prompt_id", "correct", "2026", "2027"}
    identities |= set(texts["document_id"]) | set(texts["topic"]) | {"seed", "method", "source", "right"}
    assert [name for name in sorted(identities) if re.search(rf"(?<![a-z]){name}", page, flags=re.IGNORECASE)] == []
    data = embedded(page)
    assert set(data) == {"annotator", "format", "page", "items", "times"}
    assert {key for item in data["items"] for key in item} == {"item", "a", "b", "candidate"}
    assert re.fullmatch(r"[0-9a-f]{32}", data["page"])


def test_attention_checks_are_announced_and_look_like_any_item(generations, prompts, texts, settings) -> None:
    drawn = draw_items(generations, prompts, texts, settings.model_copy(update={"attention_checks": 2}))
    page = annotator_page(drawn, "annotator_1", SEED)
    assert "2 of the items check whether you are still with us" in page
    assert "still with us" not in annotator_page(drawn[drawn["source"] != CHECK], "annotator_1", SEED)
    assert not re.search(r"attention|source|client|\bright\b", page, flags=re.IGNORECASE)
    assert {key for item in embedded(page)["items"] for key in item} == {"item", "a", "b", "candidate"}


def test_the_page_loads_nothing_and_its_texts_cannot_break_out(items) -> None:
    page = annotator_page(items, "annotator_1", SEED)
    assert page == annotator_page(items, "annotator_1", SEED)
    timed = annotator_page(items, "annotator_1", SEED, times=True)
    assert ("seconds each item is in sight" in page, "seconds each item is in sight" in timed) == (False, True)
    assert not re.search(r"https?://|src=|href=|@import|url\(", page)
    assert page.count("</script>") == 2
    known = items.set_index("item")
    for shown in embedded(page)["items"]:
        assert shown["candidate"] == known.loc[shown["item"], "candidate"]
        assert shown["a"] == list(known.loc[shown["item"], "profile_a"])


class Annotator:
    """A person before the page of annotator_1, who finds the right author by the key."""

    def __init__(self, browser, items, folder) -> None:
        self.browser, self.folder, self.by = browser, folder, By.CSS_SELECTOR
        self.path = folder / "page.html"
        self.path.write_text(annotator_page(items, "annotator_1", SEED), encoding="utf-8")
        self.key = {row["candidate"]: row for row in items.to_dict("records")}
        self.scripts: list[str] = []
        browser.set_window_size(1200, 1000)
        self.open()

    def open(self) -> None:
        """Open the page in the current tab, whose downloads are let through."""
        allowed = {"behavior": "allow", "downloadPath": str(self.folder)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        self.browser.get(self.path.as_uri())
        self.wait()

    def reload(self) -> None:
        """Load the page again, once the database has what was written: transactions of a store go one by one."""
        self.browser.execute_async_script("""const done = arguments[0];
        setTimeout(done, 5000);
        try {
          indexedDB.open("2afc", 1).onsuccess = (event) => {
            const change = event.target.result.transaction("pages", "readwrite");
            change.objectStore("pages").get("");
            change.oncomplete = done;
          };
        } catch (error) {
          done();
        }""")
        self.browser.refresh()
        self.wait()

    def wait(self) -> None:
        busy = "return document.getElementById('page').ariaBusy"
        WebDriverWait(self.browser, 30).until(lambda browser: browser.execute_script(busy) == "false")

    def before_the_page(self, script) -> None:
        """Run ``script`` before each later load of the page."""
        added = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self.scripts.append(added["identifier"])

    def undisturbed(self) -> None:
        """Run no scripts any more before a load of the page."""
        while self.scripts:
            self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self.scripts.pop()})

    def text(self, selector) -> str:
        return str(self.browser.find_element(self.by, selector).text)

    def shown(self, selector) -> bool:
        return bool(self.browser.find_element(self.by, selector).is_displayed())

    def click(self, selector) -> None:
        element = self.browser.find_element(self.by, selector)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def press(self, *keys) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def right(self) -> str:
        """The right side of the item before the annotator."""
        return str(self.key[self.browser.find_element(self.by, "#candidate").get_attribute("textContent")]["right"])

    def choose(self, side, confidence) -> None:
        self.click(f"label:has(input[value='{side}'])")
        self.click(f"label:has(input[name=confidence][value='{confidence}'])")

    def checked(self) -> list[str]:
        script = "return [...document.querySelectorAll('input:checked')].map(i => i.value)"
        return list(self.browser.execute_script(script))

    def saved(self) -> Path:
        """The response file, once the browser has written it."""
        path = self.folder / "annotator_1.json"
        for _ in range(1200):
            if path.is_file() and path.stat().st_size:
                return path
            time.sleep(0.1)
        raise AssertionError(f"no file in {list(self.folder.iterdir())}")


@pytest.fixture
def annotator(browser, items, tmp_path) -> Annotator:
    folder = tmp_path / "annotator"
    folder.mkdir()
    return Annotator(browser, items, folder)


def test_an_annotation_by_clicks_with_a_break(annotator, items) -> None:
    assert annotator.shown("#intro")
    assert not annotator.shown("#task")
    assert "style of writing" in annotator.text("#intro")
    annotator.click("#start")
    assert annotator.text("#place") == "Item 1 of 10"
    # No way on without both answers.
    annotator.click("#next")
    assert annotator.text("#hint") == "Please choose Author A or Author B first."
    annotator.click("label:has(input[value='A'])")
    annotator.click("#next")
    assert annotator.text("#hint") == "Please choose how sure you are (1 to 5) first."
    for place in range(4):
        annotator.choose(annotator.right(), 1 + place)
        annotator.click("#next")
    annotator.choose("A", 2)
    annotator.click("#more summary")
    annotator.browser.find_element(annotator.by, "#comment").send_keys("half way")
    candidate = annotator.text("#candidate")
    # The tab is closed in the middle and the page opened again later: same item, same answers.
    annotator.browser.switch_to.new_window("tab")
    other = annotator.browser.current_window_handle
    first = next(handle for handle in annotator.browser.window_handles if handle != other)
    annotator.browser.switch_to.window(first)
    annotator.browser.close()
    annotator.browser.switch_to.window(other)
    annotator.open()
    assert annotator.text("#place") == "Item 5 of 10"
    assert annotator.text("#candidate") == candidate
    assert annotator.checked() == ["A", "2"]
    assert annotator.browser.find_element(annotator.by, "#comment").get_attribute("value") == "half way"
    assert annotator.text("#count") == "5 of 10 answered"
    annotator.reload()
    assert annotator.checked() == ["A", "2"]
    wrong = {"A": "B", "B": "A"}[annotator.right()]
    annotator.choose(wrong, 5)
    annotator.click("#next")
    # An item left out on the way is asked for at the end.
    annotator.click("details:has(#map) summary")
    annotator.click("#map li:nth-child(7) button")
    for place in range(7, 11):
        assert annotator.text("#place") == f"Item {place} of 10"
        annotator.choose(annotator.right(), 3)
        annotator.click("#next")
    assert annotator.text("#place") == "Item 6 of 10"
    assert not annotator.shown("#end")
    annotator.choose(annotator.right(), 3)
    annotator.click("#next")
    assert annotator.shown("#end")
    annotator.click("#save")
    votes = read_votes([annotator.saved()], items, 3, SEED)
    assert len(votes) == 10
    assert votes["correct"].sum() == 9
    assert votes.loc[~votes["correct"], ["choice", "confidence", "comment"]].to_numpy().tolist() == [
        [wrong, 5, "half way"]
    ]
    assert sorted(votes["confidence"]) == [1, 2, 3, 3, 3, 3, 3, 3, 4, 5]
    assert annotator.text("#saved").startswith("Saved as annotator_1.json")
    assert annotator.browser.get_log("browser") == []


def test_an_annotation_by_keyboard(annotator, items) -> None:
    annotator.press(Keys.ENTER)
    annotator.press(Keys.ENTER)
    assert annotator.text("#hint") == "Please choose Author A or Author B first."
    for place in range(10):
        assert annotator.text("#place") == f"Item {place + 1} of 10"
        annotator.press(annotator.right().lower(), str(1 + place % 5))
        if place == 2:
            # Keys are text while a comment is written; Escape leaves it.
            annotator.press("c", "a1 n\nb", Keys.ESCAPE)
        if place == 6:
            # One item back and forth again changes nothing.
            annotator.press("p")
            assert annotator.text("#place") == "Item 6 of 10"
            assert annotator.checked() == [annotator.right(), "1"]
            annotator.press("n")
        if place == 8:
            # Enter on a focused choice goes on by one item only.
            annotator.browser.find_element(annotator.by, "input:checked").send_keys(Keys.ENTER)
        else:
            annotator.press(Keys.ENTER)
    assert annotator.shown("#end")
    annotator.press(Keys.ENTER)
    votes = read_votes([annotator.saved()], items, 3, SEED)
    assert votes["correct"].all()
    assert sorted(votes["confidence"]) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [comment for comment in votes["comment"] if comment] == ["a1 n\nb"]
    # A change after saving asks for a new file.
    assert annotator.text("#saved").startswith("Saved as annotator_1.json")
    annotator.click("#review")
    annotator.press("1", Keys.ENTER)  # it was 5
    assert annotator.text("#saved").startswith("You have changed answers")
    assert annotator.browser.get_log("browser") == []


def test_the_page_fits_a_phone_and_fetches_nothing(annotator, items) -> None:
    annotator.click("#start")
    for width in (1200, 390):
        annotator.browser.set_window_size(width, 900)
        assert annotator.browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        sides = annotator.browser.execute_script(
            "return ['a', 'b'].map(id => document.getElementById(id).getBoundingClientRect().top)"
        )
        assert (sides[0] == sides[1]) == (width == 1200)
    quotes = annotator.browser.execute_script(
        "return [...document.querySelectorAll('#a blockquote')].map(q => q.textContent)"
    )
    assert quotes in items["profile_a"].map(list).tolist()
    assert annotator.browser.execute_script("return document.querySelectorAll('blockquote *').length") == 0
    assert annotator.browser.execute_script("return performance.getEntriesByType('resource').length") == 0


REFUSED = "Object.defineProperty(window, 'PLACE', { get() { throw new Error('refused'); } });"


def test_answers_stay_where_local_storage_is_refused_or_forgets(annotator) -> None:
    """Chromium forgets it in some reloads of a local file."""
    annotator.click("#start")
    annotator.choose("A", 2)
    annotator.before_the_page("localStorage.clear()")
    annotator.reload()
    assert (annotator.checked(), annotator.text("#place")) == (["A", "2"], "Item 1 of 10")
    annotator.choose("B", 4)
    annotator.before_the_page(REFUSED.replace("PLACE", "localStorage"))
    annotator.reload()
    assert annotator.checked() == ["B", "4"]
    annotator.press("a")
    assert not annotator.shown("#storage")
    annotator.reload()
    assert annotator.checked() == ["A", "4"]


@pytest.mark.parametrize(
    ("at", "refused", "expected"),
    [(4e12, False, ["B", "5"]), (1, False, ["A", "2"]), (None, True, ["B", "5"])],
)
def test_what_was_kept_last_counts(annotator, at, refused, expected) -> None:
    """Another state than the database's is in local storage: later, before, and where there is no database."""
    annotator.click("#start")
    annotator.choose("A", 2)
    key = "2afc-" + embedded(annotator.path.read_text(encoding="utf-8"))["page"]
    candidate = annotator.browser.find_element(annotator.by, "#candidate").get_attribute("textContent")
    item = annotator.key[candidate]["item"]
    kept = {"place": 0, "answers": {item: {"choice": "B", "confidence": 5}}, **({"at": at} if at else {})}
    annotator.before_the_page(f"localStorage.setItem({key!r}, {json.dumps(kept)!r})")
    if refused:
        annotator.before_the_page(REFUSED.replace("PLACE", "indexedDB"))
    annotator.reload()
    assert annotator.checked() == expected
    assert not annotator.shown("#storage")


@pytest.mark.parametrize(
    "silent",
    [
        "IDBFactory.prototype.open = () => ({});",
        "IDBObjectStore.prototype.get = () => ({});",
        "IDBObjectStore.prototype.get = () => { const one = {}; setTimeout(() => one.onerror(), 1); return one; };",
    ],
    ids=["open is late", "get is late", "get fails"],
)
def test_answers_that_cannot_be_read_are_not_written_over(annotator, silent) -> None:
    annotator.click("#start")
    annotator.choose("A", 2)
    annotator.before_the_page("localStorage.clear();" + silent)
    annotator.reload()
    assert annotator.shown("#unread")
    assert not annotator.shown("#start")
    annotator.press("b")
    annotator.undisturbed()
    annotator.reload()
    assert annotator.checked() == ["A", "2"]
    assert not annotator.shown("#unread")


def test_a_load_alone_counts_as_no_later_state(annotator) -> None:
    """Local storage holds an older state in a load that finds no database; the next one shows the database's."""
    annotator.click("#start")
    annotator.choose("A", 2)
    key = "2afc-" + embedded(annotator.path.read_text(encoding="utf-8"))["page"]
    older = json.dumps({"place": -1, "answers": {}, "at": 1})
    annotator.before_the_page(f"localStorage.setItem({key!r}, {older!r}); {REFUSED.replace('PLACE', 'indexedDB')}")
    annotator.reload()
    assert annotator.shown("#start")
    annotator.undisturbed()
    annotator.reload()
    assert annotator.checked() == ["A", "2"]


def test_a_browser_that_keeps_nothing_says_so(annotator, items) -> None:
    for place in ("localStorage", "indexedDB"):
        annotator.before_the_page(REFUSED.replace("PLACE", place))
    annotator.reload()
    assert annotator.shown("#storage")
    annotator.press(Keys.ENTER, *("b3n" * 10), Keys.ENTER)
    assert (read_votes([annotator.saved()], items, 3, SEED)["choice"] == "B").all()


def test_what_another_page_kept_is_not_taken_over(annotator, items) -> None:
    annotator.click("#start")
    annotator.choose("A", 1)
    assert annotator.text("#count") == "1 of 10 answered"
    changed = items.assign(candidate=items["candidate"] + " more")
    annotator.path.write_text(annotator_page(changed, "annotator_1", SEED), encoding="utf-8")
    annotator.reload()
    assert annotator.text("#count") == "0 of 10 answered"


def test_practice_has_feedback_and_leaves_no_trace(annotator) -> None:
    annotator.click("[data-try=A]")
    assert annotator.text("#feedback").startswith("A shares the subject, not the style")
    annotator.click("[data-try=B]")
    assert annotator.text("#feedback").startswith("Yes")
    assert annotator.text("#count") == "0 of 10 answered"
    assert "try" not in str(annotator.browser.execute_script("return JSON.stringify(Object.values(localStorage))"))


def test_a_break_is_suggested(annotator, items, monkeypatch) -> None:
    monkeypatch.setattr(annotators_page, "BREAK", 3)
    annotator.path.write_text(annotator_page(items, "annotator_1", SEED), encoding="utf-8")
    annotator.open()
    annotator.click("#start")
    suggested = []
    for _ in range(7):
        suggested.append(annotator.shown("#rest"))
        annotator.press("a", "3", "n")
    assert suggested == [False, False, False, True, False, False, True]


def test_the_expected_duration_by_hand() -> None:
    # Twice 300 words at 200 per minute, and 15 seconds for each of two items.
    texts = {"a": ["word " * 100, "word " * 50], "b": ["word " * 100], "candidate": "word " * 50}
    assert expected_minutes([texts, texts]) == 4  # 3.5
    assert expected_minutes([]) == 1


def test_seconds_in_sight_are_saved_where_the_page_says_so(annotator, items) -> None:
    annotator.path.write_text(annotator_page(items.iloc[:1], "annotator_1", SEED, times=True), encoding="utf-8")
    annotator.open()
    assert annotator.shown("#timed")
    annotator.press(Keys.ENTER)
    time.sleep(0.3)
    annotator.press("a", "4", Keys.ENTER, Keys.ENTER)
    (answer,) = json.loads(annotator.saved().read_text(encoding="utf-8"))["responses"]
    assert 0.2 <= answer["seconds"] < 60
    assert set(answer) == {"item", "choice", "confidence", "comment", "seconds"}


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_bar_leaves_room_and_nothing_scrolls_inside(items, tmp_path, browser, width, height) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    Annotator(browser, items, tmp_path).click("#start")
    bar, hidden = browser.execute_script("""
        const candidate = document.querySelector('.candidate');
        return [document.getElementById('answer').offsetHeight, candidate.scrollHeight - candidate.clientHeight];
    """)
    assert 0 < bar < height / 5
    assert hidden == 0
    # What is missing is said above it.
    browser.find_element("id", "next").click()
    assert browser.find_element("id", "hint").is_displayed()
    assert browser.execute_script("return document.getElementById('answer').offsetHeight") == bar


def test_the_page_is_accessible(items, tmp_path, violations) -> None:
    (tmp_path / "page.html").write_text(annotator_page(items, "annotator_1", SEED), encoding="utf-8")
    assert violations(tmp_path / "page.html") == []
