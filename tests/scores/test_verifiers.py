"""LambdaG against the package of its authors, on the same sentences."""

import numpy as np
import pytest
from lambdag.language_models import KneserNeyLanguageModel
from tests.scores.copied_voices import written

from favor.foundation.seeds import numpy_generator
from favor.scores.author_profiles import Excerpt, Profiles
from favor.scores.content_masking import masked_sentences
from favor.scores.verifiers import LambdaG

AUTHORS, ORDER, DRAWS, SEED = 4, 5, 3, 2


def sentences_of(text) -> list[list[str]]:
    return [[token.form for token in sentence] for sentence in masked_sentences(text)]


def log_probability(fitted, read) -> float:
    """log10 P of all tokens of ``read`` under the package's model of the sentences ``fitted``."""
    model = KneserNeyLanguageModel(order=ORDER, discount=0.75)
    for sentence in fitted:
        model.fit(sentence)
    return float(sum(np.log10(model.probabilities(sentence)).sum() for sentence in read))


def test_a_score_is_the_packages_own_log_likelihood_ratio() -> None:
    texts = [[written(author, "profile", n, 5) for n in range(4)] for author in range(AUTHORS)]
    size = np.full(AUTHORS, 100)
    grammar = LambdaG(Profiles([["p"]] * AUTHORS, texts, size, size * 0), ORDER, DRAWS, SEED)
    read = [written(author, "output", 0, 3) for author in range(AUTHORS)]
    found = grammar.scores([Excerpt(text, [], 0.0) for text in read])

    own = [[sentence for text in author for sentence in sentences_of(text)] for author in texts]
    lengths = [sum(map(len, sentences)) for sentences in own]
    expected = [[log_probability(sentences, sentences_of(text)) for sentences in own] for text in read]
    likelihoods, unknown = np.array(expected), [[] for _ in range(AUTHORS)]  # of texts by the last author
    for draw in range(DRAWS):
        # The half without an author, shuffled, up to the size of a profile, is that author's reference.
        generator = numpy_generator(SEED, "LambdaG references", draw)
        order = generator.permutation(AUTHORS)
        for half, others in ((order[:2], order[2:]), (order[2:], order[:2])):
            numbered = [(author, place) for author in sorted(half) for place in range(len(own[author]))]
            reference, words = [], 0
            for number in generator.permutation(len(numbered)):
                if words >= int(np.median(lengths)):
                    break
                author, place = numbered[number]
                reference.append(own[author][place])
                words += len(reference[-1])
            for row, text in enumerate(read):
                for author in others:
                    value = log_probability(reference, sentences_of(text))
                    expected[row][author] -= value / DRAWS
                    if row == AUTHORS - 1 and row in others:
                        unknown[author].append(value)
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    # With its writer named, a text is read against the references that have no sentence of the writer's.
    without = [likelihoods[-1, author] - np.mean(values) if values else np.nan for author, values in enumerate(unknown)]
    assert np.isfinite(without[:-1]).sum() > 0
    assert grammar.scores([Excerpt(read[-1], [], 0.0)], AUTHORS - 1)[0] == pytest.approx(without, abs=1e-9, nan_ok=True)
    assert (found.argmax(axis=1) == np.arange(AUTHORS)).mean() > 1 / AUTHORS
