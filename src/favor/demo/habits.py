"""What makes a demo author: habits of casing, punctuation, spelling and phrasing, drawn as probabilities.

Every habit is drawn from a few levels that many authors share, so no single habit names an author; the joint
distribution does, and only over enough text.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from favor.demo.vocabulary import CLAUSES, GENERAL_DEEDS, GENERAL_QUALITIES, QUESTIONS, TIMES

ENDS = (".", "!", "...", "..", "!!", "!!!")
QUESTION_ENDS = ("?", "??", "?!", "...?")
JOINERS = (
    ", and", " and", ", but", " but", " because", ";", " -", "...", ", so", ", though", " while", ",", " since", " --",
    ", which means", " and then", ", or maybe", " until", " even though", " when",
)  # fmt: skip
OPENERS = (
    "Well,", "Anyway,", "So", "Also,", "However,", "Then again,", "Oh,", "Besides,", "In fact,", "Now", "Okay,",
    "Honestly,", "Plus,", "Of course,", "And", "But", "Sadly,", "For some reason", "Apparently", "By the way,",
)  # fmt: skip
FILLERS = (
    "like", "just", "you know", "totally", "basically", "actually", "kind of", "sort of", "honestly", "literally",
    "probably", "maybe", "somehow", "obviously", "simply",
)  # fmt: skip
INTENSIFIERS = (
    "very", "so", "really", "totally", "quite", "rather", "super", "extremely", "way too", "pretty", "incredibly",
    "a bit", "absolutely", "somewhat",
)  # fmt: skip
EMOTICONS = (":)", ":(", ";)", ":-)", ":P", "^_^", "xD", "=)", "<3", ":D", "*sigh*", "lol", "haha", "o_O")
ASIDES = (
    "(of course)", "(do not ask)", "(again)", "(as usual)", "(I think)", "(long story)", "(finally)",
    "(or so they say)", "(what else)", "(sorry)",
)  # fmt: skip
GREETINGS = (
    "Hello all.", "Good morning.", "Hey everyone!", "Hi there.", "What a day.", "Quick update.", "Ugh.", "Yay!",
)  # fmt: skip
CLOSINGS = (
    "Later.", "Good night.", "More tomorrow.", "That is all.", "Peace.", "The end.", "See you soon.", "Love you all.",
)  # fmt: skip

CONTRACTIONS = {
    "do not": "don't", "does not": "doesn't", "did not": "didn't", "cannot": "can't", "could not": "couldn't",
    "would not": "wouldn't", "should not": "shouldn't", "will not": "won't", "is not": "isn't", "was not": "wasn't",
    "I am": "I'm", "I have been": "I've been", "I have never": "I've never", "it is": "it's", "that is": "that's",
    "they are": "they're", "what is": "what's", "I will": "I'll",
}  # fmt: skip
BRITISH = {
    "color": "colour", "colorful": "colourful", "favorite": "favourite", "neighbor": "neighbour", "theater": "theatre",
    "gray": "grey", "practiced": "practised", "traveled": "travelled", "harbor": "harbour", "rumor": "rumour",
    "memorized": "memorised", "apologized": "apologised", "realized": "realised", "organized": "organised",
    "cozy": "cosy", "movie": "film", "couch": "sofa", "burned": "burnt", "dreamed": "dreamt", "program": "programme",
}  # fmt: skip
CHAT = {
    "you": "u", "are": "r", "because": "cuz", "though": "tho", "through": "thru", "for": "4", "people": "ppl",
    "going": "goin", "want": "wanna get", "tonight": "2nite", "why": "y", "the": "da", "told": "tld", "was": "wuz",
    "really": "rly", "about": "bout", "everyone": "every1", "before": "b4", "that": "dat", "what": "wut",
}  # fmt: skip
MISSPELLINGS = {
    "the": "teh", "really": "realy", "because": "becuase", "believe": "beleive", "definitely": "definately",
    "their": "thier", "weird": "wierd", "tomorrow": "tommorow", "friend": "freind", "probably": "probaly",
    "interesting": "intresting", "different": "diffrent", "always": "allways", "until": "untill", "with": "wiht",
    "thinking": "thinkin", "talking": "talkin", "going": "goin", "and": "adn", "remembered": "rememberd",
    "beautiful": "beatiful", "tired": "tierd", "surprise": "suprise", "apparently": "apparantly",
    "everyone": "evryone", "which": "wich", "people": "poeple", "where": "wher",
}  # fmt: skip


class Choice(NamedTuple):
    """A weighted choice: the options and their cumulative weights."""

    options: tuple[str, ...]
    cumulative: tuple[float, ...]

    def draw(self, generator: random.Random) -> str:
        """Return one option."""
        return generator.choices(self.options, cum_weights=self.cumulative)[0]


class Habits:
    """One author's habits, drawn. Numbers are probabilities: per sentence, or per place where the habit can show."""

    def __init__(self, generator: random.Random) -> None:
        def level(*levels: float) -> float:
            value = generator.choice(levels)
            return min(1.0, value * generator.uniform(0.7, 1.3))

        def weighted(options: Sequence[str], shape: float, first: float = 0.0) -> Choice:
            # Gamma weights make a Dirichlet draw: the smaller the shape, the more an author keeps to a few options.
            total, cumulative = 0.0, []
            for place in range(len(options)):
                total += generator.gammavariate(shape, 1.0) + (first if place == 0 else 0.0)
                cumulative.append(total)
            return Choice(tuple(options), tuple(cumulative))

        def some(words: Sequence[str], number: int) -> frozenset[str]:
            return frozenset(generator.sample(sorted(words), number))

        self.lower_start = level(0, 0, 0, 0.05, 0.3, 0.8)
        self.small_i = level(0, 0.1, 0.9) if self.lower_start < 0.2 else level(0.5, 0.9, 1)
        self.shout = level(0, 0, 0.02, 0.06, 0.12)
        self.extra_clause = level(0.2, 0.3, 0.4, 0.5, 0.6)
        self.question = level(0.02, 0.05, 0.1)
        self.opener = level(0.05, 0.15, 0.3)
        self.filler = level(0, 0.05, 0.15, 0.25)
        self.contraction = level(0.1, 0.5, 0.8, 1, 1)
        self.dropped_apostrophe = level(0, 0, 0, 0.1, 0.5, 0.9)
        self.chat = level(0, 0, 0, 0.1, 0.3)
        self.misspelling = level(0, 0, 0.05, 0.15, 0.3)
        self.british = level(0, 0, 0, 0.9)
        self.ampersand = level(0, 0, 0, 0.1, 0.5)
        self.digits = level(0, 0.3, 1)
        self.aside = level(0, 0.01, 0.05)
        self.emoticon = level(0, 0, 0.03, 0.08, 0.15)
        self.time_first = level(0.02, 0.08, 0.15)
        self.line_break = level(0, 0, 0.05, 0.15)
        self.greeting = level(0, 0.1, 0.4)
        self.closing = level(0, 0.1, 0.4)
        self.stretched = level(0, 0, 0, 0.1)
        self.ends = weighted(ENDS, 0.4, first=3.5)
        self.question_ends = weighted(QUESTION_ENDS, 0.4, first=3.0)
        self.joiners = weighted(JOINERS, 1.6)
        self.openers = weighted(OPENERS, 1.2)
        self.fillers = weighted(FILLERS, 1.2)
        self.intensifiers = weighted(INTENSIFIERS, 1.2)
        self.emoticons = weighted(EMOTICONS, 0.3)
        self.asides = weighted(ASIDES, 0.5)
        self.greetings = weighted(GREETINGS, 1.0)
        self.closings = weighted(CLOSINGS, 1.0)
        self.clauses = weighted(CLAUSES, 8.0)
        self.questions = weighted(QUESTIONS, 2.0)
        self.deeds = weighted(GENERAL_DEEDS, 5.0)
        self.qualities = weighted(GENERAL_QUALITIES, 5.0)
        self.times = weighted(TIMES, 5.0)
        self.chat_words = some(tuple(CHAT), 8)
        self.misspelt_words = some(tuple(MISSPELLINGS), 9)
