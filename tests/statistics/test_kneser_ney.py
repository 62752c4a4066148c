"""Kneser-Ney models: by hand on four words, and against the package of the method's authors."""

import numpy as np
import pytest
from lambdag.language_models import KneserNeyLanguageModel

from favor.foundation.seeds import numpy_generator
from favor.statistics.kneser_ney import Sentences

ORDERS = (2, 3, 5, 10)


def words(generator, number, alphabet) -> list[list[str]]:
    lengths = generator.integers(1, 15, number)
    return [[str(word) for word in generator.choice(list(alphabet), size)] for size in lengths]


def test_by_hand() -> None:
    # Bigrams of "a b", "a c": start-a twice, a-b, a-c, b-end, c-end: five kinds. Types a, b, c, end: V = 5 with <unk>.
    collection = Sentences([["a", "b"], ["a", "c"], ["z", "z"]], order=2)
    model = collection.fit([0, 1])
    found = 10 ** collection.log_probabilities(model, collection.read([["a", "b"], ["x"]]), discount=0.5)
    nothing = 0.5 * 4 / 5 / 5  # D types / N1+(. .) / V
    star = {"a": 0.5 / 5 + nothing, "b": 0.5 / 5 + nothing, "end": 1.5 / 5 + nothing, "x": nothing}
    a = (2 - 0.5) / 2 + 0.5 * 1 / 2 * star["a"]  # two sentences start, one word follows
    b = (1 - 0.5) / 2 + 0.5 * 2 / 2 * star["b"]
    end = (1 - 0.5) / 1 + 0.5 * 1 / 1 * star["end"]
    x = 0.5 * 1 / 2 * star["x"]
    assert found == pytest.approx([a, b, end, x, star["end"]])  # after an unseen word only words count


@pytest.mark.parametrize("order", ORDERS)
def test_equals_the_package_of_the_methods_authors(order) -> None:
    generator = numpy_generator(1, "Kneser-Ney oracle", order)
    sentences = words(generator, 60, "abcdefg")
    read = [*words(generator, 30, "abcdefgxy"), *sentences[:5]]  # with words and contexts that no model has
    collection = Sentences(sentences, order)
    reading = collection.read(read)
    for _ in range(3):
        chosen = generator.permutation(60)[:25]
        oracle = KneserNeyLanguageModel(order=order, discount=0.75)
        for number in chosen:
            oracle.fit(sentences[number])
        expected = np.log10(np.concatenate([oracle.probabilities(sentence) for sentence in read]))
        found = collection.log_probabilities(collection.fit(chosen), reading)
        assert found == pytest.approx(expected, abs=1e-9)
    assert reading.sentence.tolist() == [at for at, own in enumerate(read) for _ in range(len(own) + 1)]


def test_a_model_needs_a_context() -> None:
    with pytest.raises(ValueError, match="no context"):
        Sentences([["a"]], 1)
