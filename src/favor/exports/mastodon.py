"""An archive of Mastodon, or its outbox.json alone."""

from collections.abc import Iterator

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files, objects
from favor.exports.items import Cut, Export, Item, moment_of, own_post
from favor.exports.markup import html_text

COLUMNS: dict[str, str] = {}


def _outbox(files: Files) -> str | None:
    alone = files.names if files.path.is_file() and files.path.suffix.lower() == ".json" else []
    names = [*files.find(r"outbox\.json"), *alone]
    return next((name for name in names if b'"OrderedCollection"' in files.head(name)), None)


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the posts, oldest first; those of one sitting belong together. A boost is somebody else's post."""
    name = _outbox(files)
    assert name is not None
    outbox = files.json(name)
    activities = objects(outbox, "orderedItems")
    if not any(each.get("type") in ("Create", "Announce") for each in activities):
        raise files.broken(name, "has no post in a list 'orderedItems'")
    actor: dict[str, object] = {}
    for other in files.find(r"actor\.json"):
        found = files.json(other)
        actor = found if isinstance(found, dict) else {}
    for activity in sorted(activities, key=lambda each: str(each.get("published", ""))):
        address = str(activity.get("actor", ""))
        author = str(actor.get("preferredUsername") or address.rsplit("/", 1)[-1])
        names = tuple(str(actor[key]) for key in ("name", "id") if actor.get(key))
        note = activity.get("object")
        label = f"post {(note.get('id') if isinstance(note, dict) else activity.get('id')) or ''}".strip()
        own = left_out = ""
        cuts: tuple[Cut, ...] = ()
        people: tuple[str, ...] = ()
        if activity.get("type") == "Announce":
            cuts = (Cut("boosted", str(note.get("content", "") if isinstance(note, dict) else note)),)
        elif activity.get("type") != "Create" or not isinstance(note, dict):
            left_out = "not a post"
        else:
            text, quoted = html_text(str(note.get("content") or ""))
            own, repeated = own_post(text, bool(note.get("inReplyTo")))
            cuts = quoted + repeated
            people = tuple(str(tag.get("name", "")) for tag in objects(note, "tag"))
        moment = moment_of(activity.get("published"))
        yield Item(author, own, moment, label, names, "posts", cuts, left_out, people)


EXPORT = Export("an archive of Mastodon, with outbox.json", _outbox, items)
read = EXPORT.read
