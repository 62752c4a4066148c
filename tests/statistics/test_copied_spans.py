"""Shared word sequences, against a search of every pair of places."""

from difflib import SequenceMatcher

import numpy as np

from favor.statistics.copied_spans import KnownTexts, Overlap


def test_by_hand() -> None:
    known = KnownTexts({"a": [["one", "two", "three", "four"], ["x", "y"]], "b": [["three", "four", "five", "six"]]}, 2)
    # "two three four five": own has "two three" and "three four", the other "three four" and "four five"
    found = known.overlap("a", ["two", "three", "four", "five", "y"])
    assert found == Overlap(grams=4, own=2, others=1, longest_own=3, longest_others=3)
    # texts are not joined: "four x" is nowhere
    assert known.overlap("a", ["four", "x"]) == Overlap(1, 0, 0, 0, 0)
    assert known.overlap("b", ["x", "y"]) == Overlap(1, 0, 1, 0, 2)
    assert known.overlap("a", ["one"]) == known.overlap("a", []) == Overlap(0, 0, 0, 0, 0)
    assert known.overlap("a", ["unknown", "words", "here"]) == Overlap(2, 0, 0, 0, 0)
    assert KnownTexts({"a": []}, 2).overlap("a", ["one", "two"]) == Overlap(1, 0, 0, 0, 0)


def test_random_texts_of_few_words_against_brute_force() -> None:
    generator = np.random.default_rng(6)

    def draw(size) -> list[str]:
        return [str(word) for word in generator.integers(0, 4, size)]

    def grams(words) -> list[tuple[str, ...]]:
        return [tuple(words[start : start + 3]) for start in range(len(words) - 2)]

    def longest(text, texts) -> int:
        sizes = [
            SequenceMatcher(None, text, other, autojunk=False).find_longest_match(0, len(text), 0, len(other)).size
            for other in texts
        ]
        return max((size for size in sizes if size >= 3), default=0)

    for _ in range(60):
        texts = {name: [draw(int(size)) for size in generator.integers(0, 12, 3)] for name in "abc"}
        known, text = KnownTexts(texts, 3), draw(int(generator.integers(0, 15)))
        others = [*texts["a"], *texts["c"]]
        own = {gram for words in texts["b"] for gram in grams(words)}
        foreign = {gram for words in others for gram in grams(words)} - own
        assert known.overlap("b", text) == Overlap(
            grams=len(grams(text)),
            own=sum(gram in own for gram in grams(text)),
            others=sum(gram in foreign for gram in grams(text)),
            longest_own=longest(text, texts["b"]),
            longest_others=longest(text, others),
        )
