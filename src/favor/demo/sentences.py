"""Demo sentences: a small grammar says what is meant, an author's habits say how."""

import random
import re

from favor.demo.habits import BRITISH, CHAT, CONTRACTIONS, MISSPELLINGS, Habits
from favor.demo.vocabulary import GENERAL_PEOPLE, NUMBERS, UNITS, Subject

_SLOT = re.compile(r"\{(\w+)\}")
_CONTRACTABLE = re.compile(r"\b(" + "|".join(sorted(CONTRACTIONS, key=len, reverse=True)) + r")\b")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)*")
_DIGITS = {word: str(number) for number, word in enumerate(NUMBERS[:-1], start=2)} | {"twelve": "12"}
_SUBJECTS = {"I", "we", "he", "she", "they", "it", "everyone", "somebody", "nobody", "that"}
_AN = re.compile(r"\b([Aa]) (?=(?!us|uni)[aeiou]|hon)")


class Voice:
    """Writes sentences of one author about one subject."""

    def __init__(self, habits: Habits, subject: Subject, generator: random.Random) -> None:
        self._habits, self._subject, self._random = habits, subject, generator
        # A post keeps to a handful of things, as posts do.
        self._things = generator.sample(subject.things, 8)
        # Nobody writes alike every day: the day's mood scales the informal habits.
        self._mood = generator.uniform(0.1, 1.2)

    def sentence(self) -> str:
        """Return one sentence with its end mark."""
        habits, chance = self._habits, self._random.random
        if chance() < habits.question:
            meaning, end = self._fill(habits.questions.draw(self._random)), habits.question_ends.draw(self._random)
        else:
            meaning, end = self._clauses(), habits.ends.draw(self._random)
        if chance() < habits.opener:
            meaning = f"{habits.openers.draw(self._random)} {meaning}"
        if chance() < habits.aside * self._mood:
            meaning += f" {habits.asides.draw(self._random)}"
        text = self._cased(self._spelled(self._contracted(_AN.sub(r"\1n ", meaning))))
        if chance() < habits.emoticon * self._mood:
            end = f"{end if chance() < 0.5 else ''} {habits.emoticons.draw(self._random)}"
        return text + end

    def _clauses(self) -> str:
        habits, chance = self._habits, self._random.random
        clause = self._fill(habits.clauses.draw(self._random))
        if chance() < habits.time_first:
            clause = f"{habits.times.draw(self._random)} {clause}"
        parts = [clause]
        while len(parts) < 5 and chance() < habits.extra_clause:
            parts.append(f"{habits.joiners.draw(self._random)} {self._fill(habits.clauses.draw(self._random))}")
        return "".join(parts)

    def _fill(self, template: str) -> str:
        thing, other = self._random.sample(self._things, 2)
        text = template.replace("{other}", other)
        while "{" in text:
            text = _SLOT.sub(lambda match: thing if match[1] == "thing" else self._slot(match[1]), text)
        first, _, rest = text.partition(" ")
        if first in _SUBJECTS and self._random.random() < self._habits.filler:
            text = f"{first} {self._habits.fillers.draw(self._random)} {rest}"
        return text

    def _slot(self, name: str) -> str:
        choose, own, subject, habits = self._random.choice, self._random.random() < 0.55, self._subject, self._habits
        if name == "deed":
            return choose(subject.deeds) if own else habits.deeds.draw(self._random)
        if name == "quality":
            return choose(subject.qualities) if own else habits.qualities.draw(self._random)
        if name == "person":
            return choose(subject.people) if own else choose(GENERAL_PEOPLE)
        if name == "very":
            return self._stretched(habits.intensifiers.draw(self._random))
        if name == "time":
            return habits.times.draw(self._random)
        return choose({"someone": subject.people, "place": subject.places, "number": NUMBERS, "unit": UNITS}[name])

    def _stretched(self, word: str) -> str:
        if self._random.random() < self._habits.stretched * self._mood:
            return word[:-1] + word[-1] * self._random.randint(3, 5)
        return word

    def _contracted(self, text: str) -> str:
        def short(match: re.Match[str]) -> str:
            if self._random.random() >= self._habits.contraction:
                return match[0]
            word = CONTRACTIONS[match[0]]
            return (
                word.replace("'", "") if self._random.random() < self._habits.dropped_apostrophe * self._mood else word
            )

        return _CONTRACTABLE.sub(short, text)

    def _spelled(self, text: str) -> str:
        habits, chance = self._habits, self._random.random

        def spell(match: re.Match[str]) -> str:
            word = match[0]
            if word in BRITISH and chance() < habits.british:
                return BRITISH[word]
            if word in habits.chat_words and chance() < habits.chat * self._mood:
                return CHAT[word]
            if word in habits.misspelt_words and chance() < habits.misspelling * self._mood:
                return MISSPELLINGS[word]
            if word == "and" and chance() < habits.ampersand * self._mood:
                return "&"
            if word in _DIGITS and chance() < habits.digits:
                return _DIGITS[word]
            if len(word) > 3 and chance() < habits.shout * self._mood / 8:
                return word.upper()
            return word

        return _WORD.sub(spell, text)

    def _cased(self, text: str) -> str:
        if self._random.random() < self._habits.small_i * self._mood:
            text = re.sub(r"\bI\b", "i", text)
        if self._random.random() < self._habits.lower_start * self._mood:
            return text[0].lower() + text[1:] if not text.startswith("I ") else text
        return text[0].upper() + text[1:]
