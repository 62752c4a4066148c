"""The keys that a coordinator knows: one per site, replaced by a statement that the old one signs, and revoked."""

from dataclasses import dataclass
from pathlib import Path

from favor.foundation.errors import UserError
from favor.sites.manifest import SiteStatement, read_signed
from favor.sites.signing import is_signed, replacement

REVOKED = "revoked"


@dataclass(frozen=True)
class KnownSite:
    """keys: all that it has had, the present one last. words: see :class:`favor.sites.manifest.SiteStatement`."""

    keys: tuple[str, ...]
    words: int | None


def known_sites(folder: Path) -> dict[str, KnownSite]:
    """Return the sites by client from the statements in a folder.

    Raises ``UserError`` for a file that its own site did not sign, a key of two sites or of none that is known, two
    keys of one site of which the old does not sign the new, and a key that was revoked.
    """
    revoked = {read_signed(path, SiteStatement).key for path in sorted((folder / REVOKED).glob("*.json"))}
    found: dict[str, dict[str, tuple[Path, SiteStatement]]] = {}
    owners: dict[str, str] = {}
    for path in sorted(folder.glob("[!.]*.json")):
        said = read_signed(path, SiteStatement)
        if said.key in revoked:
            raise UserError(f"{path}: the key of {said.client} was revoked; ask for a new one (favor site key)")
        if owners.setdefault(said.key, said.client) != said.client:
            raise UserError(f"{path}: {said.client} has the key of {owners[said.key]}; every site makes its own")
        first = found.setdefault(said.client, {}).setdefault(said.key, (path, said))
        if first[1] != said:
            raise UserError(
                f"{path}: says something else than {first[0].name}; keep the file of the site that you know"
            )
    return {client: _chain(client, files) for client, files in found.items()}


def _chain(client: str, files: dict[str, tuple[Path, SiteStatement]]) -> KnownSite:
    """Return a site from its statements by key: the first, and each that a later one replaces."""
    waiting = dict(files)
    keys: list[str | None] = [None]
    words = {said.words for _, said in files.values()}
    while following := [key for key, (_, said) in waiting.items() if said.replaces == keys[-1]]:
        path, said = waiting.pop(following[0])
        if len(following) > 1:
            raise UserError(f"{path}: {client} has two keys; keep the file of the site that you know")
        if keys[-1] is not None and not is_signed(replacement(client, said.key), said.statement or "", keys[-1]):
            raise UserError(f"{path}: the old key of {client} did not sign the new one; ask for it by another way")
        keys.append(said.key)
    if waiting:
        path = next(iter(waiting.values()))[0]
        raise UserError(f"{path}: replaces a key of {client} that is not here; put back the site.json before it")
    if len(words) > 1:
        raise UserError(f"{path}: {client} says another number of words than before; it is said once")
    return KnownSite(tuple(key for key in keys if key is not None), words.pop())


def revoke(folder: Path, client: str) -> list[str]:
    """Set aside the statements of a client, and return their keys. Raises ``UserError`` for one that is not known."""
    known = known_sites(folder)
    if client not in known:
        raise UserError(f"{client}: has no key here; known: {', '.join(known) or 'none'}")
    (folder / REVOKED).mkdir(exist_ok=True)
    for path in sorted(folder.glob("[!.]*.json")):
        said = read_signed(path, SiteStatement)
        if said.client == client:
            path.rename(folder / REVOKED / f"{said.key[:16]}.json")
    return list(known[client].keys)
