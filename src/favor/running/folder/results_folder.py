"""The results folder: which folders it may be, and what a start does in it before the first job."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from favor.foundation.errors import UserError
from favor.running.folder.leftovers import clear_leftovers, name_truncated
from favor.running.folder.occupancy import occupy, remove_stale_locks
from favor.running.folder.output_record import made_outputs

# What the checkout holds: a folder here that is not the results' own.
CHECKOUT_FOLDERS = {
    *(".ci", ".git", ".github", ".snakemake", ".venv", "benchmarks", "bridges", "config", "containers", "docs", "envs"),
    *("profiles", "src", "tests", "tools", "workflow"),
}
_CHOOSE = "choose another folder with the key 'results'."


def check_results_folder(results: Path, checkout: Path, inputs: Sequence[tuple[str, Path]]) -> None:
    """Refuse a results folder that holds more than results; nothing is made or changed.

    ``checkout`` is the folder of the Snakefile. ``inputs`` are the configuration keys that name a file or folder of
    the user, each with its path. Raises ``UserError`` where ``results`` is or contains the home, the checkout, the
    working folder or an input; where it is part of what the checkout holds; and where it cannot be a folder.
    """
    where = f"results folder '{results}'"
    try:
        for path in (results, *results.parents):
            if path.is_symlink() and not path.exists():
                raise UserError(f"{where}: '{path}' is a link to nothing. Remove it, or {_CHOOSE}")
            if path.exists() and not path.is_dir():
                raise UserError(f"{where}: '{path}' is a file, not a folder; {_CHOOSE}")
        folder = results.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # no permission, a null byte, links in a circle
        raise UserError(f"{where} cannot be used ({error}); {_CHOOSE}") from None
    checkout = checkout.resolve()
    for name, path in (("your home", Path.home()), ("the workflow", checkout), ("the working folder", Path.cwd())):
        if path.resolve().is_relative_to(folder):
            raise UserError(f"{where} is or contains {name} ({path}); {_CHOOSE}")
    for root in (checkout, Path.cwd().resolve()):
        inside = folder.relative_to(root).parts if folder.is_relative_to(root) else ()
        if inside and inside[0] in (CHECKOUT_FOLDERS if root == checkout else {".snakemake"}):
            raise UserError(f"{where} is in '{root / inside[0]}', which is not for results; {_CHOOSE}")
    for key, path in inputs:
        # A link that lies in the folder counts, and so does what it leads to.
        itself = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(results))
        if itself or path.resolve().is_relative_to(folder):
            raise UserError(f"config key '{key}': '{path}' lies in the {where}. Move it out, or {_CHOOSE}")


def require_writable(results: Path) -> None:
    """Make the results folder.

    Raises ``UserError`` naming it, or a folder with outputs on record, where it cannot be written to.
    """
    try:
        results.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=results).close()  # nameless: two starts at once do not meet
    except OSError as error:
        raise UserError(
            f"Cannot write to results folder '{results}' ({error.strerror}). Fix its permissions or {_CHOOSE}"
        ) from None
    for folder in sorted({path.parent for path in made_outputs(results)}):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"Cannot write to results folder '{folder}'. Fix its permissions.")


def open_results(results: Path, checkout: Path, inputs: Sequence[tuple[str, Path]], planning: bool) -> None:
    """Check the results folder and, unless ``planning``, hold it until this process ends and clear leftovers in it.

    Parameters as in :func:`check_results_folder`. Raises ``UserError`` where the folder is refused, cannot be written,
    or another run works in it.
    """
    check_results_folder(results, checkout, inputs)
    if planning:
        name_truncated(results)
        return
    require_writable(results)
    alone = occupy(results)
    if alone:
        remove_stale_locks(Path(".snakemake", "locks"), str(results))
    clear_leftovers(results, alone)
