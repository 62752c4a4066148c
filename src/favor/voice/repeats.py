"""Texts that are there twice: in an author's folder and its backup, in two exports, among drafts and author."""

from collections.abc import Mapping, Sequence

from favor.corpora.near_duplicates import repeats, without_copies


def set_apart(
    drafts: Sequence[str], author: Sequence[str], contrast: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Return texts of author and contrast that repeat none, nearly or in whole, and what was left out in sentences.

    A text that stands on both sides of a division tells nothing of how alike texts of one author are. A draft that is
    among the author's texts is taken out of them; what is the author's or a draft, out of the contrast.
    """
    notes = []

    def left_out(before: Sequence[str], after: Sequence[str], why: str) -> None:
        if many := len(before) - len(after):
            notes.append(f"{many:,} of {why} and {'is' if many == 1 else 'are'} left out.")

    once = _once(author)
    left_out(author, once, f"the author's {len(author):,} texts repeat{'s' * (len(author) - len(once) == 1)} another")
    own = without_copies(once, drafts)
    left_out(once, own, "the author's texts stand among the texts to score")
    others = {name: without_copies(_once(texts), [*once, *drafts]) for name, texts in contrast.items()}
    before, after = ([text for texts in group.values() for text in texts] for group in (contrast, others))
    left_out(before, after, "the contrast's texts repeat another, or are the author's or to be scored,")
    return own, others, notes


def repeated_drafts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return which of ``texts`` repeat another one, by name."""
    names = list(texts)
    return {names[place]: names[of] for place, of in repeats(list(texts.values())).items()}


def _once(texts: Sequence[str]) -> list[str]:
    left_out = repeats(texts)
    return [text for place, text in enumerate(texts) if place not in left_out]
