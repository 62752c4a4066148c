"""Writes the demo's assistant texts: the polished register of a writing assistant, about the demo's own subjects."""

import random
from pathlib import Path

from favor.corpora.settings import DemoAssistant
from favor.demo.vocabulary import SUBJECTS, Subject
from favor.demo.writer import write_csv
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed

OPENINGS = (
    "Certainly! Here is a closer look at the {thing}.", "Of course! Let us explore the {thing} together.",
    "Great question! The {thing} is more {quality} than it may seem.",
    "When it comes to the {thing}, there are several factors to consider.",
    "The {thing} plays a crucial role in everyday life.", "Here are some thoughts on the {thing} and the {other}.",
)  # fmt: skip
BODIES = (
    "It is important to note that the {thing} can be {quality}, depending on the circumstances.",
    "Furthermore, the {other} offers a valuable opportunity to reflect on the {thing}.",
    "By taking the time to understand the {thing}, one can gain a deeper appreciation of the {other}.",
    "Additionally, {person} may provide helpful guidance regarding the {thing}.",
    "Moreover, a well-planned approach ensures that the {thing} remains {quality} and accessible.",
    "This not only improves the {thing}, but also fosters a sense of connection with the {other}.",
    "On the other hand, it is essential to balance the {thing} with the needs of {person}.",
    "For example, a visit to {place} can be both {quality} and rewarding.",
    "Ultimately, the key is to approach the {thing} with patience and an open mind.",
    "In many cases, the {other} serves as a reminder that every journey begins with a single step.",
    "Whether you are new to the {thing} or already familiar with it, there is always something to discover.",
    "Consequently, the relationship between the {thing} and the {other} deserves careful consideration.",
    "Each of these elements contributes to a {quality} and meaningful experience at {place}.",
    "First, consider the {thing}; second, review the {other}; finally, consult {person}.",
)  # fmt: skip
CLOSINGS = (
    "In conclusion, the {thing} is a {quality} part of a balanced life.",
    "I hope this helps! Let me know if you would like to know more about the {other}.",
    "Overall, the {thing} offers a wealth of opportunities for growth.",
    "Please feel free to ask if you have any further questions about the {thing}.",
    "To summarize, the {thing} and the {other} complement each other in a {quality} way.",
)  # fmt: skip


def write_assistant(path: Path, settings: DemoAssistant) -> None:
    """Write one column ``text`` to ``path`` (CSV, UTF-8); the same settings give the same bytes."""
    if settings.minimum_sentences > settings.maximum_sentences:
        raise UserError("demo: 'minimum_sentences' must be at most 'maximum_sentences'; lower it")
    generators = (random.Random(derive_seed(settings.seed, "demo assistant", at)) for at in range(settings.texts))
    write_csv(path, ("text",), ((_text(generator, settings),) for generator in generators))


def _text(generator: random.Random, settings: DemoAssistant) -> str:
    subject = SUBJECTS[generator.choice(tuple(SUBJECTS))]
    wanted = generator.randint(settings.minimum_sentences, settings.maximum_sentences)
    templates = [generator.choice(OPENINGS) if generator.random() < 0.7 else generator.choice(BODIES)]
    while len(templates) < wanted - 1:
        templates.append(generator.choice(BODIES))
    templates.append(generator.choice(CLOSINGS) if generator.random() < 0.6 else generator.choice(BODIES))
    return " ".join(_filled(template, subject, generator) for template in templates)


def _filled(template: str, subject: Subject, generator: random.Random) -> str:
    thing, other = generator.sample(subject.things, 2)
    return template.format(
        thing=thing,
        other=other,
        person=generator.choice(subject.people),
        place=generator.choice(subject.places),
        quality=generator.choice(subject.qualities),
    )
