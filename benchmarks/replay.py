"""What each of the last commits makes again: the fingerprints of jobs at a commit beside those at its parent.

Prints a line per commit that changes one, with the definitions that differ, and how many commits change each rule.
Whether a commit changes numbers is for you to read. Fingerprints are those of today's code, of every commit's files.
"""

import argparse
import io
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from favor.foundation.errors import UserError
from favor.running.invalidation.fingerprint import EXEMPT, PRELOADED, REFUSED, SourceCode
from favor.running.invalidation.parts import SCRIPT, Module, read_module

ROOT = Path(__file__).resolve().parents[1]
CODE = ("src/favor", "workflow/scripts")
# Rules whose jobs take most of a run's time, and the module that they load by name.
RULES = {
    **dict.fromkeys(("build_documents", "pretrain_base", "train_asce", "train_shared", "aggregate", "train_personal")),
    "generate": None,
    "embed_generations": "favor.encoders.kinds.asce:load",
}


def git(*arguments: str) -> bytes:
    """Return what a command of Git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


@cache
def module(name: str, blob: str) -> Module | None:
    """Return a module whose text is the object ``blob``; None for broken syntax."""
    with tempfile.NamedTemporaryFile(suffix=".py") as file:
        Path(file.name).write_bytes(git("cat-file", "blob", blob))
        found = read_module(name, Path(file.name))
    return None if found.problem else found


def modules_of(commit: str) -> Iterator[tuple[str, Module]]:
    """Yield the modules of the package and the scripts at a commit by name."""
    for line in git("ls-tree", "-r", commit, *CODE).decode().splitlines():
        (_, _, blob), path = line.split("\t")[0].split(), Path(line.split("\t")[1])
        own = path.is_relative_to("src")
        name = ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__") if own else f"{SCRIPT}{path.stem}"
        if path.suffix == ".py" and (found := module(name, blob)):
            yield name, found


@cache
def fingerprints(commit: str, rules: tuple[str, ...]) -> dict[str, tuple[str, dict[str, str]]]:
    """Return by rule the fingerprint of its script at a commit and the digests of the definitions that it reaches."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, *CODE))) as archive:
            archive.extractall(folder, filter="data")
        source = SourceCode(Path(folder) / "src", dict(modules_of(commit)))
        found = {}
        for rule in rules:
            named = [name for name in (RULES[rule], PRELOADED, PRELOADED.replace(".jobs", "")) if name]
            there = [
                name for name in named if (source.root / f"{name.partition(':')[0].replace('.', '/')}.py").is_file()
            ]
            if f"{SCRIPT}{rule}" in source.modules:
                try:
                    found[rule] = source.fingerprint(rule, there), source.reached(rule, there)
                except UserError as error:
                    raise SystemExit(f"{commit}: {error}") from None
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commits", type=int, default=150, help="how many, merges left out (150)")
    parser.add_argument("--to", default="HEAD", help="the last of them (HEAD)")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES))
    arguments = parser.parse_args()
    rules, changed = tuple(arguments.rules), Counter[str]()
    REFUSED.clear()  # what is refused today stood in older code, which is compared all the same
    # The room 'running' had no folders once: what cannot change a result could not before it moved.
    EXEMPT.update({f"favor.running.{name.split('.')[-1]}": why for name, why in EXEMPT.items() if ".running." in name})
    for line in (
        git("log", "--no-merges", f"-{arguments.commits}", "--format=%H %P %s", arguments.to).decode().splitlines()
    ):
        commit, parent, subject = line.split(" ", 2)
        before, after = fingerprints(parent, rules), fingerprints(commit, rules)
        different = [rule for rule in rules if rule in before and rule in after and before[rule][0] != after[rule][0]]
        changed.update(different)
        if different:
            print(f"{commit[:8]} {subject}\n  {', '.join(different)}", flush=True)
            old, new = ({item for rule in different for item in side[rule][1].items()} for side in (before, after))
            print(*(f"    {name}" for name in sorted({name for name, _ in old ^ new})), sep="\n")
    print(*(f"{rule}: {changed[rule]} of {arguments.commits} commits" for rule in rules), sep="\n")


if __name__ == "__main__":
    main()
