"""What short posts of social networks have that is not said by their writer: addressees, links, repeated posts."""

import re

from favor.exports.items import Cut, tidy

_ADDRESSEES = re.compile(r"(?:\s*@[\w.-]+(?:@[\w.-]+)?)+\s*")
_LINK = re.compile(r"https?://\S+")
# Before there was a button, people wrote RT and the post, or quoted it after the name.
_BY_HAND = re.compile(r"(?:(?<=\s)|^)(?:RT|MT):? ?@\w+.*\Z|[“\"]@\w+:[^”\"]*[”\"]?", re.DOTALL)


def own_post(text: str, reply: bool) -> tuple[str, tuple[Cut, ...]]:
    """Return a post without links, without the names that a reply begins with, and without what it repeats."""
    cuts = tuple(Cut("reposted", found[0]) for found in _BY_HAND.finditer(text))
    own = _BY_HAND.sub("", text)
    addressed = _ADDRESSEES.match(own) if reply else None
    own = _LINK.sub("", own[addressed.end() :] if addressed else own)
    return tidy(re.sub(" {2,}", " ", own)), cuts
