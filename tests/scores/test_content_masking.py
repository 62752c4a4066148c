"""Masked text: what is kept of a sentence, by hand."""

from favor.scores.content_masking import function_word_share, masked_sentences


def forms(text) -> list[list[str]]:
    return [[token.form for token in sentence] for sentence in masked_sentences(text)]


def test_content_words_keep_their_shape_alone() -> None:
    text = "I don’t like Walking to the 2.5 shops!!!!! And she'd quickly\nrobbed Paris"
    assert forms(text) == [
        ["I", "don't", "like", "<W>ing", "to", "the", "<0>", "<w>s", "!!!"],
        ["And", "she'd", "<w>ly"],
        ["<w>ed", "<W>s"],
    ]
    assert forms("The dog ate a bone.") == forms("The car hit a tree.")


def test_tokens_say_where_they_start() -> None:
    text = "So it goes. It's 10 o'clock"
    starts = [token.start for sentence in masked_sentences(text) for token in sentence]
    assert [text[start:][:2] for start in starts] == ["So", "it", "go", ". ", "It", "10", "o'"]


def test_share_of_function_words() -> None:
    assert function_word_share(forms("the dog and the cat, 5")) == 3 / 5
    assert function_word_share(forms("5 !")) == 0.0
