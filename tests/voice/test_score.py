"""Texts of known writers: own ones lie near 1, a stranger's near 0, mixtures in between, and what cannot be said."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.exports.conftest import refusal as said
from tests.scores.copied_voices import written
from tests.voice.conftest import Trigrams, command, refusal, write_others

from favor.corpora.near_duplicates import repeats
from favor.encoders.base import Unread
from favor.foundation.errors import UserError
from favor.scores.inputs import Sources
from favor.scores.prototypes import margins, prototypes
from favor.voice.contrast import embedded_contrast
from favor.voice.position import percentile, voice_position
from favor.voice.score import VoiceScore, _spread, passage_length, passages, passages_by_text, score_voice
from favor.voice.verifiers import ByEncoder
from favor.voice.words import lines, share_text, summary

STRANGER = 9  # a writer who is neither the author nor in the contrast


@cache
def posts(author, purpose, number) -> list[str]:
    return [written(author, purpose, n) for n in range(number)]


AUTHOR = posts(0, "voice", 40)
CONTRAST = {f"writer {author}": posts(author, "voice", 12) for author in range(1, 8)}


@cache
def scored(*writers) -> VoiceScore:
    """Score one text by each of ``writers``; not to be changed."""
    texts = {f"{n:02d}": written(writer, "scored", n) for n, writer in enumerate(writers)}
    return score_voice(texts, AUTHOR, CONTRAST, Trigrams())


def test_own_texts_are_near_1_a_strangers_near_0_and_mixtures_between() -> None:
    mixtures = [scored(*[0] * own, *[STRANGER] * (12 - own)) for own in (12, 6, 0)]
    for verifier in ("encoder", "stylometry", "grammar"):
        shares = [found.shares[verifier].share for found in mixtures]
        assert shares == sorted(shares, reverse=True)
        own, strange = (found.shares[verifier] for found in (mixtures[0], mixtures[-1]))
        assert own.low <= 1 <= own.high
        assert own.low > 0
        assert strange.low <= 0 <= strange.high < 1
    own, strange = mixtures[0], mixtures[-1]
    assert own.units == strange.units == "texts"
    among = [np.mean([text.placements["grammar"].among_own for text in found.texts]) for found in (own, strange)]
    assert among[0] == pytest.approx(0.5, abs=0.2)
    assert among[1] < 0.2


def test_real_prose_of_one_president_is_told_from_that_of_another() -> None:
    addresses = embedded_contrast()
    assert {len(texts) for texts in addresses.values()} == {10}
    author, stranger = addresses.pop("Donald J. Trump"), addresses.pop("William Howard Taft")
    few = {name: addresses[name] for name in list(addresses)[::3]}
    texts = {f"own {n}": text for n, text in enumerate(author[8:])}
    texts |= {f"other {n}": text for n, text in enumerate(stranger[:2])}
    found = score_voice(texts, author[:8], few, Trigrams())
    own, other = ([text for text in found.texts if text.name.startswith(name)] for name in ("own", "other"))
    for verifier in ("stylometry", "grammar"):
        nearest = min(text.placements[verifier].share for text in own)
        assert nearest > max(text.placements[verifier].share for text in other)


def test_a_share_of_two_levels_that_nearly_meet_is_not_printed() -> None:
    found = scored(*[0] * 12)
    wide = {name: replace(share, share=0.19, low=-98.52, high=1.2) for name, share in found.shares.items()}
    assert share_text(wide["grammar"]) == "the interval is too wide to say anything"
    assert summary(replace(found, shares=wide)).startswith("Nothing can be said of the texts together: the interval is")
    one_left = replace(found, shares={**wide, "grammar": found.shares["grammar"]})
    assert f"By grammar (LambdaG): {share_text(found.shares['grammar'])}," in summary(one_left)


def test_the_margin_is_the_workflows() -> None:
    texts = [*AUTHOR[:6], *CONTRAST["writer 1"][:6], *CONTRAST["writer 2"][:6]]
    clients = ["a", "b", "c"]
    frame = pd.DataFrame({"client": np.repeat(clients, 6), "document_id": map(str, range(18))})
    vectors = Trigrams().encode(texts).astype(np.float64)
    outputs = posts(0, "scored", 3)
    similarity = Trigrams().encode(outputs).astype(np.float64) @ prototypes(Sources(frame, vectors), clients).T
    expected = margins(similarity, np.zeros(3, dtype=np.int64))
    mine = ByEncoder(Trigrams(), [texts[:6], texts[6:12], texts[12:]]).margins(outputs)
    assert mine == pytest.approx(expected, abs=1e-6)


def nearly(text) -> str:
    """The same text with other white space and without its first word, as a cross-post may be."""
    return "\n\n".join(text.split(" ")[1:])


def test_texts_that_are_there_twice_change_nothing() -> None:
    """An author's folder and its backup: a copy in the profile would make its twin in the ceiling another's."""
    drafts = {f"{n:02d}": written(0, "scored", n) for n in range(6)}
    twice = {name: [*texts, *map(nearly, texts[:3])] for name, texts in CONTRAST.items()}
    once = scored(*[0] * 6)
    found = score_voice(drafts, [*AUTHOR, *map(nearly, AUTHOR[:12])], twice, Trigrams())
    assert (once.shares, once.author_words, once.notes) == (found.shares, found.author_words, found.notes[2:])
    assert found.notes[:2] == [
        "12 of the author's 52 texts repeat another and are left out.",
        "21 of the contrast's texts repeat another, or are the author's or to be scored, and are left out.",
    ]


def test_a_draft_among_the_authors_texts_is_taken_out_of_them() -> None:
    drafts = {f"{n:02d}": text for n, text in enumerate(AUTHOR[:5])}
    found = score_voice(drafts, AUTHOR, CONTRAST, Trigrams())
    without = score_voice(drafts, AUTHOR[5:], CONTRAST, Trigrams())
    assert found.notes == ["5 of the author's texts stand among the texts to score and are left out.", *without.notes]
    assert found.shares == without.shares
    assert not any(text.unscored for text in found.texts)
    with pytest.raises(UserError, match=r"the author has 0 words, .*: 40 of the author's texts stand among"):
        score_voice({str(n): text for n, text in enumerate(AUTHOR)}, AUTHOR, CONTRAST, Trigrams())


def test_a_draft_that_is_given_twice_is_one_text() -> None:
    drafts = {f"{n:02d}": written(0, "scored", n) for n in range(3)}
    once = scored(0, 0, 0)
    twice = score_voice({**drafts, "copy": nearly(drafts["01"])}, AUTHOR, CONTRAST, Trigrams())
    assert twice.shares == once.shares
    assert twice.texts[3].unscored == "repeats 01"


def test_an_excerpt_repeats_the_whole_and_a_common_beginning_does_not() -> None:
    whole = " ".join(f"word{n}" for n in range(400))
    excerpt, other = " ".join(whole.split()[:60]), " ".join([*whole.split()[:60], *(f"more{n}" for n in range(60))])
    assert repeats([excerpt, whole, other, whole]) == {0: 1, 3: 1}


def test_what_the_style_encoder_cuts_off_is_a_note() -> None:
    class Cut(Trigrams):
        def encode(self, texts, progress=None) -> np.ndarray:
            self.count(Unread(len(texts), len(texts), 300 * len(texts), 100 * len(texts)))
            return super().encode(texts)

    encoder = Cut()
    encoder.encode(["before"])
    note = score_voice({"0": written(0, "scored", 0)}, AUTHOR, CONTRAST, encoder).notes[0]
    counted = r"By the style encoder: (\d+) of \1 passages and texts are longer than the encoder reads: "
    assert re.fullmatch(counted + r"the last 33 % of their tokens are cut off\.", note)


@pytest.mark.slow(10)
@pytest.mark.parametrize(("units", "own_texts", "size"), [(10, 14, 1), (60, 6, 10), (4, 60, 6)])
def test_intervals_of_a_share_cover(units, own_texts, size) -> None:
    """Texts, own passages and contrast authors with means .6, 1 and 0: the true share is .6.

    Where there are fewer than ten units or own texts, each has ``size`` scores, which share half of their variance.
    """
    generator = np.random.default_rng(5)

    def drawn(mean, number) -> list[np.ndarray]:
        alike = size if number < 10 else 1
        shared = generator.normal(0, 0.3 * 0.5**0.5, number)
        return [mean + part + generator.normal(0, 0.3 * 0.5**0.5, alike) for part in shared]

    covered = []
    for number in range(300):
        others = [generator.normal(mean, 0.2, 5) for mean in generator.normal(0, 0.1, 20)]
        share = voice_position(drawn(0.6, units), drawn(1, own_texts), others, number)
        covered.append(share.low <= 0.6 <= share.high)
    assert 0.92 <= np.mean(covered) <= 0.995


def test_a_long_text_is_no_more_of_the_ceiling_than_a_short_one() -> None:
    """The ceiling is known to the precision of eight texts and ten authors, also where three units are scored."""
    texts = [np.array([value]) for value in (0.4, 0.5, 0.6)]
    own = [np.array([1.0 + 0.1 * number]) for number in range(7)] + [np.full(25, 1.4)]
    found = voice_position(texts, own, [np.array([value]) for value in np.linspace(-0.9, 0.9, 10)], 1)
    assert found.ceiling == pytest.approx((sum(1.0 + 0.1 * number for number in range(7)) + 1.4) / 8)
    assert found.share == pytest.approx(0.5 / found.ceiling)


@pytest.mark.parametrize(
    ("texts", "own", "reason"),
    [
        (2, 8, "they are of 2"),
        (8, 2, "needs 3 held-out texts of the author's own, and there are 2"),
        (8, 8, "not apart"),
    ],
)
def test_no_share_of_too_few_documents_or_own_texts_or_where_nothing_is_apart(texts, own, reason) -> None:
    scores, values = (list(np.linspace(-1, 1, number)[:, None]) for number in (texts, own))
    found = voice_position(scores, values, [np.linspace(-1, 1, 8)] * 5, 1, "they are of 2")
    assert reason in found.reason
    assert np.isnan(found.share)


def test_texts_of_one_document_are_one_unit() -> None:
    texts = {f"{n:02d}": written(STRANGER, "scored", n) for n in range(6)}
    alone, apart, together = (
        score_voice(texts, AUTHOR, CONTRAST, Trigrams(), documents=documents)
        for documents in (None, {name: name for name in texts}, {name: name[1] in "01" for name in texts})
    )
    assert (alone.units, apart.units, together.units) == ("texts", "documents", "documents")
    assert apart.shares == alone.shares
    assert repr(apart.habits) == repr(alone.habits)  # NaN does not equal itself
    for share in together.shares.values():
        assert share.reason == "they are of 2 documents, and an interval needs 3"
        assert np.isnan(share.low)


def test_a_text_within_what_the_authors_texts_differ_by_has_no_habit_of_its_own() -> None:
    """Every other text of the author has two commas more per sentence; passages of one text are alike."""
    author = [text.replace(".", ", so, so.") if n % 2 else text for n, text in enumerate(AUTHOR)]
    found = score_voice({"a": written(0, "scored", 1)}, author, CONTRAST, Trigrams())
    commas = next(habit for habit in found.habits if habit.name == "commas")
    assert commas.p > 0.05
    assert found.units == "passages"


def test_passages_have_one_length_and_are_of_as_many_texts_as_there_are() -> None:
    found = passages(["One, two. Three four five!", "six", "(seven) eight"], 2)
    assert found == ["One, two.", "Three four", "six\n(seven)"]
    long = [" ".join(f"word{n}" for n in range(50 * size)) for size in (80, 1, 2)]
    assert [len(own) for own in passages_by_text(long, 50)] == [80, 1, 2]
    assert [len(own) for own in _spread(passages_by_text(long, 50))] == [57, 1, 2]


def test_pieces_of_few_long_texts_are_said_to_be_no_texts() -> None:
    book = "\n".join(AUTHOR)
    assert any("pieces of the author's 1 texts" in note for note in scored_of([book]).notes)
    assert not any("pieces" in note for note in scored_of(AUTHOR).notes)


def test_a_percentile_counts_ties_half() -> None:
    assert percentile(2.0, np.array([1.0, 2.0, 2.0, 4.0])) == pytest.approx((1 + 3) / 8)


def test_too_little_text_is_refused_with_what_is_missing() -> None:
    with pytest.raises(UserError, match=r"the author has [\d,]+ words, and 3,000 are needed .* add [\d,]+ words"):
        scored_of(AUTHOR[:5])
    line = said(score_voice, {"a": written(0, "scored", 1)}, AUTHOR, dict(list(CONTRAST.items())[:3]), Trigrams())
    assert "3 contrast authors have 600 words or more, and 4 are needed" in line
    line = said(score_voice, {"a": "Only three words."}, AUTHOR, CONTRAST, Trigrams())
    assert "no text can be scored: a has 3 words, and 50 are needed" in line


def test_held_out_halves_without_a_passage_are_named() -> None:
    """One text of nearly all words falls into one half, of six that are not cut."""
    short = ["Rain fell all night.", "Nobody came by.", "Tea at five?", "My bicycle broke!", "Such is life, friends."]
    lopsided = [" ".join(AUTHOR), *short]
    contrast = CONTRAST | {"one": [" ".join(posts(9, "voice", 12)), *short]}
    text = {"a": written(0, "scored", 1)}
    notes = [" ".join(score_voice(text, AUTHOR, contrast, Trigrams(), seed).notes) for seed in range(6)]
    assert {"no passage of" in each for each in notes} == {True, False}
    with pytest.raises(UserError, match=r"the author's held-out half has no passage of \d+ words"):
        for seed in range(6):
            score_voice(text, lopsided, CONTRAST, Trigrams(), seed)


def scored_of(author) -> VoiceScore:
    return score_voice({"a": written(0, "scored", 1)}, author, CONTRAST, Trigrams())


def test_copied_text_is_not_scored_and_another_genre_is_named() -> None:
    numbers = "\n".join(f"ITEM {n}: {n * 7} KG @ {n}/{n}" for n in range(90)) + " item kg" * 30
    texts = {"own": written(0, "scored", 1), "copy": f"{AUTHOR[3]} {AUTHOR[4]}", "list": numbers}
    found = {text.name: text for text in score_voice(texts, AUTHOR, CONTRAST, Trigrams()).texts}
    assert found["copy"].unscored == "100 % of its words copied from the author's texts"
    assert found["copy"].longest_copied > 30
    assert not found["copy"].placements
    assert found["list"].unlike
    assert not found["own"].unlike


def test_phrases_of_assistants_are_counted() -> None:
    text = written(0, "scored", 1) + " I hope this helps, and feel free to ask."
    found = score_voice({"a": text}, AUTHOR, CONTRAST, Trigrams())
    assert found.texts[0].phrases == ("i hope this helps", "feel free to")
    assert found.phrases[0] == pytest.approx(1000 * 2 / found.texts[0].words, rel=0.05)
    assert found.phrases[1] == 0


@pytest.fixture
def files(tmp_path, monkeypatch, light) -> Path:
    """An author's folder of Markdown, a contrast table, and the command with a light encoder."""
    folder = tmp_path / "mine" / "2020"
    folder.mkdir(parents=True)
    for number, text in enumerate(AUTHOR):
        (folder / f"{number:02d}.md").write_text(f"---\ntitle: {number}\n---\n{text}\n")
    write_others(tmp_path / "others.csv", CONTRAST)
    (tmp_path / "draft.txt").write_text(written(0, "scored", 1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_prints_lines_json_and_a_page(files, capsys, violations) -> None:
    options = ("draft.txt", "--author", "mine", "--contrast", "others.csv")
    command(*options, program="score")
    printed = capsys.readouterr().out
    assert "1 of 1 texts, in passages of 80 words" in printed
    assert "95 % intervals over passages" in printed
    command(*options, "--json", "--page", "page.html", program="score")
    found = json.loads(capsys.readouterr().out)
    assert found["authors"] == 7
    assert found["texts"][0]["placements"].keys() == {"encoder", "stylometry", "grammar"}
    page = (files / "page.html").read_text()
    assert "draft.txt" in page
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    assert violations(files / "page.html") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt", "--author", "mine"], "none.txt: cannot be read (No such file or directory)"),
        (["draft.txt", "--author", "others.csv"], "others.csv: holds texts of 7 authors"),
        (["none", "--author", "mine"], "none: file not found; check the name"),
        (["photo.png", "--author", "mine"], "photo.png: cannot be read; give a text"),
        (["draft.txt", "--author", "draft.txt"], "the author has"),
        (["draft.txt", "--author", "mine", "--contrast", "empty"], "empty: holds no text file"),
        (["draft.txt", "--author", "mine", "--page", "empty"], "--page empty: is a folder; name a file in it"),
    ],
)
def test_bad_input_is_one_line(files, arguments, message) -> None:
    (files / "photo.png").write_bytes(b"\x89PNG")
    (files / "empty").mkdir()
    assert message in refusal("--page", "page.html", *arguments, program="score")
    assert not (files / "page.html").exists()


def test_one_or_two_texts_are_read_in_three_passages_where_they_can() -> None:
    """400 words fill 160 twice and 120 three times; three texts are units themselves; 102 words fill 50 but twice."""
    given = [400], [500], [90, 400], [400, 400, 400], [102], [50, 50, 50]
    assert [*map(passage_length, given)] == [120, 160, 80, 160, 50, 50]


def test_one_or_two_passages_have_no_interval_and_say_so() -> None:
    words = f"{written(0, 'scored', 1)} {written(0, 'scored', 2)}".split()
    found = score_voice({"a": " ".join(words[:110])}, AUTHOR, CONTRAST, Trigrams())
    assert found.passage_words == 50
    needed = "an interval needs 3 passages of 50 words; give a longer text, or several"
    assert {share.reason for share in found.shares.values()} == {needed}
    assert f"Nothing can be said of the texts together: {needed}" in next(lines(found, "seven writers"))
    assert found.texts[0].placements["grammar"].among_own >= 0
