"""The gallery: whose text is how near to whom, by hand; its order in a browser; what no release may hold."""

import json
import re
from html import unescape

import pytest
from tests.scores.conftest import make_inputs

from favor.publish.scan import Private, scan
from favor.report.gallery import OWN, Continuation, Exhibit, exhibits, gallery_page, sample, with_habits

QUOTE = "we have not seen the clock for nine years and nobody asked why"


def pair(own, other, prompt="The clock") -> Exhibit:
    return Exhibit(prompt, {OWN: Continuation(QUOTE, own, True), "favor": Continuation("a <b> text", other, False)})


def test_what_is_lost_is_own_minus_other() -> None:
    assert [pair(0.75, 0.5).lost(name) for name in ("favor", OWN, "ditto")] == [0.25, 0, None]
    assert pair(0.75, None).lost("favor") is None


def test_the_page_says_whose_texts_it_shows() -> None:
    page = gallery_page("Trial", [pair(0.75, 0.5), pair(0.5, None)], {"favor": "Ours & best"}, generated=False)
    assert "Keep it to yourself: do not publish it" in page
    assert "a &lt;b&gt; text" in page
    assert '<option value="favor">Ours &amp; best</option>' in page
    lost = [json.loads(unescape(found)) for found in re.findall(r'data-lost="(.*?)"', page)]
    assert lost == [{OWN: 0.0, "favor": 0.25}, {OWN: 0.0}]
    assert page.count("did not pass the filter") == 1
    assert "client_" not in page
    assert "The authors of this page are generated; nobody is quoted." in gallery_page("Trial", [], {}, generated=True)


def test_habits_are_marked_and_counted() -> None:
    text, said = with_habits("i can't <wait>!! i'm here... I.")
    assert said == "lower-case i 2, !! 1, ellipses 1, contractions 2"
    assert text.count("<mark") == 5
    assert '<mark title="lower-case i, contractions">i\'m</mark> here' in text.unescape()
    assert "&lt;wait&gt;" in text
    assert with_habits("Nothing here.") == ("Nothing here.", "")


def test_words_that_a_method_also_wrote_for_another_are_shaded() -> None:
    def of(text) -> Exhibit:
        return Exhibit("p", {OWN: Continuation("an own text", 0.5, True), "favor": Continuation(text, 0.4)})

    # "we saw the Clock for" and the gram after it are common; the first author's last five words are nobody else's.
    texts = ("Then we saw the Clock for a day. i can't say any more now", "we saw the clock for a week")
    page = gallery_page("Trial", [of(text) for text in texts], {}, generated=True)
    assert 'Then <span class="shared">we saw the Clock for a</span> day. <mark' in page
    assert '<p><span class="shared">we saw the clock for a</span> week</p>' in page
    # Four words in a row are chance; the same words of two methods are no copy.
    apart = ([of("we saw the clock at last"), of(texts[1])], [pair(0.75, 0.5)])
    assert not any('<p><span class="shared">' in gallery_page("Trial", shown, {}, generated=True) for shown in apart)


def test_no_release_holds_it() -> None:
    page = gallery_page("Trial", [pair(0.75, 0.5)], {}, generated=True).encode()
    (finding,) = scan({"results/trial/gallery.html": page}, Private([], (("a text of client_001", QUOTE),), []))
    assert "a text of client_001" in finding.what


def test_similarities_by_hand() -> None:
    # The first author's output lies 60 degrees from its own prototype and 30 from the other's.
    inputs = make_inputs(
        train={"client_001": [0], "client_002": [90]},
        gold={"client_001": [0, 5], "client_002": [90, 95]},
        generated={"client_001": [60, 0], "client_002": [None, 90]},
        method="favor",
    )
    first, second = exhibits(inputs, "e", ["favor", "ditto"])
    assert list(first.continuations) == [OWN, "favor"]
    assert first.lost("favor") == pytest.approx(0.5)
    assert (first.continuations[OWN].right, first.continuations["favor"].right) == (True, False)
    assert second.continuations["favor"].similarity is None


def test_the_author_stands_beside_one_method_and_who_loses_most_comes_first(tmp_path, browser, violations) -> None:
    path = tmp_path / "gallery.html"

    def shown(prompt, favor, ditto, right=True) -> Exhibit:
        own = Continuation(QUOTE, 0.75, right)
        return Exhibit(prompt, {OWN: own, "favor": Continuation("f", favor), "ditto": Continuation("d", ditto)})

    # "wrong" loses most, and its own text is taken for another's; "two" has no output of FAVoR that passed.
    placed = [shown("one", 0.5, 0.1), shown("two", None, 0.3), shown("three", 0.25, 0.2), shown("wrong", 0, 0, False)]
    path.write_text(gallery_page("Trial", placed, {}, generated=True))
    browser.get(path.as_uri())
    script = """
        document.querySelectorAll('select').forEach((choice, place) => {
          if (arguments[place]) choice.value = arguments[place];
          choice.dispatchEvent(new Event('change', {bubbles: true}));
        });
        const seen = selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility());
        return [seen('blockquote'), seen('article:first-of-type h3')].map(list => list.map(each => each.textContent));
    """
    assert browser.execute_script(script, "", "") == [["three", "one", "wrong", "two"], ["The author", "FAVoR"]]
    assert browser.execute_script(script, "", "ditto") == [["one", "three", "two", "wrong"], ["The author", "Ditto"]]
    # Two methods beside each other, in the order of the choice.
    assert browser.execute_script(script, "favor", "ditto")[0] == ["one", "three", "two", "wrong"]
    assert sorted(browser.execute_script(script, "favor", "ditto")[1]) == ["Ditto", "FAVoR"]
    assert violations(path) == []


def test_the_first_screen_quotes_the_author_who_loses_most() -> None:
    def shown(prompt, own, shared, right=True) -> Exhibit:
        texts = {OWN: Continuation("own", own, right), "fedavg": Continuation("shared", shared)}
        return Exhibit(prompt, {**texts, "favor": Continuation("personal", 0.4)})

    # 0.7 - 0.1 is more than 0.9 - 0.5; the third author's own text is taken for another's.
    exhibits_ = [shown("less", 0.9, 0.5), shown("most", 0.7, 0.1), shown("wrong", 1.0, 0.0, right=False)]
    found = dict(sample(exhibits_, ["fedavg", "favor"], {}))
    assert found == {"Prompt": "most", "The author": "own", "FedAvg": "shared", "FAVoR": "personal"}
    assert sample([pair(0.75, 0.5)], ["fedavg", "favor"], {}) == []
