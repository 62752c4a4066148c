"""Chats of Telegram as JSON: one chat at the top of result.json, or many in its list. Authors are Telegram's ids."""

import re
from collections.abc import Iterator

from favor.corpora.posts import ReaderSettings
from favor.exports.conversations import service
from favor.exports.files import Files, objects
from favor.exports.items import UNKNOWN, Cut, Export, Item, moment_of, tidy
from favor.foundation.errors import UserError

COLUMNS: dict[str, str] = {}
_CUT_SPANS = {"blockquote": "quoted", "expandable_blockquote": "quoted", "pre": "code"}
_OTHERS = {"forwarded_from": "forwarded", "via_bot": "by a bot"}
_KEYS = re.compile(rb'"(?:messages|chats|personal_information)"\s*:')


def _result(files: Files) -> str | None:
    alone = files.names if files.path.is_file() and files.path.suffix.lower() == ".json" else []
    heads = {name: files.head(name) for name in [*files.find(r"result\.json"), *alone]}
    # Other services call their messages so too.
    known = (name for name, head in heads.items() if _KEYS.search(head) and not service(head.decode("utf-8", "ignore")))
    return next(known, None)


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the messages of every chat; forwarded ones are others'. Notices and attachments are left out."""
    name = _result(files)
    assert name is not None
    export = files.json(name)
    if not isinstance(export, dict):
        raise files.broken(name, "is not an object")
    chats = [chat for key in ("chats", "left_chats") for chat in objects(export.get(key), "list")]
    chats += [export] if "messages" in export else []
    if not chats:
        raise files.broken(name, "has neither 'messages' nor a list of chats")
    messages = [message for chat in chats for message in objects(chat, "messages")]
    if messages and not any(message.get("type") in ("message", "service") for message in messages):
        raise UserError(f"{files.path}: {name} is of another program than Telegram; export a chat there as JSON")
    contacts = tuple(_name(contact) for contact in objects(export.get("contacts"), "list"))
    owner = export.get("personal_information")
    me: dict[str, tuple[str, ...]] = {}
    if isinstance(owner, dict):
        me[f"user{owner.get('user_id')}"] = (_name(owner), str(owner.get("username", "")))
    for number, chat in enumerate(chats):
        for message in objects(chat, "messages"):
            text, cuts = _text(message)
            left_out = "" if text or cuts else "attachment"
            if message.get("type") != "message":
                text, cuts, left_out = "", (), "notice"
            author = str(message.get("from_id") or message.get("from") or message.get("actor_id") or UNKNOWN)
            names = tuple(filter(None, (str(message.get("from") or ""), *me.get(author, ()))))
            label = f"{chat.get('name') or 'chat'}, message {message.get('id')}"
            moment = moment_of(message.get("date"))
            yield Item(author, text, moment, label, names, f"chat {number}", cuts, left_out, contacts)


def _name(person: dict[str, object]) -> str:
    return " ".join(str(person[key]) for key in ("first_name", "last_name") if person.get(key))


def _text(message: dict[str, object]) -> tuple[str, tuple[Cut, ...]]:
    """Return the sender's own words: a text is a string, or a list of strings and of marked spans."""
    text = message.get("text") or ""
    parts = text if isinstance(text, list) else [text]
    spans = [part if isinstance(part, dict) else {"text": part} for part in parts]
    pairs = [(_CUT_SPANS.get(str(span.get("type")), ""), str(span.get("text") or "")) for span in spans]
    for key, reason in _OTHERS.items():
        if key in message:  # of a deleted account the name is null, and the key is there
            whole = tidy("".join(part for _, part in pairs))
            return "", (Cut(reason, whole),) if whole else ()
    own = "".join(part for reason, part in pairs if not reason)
    return tidy(own), tuple(Cut(reason, part) for reason, part in pairs if reason)


EXPORT = Export("chats of Telegram as JSON (result.json)", _result, items)
read = EXPORT.read
