"""What edits of the real code change: the fingerprints of the rules whose results they can change, and no other."""

import ast
import inspect
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest

from favor.foundation.registry import CORPUS_READERS, ENCODER_KINDS, JUDGES, METRIC_FAMILIES, TABLES
from favor.running.invalidation.fingerprint import EXEMPT, source_code
from favor.running.invalidation.parts import TEXT_ERRORS

pytestmark = pytest.mark.slow(35)

# What jobs take of exempt modules and is more than a call that returns nothing, and why no result is made of it.
TAKEN = {
    "favor.foundation.errors.UserError": "ends the job",
    "favor.foundation.names.counted": "words of a message, and of the page of a check, which nothing reads",
    "favor.foundation.names.nearest": "words of a message",
    "favor.foundation.names.number_hint": "words of a message",
    "favor.foundation.names.printable": "labels rows in messages",
    "favor.foundation.names.shared_value": "whether a configuration is refused",
    "favor.running.devices.leases.lease": "which GPU a job computes on",
    "favor.running.devices.leases.SHARE": "how much of a GPU a job fills",
    "favor.running.devices.leases.WIDTHS": "where it is kept what fitted a GPU",
    "favor.running.folder.leftovers.is_truncated": "whether a judge's broken cache is asked for again",
    "favor.running.jobs.environment.latex_available": "whether there is a report.pdf",
    "favor.running.jobs.progress.Progress": "lines on the terminal; its methods return nothing",
}

# Scripts that load a plug-in by its name, and what they read of it (of a table, what its name is bound to).
LOADED = {
    "score": (METRIC_FAMILIES, "score"),
    "make_table": (TABLES, ""),
    "make_sweep_table": (TABLES, ""),
    "report": (TABLES, ""),
    "embed_generations": (ENCODER_KINDS, "load"),
    "embed_sources": (ENCODER_KINDS, "load"),
    "embed_transfer": (ENCODER_KINDS, "load"),
    "build_documents": (CORPUS_READERS, "read"),
    "judge": (JUDGES, "open_judge"),
}

SCRIPTS = sorted(path.stem for path in Path(__file__).parents[3].glob("workflow/scripts/*.py"))
LM = "src/favor/lm/settings.py"
GROUP = "    group_by_length: bool = key("  # a key of the section ``training``


def entry(registry, plugin, name) -> str:
    """What a rule names for the plug-in that its job loads."""
    return f"{registry.module(plugin)}:{name}" if name else registry.entry(plugin)


def all_fingerprints(root) -> dict[tuple[str, str], str]:
    """Return the fingerprint of every script, with each plug-in that it may load: (script, plug-in) -> digits."""
    source = source_code(root / "src")
    found = {}
    for script in SCRIPTS:
        registry, name = LOADED.get(script, (None, ""))
        for plugin in registry.names() if registry else [""]:
            modules = [entry(registry, plugin, name)] if registry else []
            found[script, plugin] = source.fingerprint(script, modules)
    return found


@pytest.fixture(scope="module")
def before(repository) -> dict[tuple[str, str], str]:
    return all_fingerprints(repository)


@pytest.fixture
def changed(repository, before, tmp_path) -> Callable[..., set[tuple[str, str]]]:
    """Edit files of a copy, each (file, old, new), and return the scripts whose fingerprints change."""
    for part in ("src/favor", "workflow/scripts"):
        shutil.copytree(repository / part, tmp_path / part, ignore=shutil.ignore_patterns("*.pyc"))

    def edit(*edits) -> set[tuple[str, str]]:
        for file, old, new in edits:
            path = tmp_path / file
            text = path.read_text()
            assert text.count(old) == 1, f"{file}: {text.count(old)} times {old!r}"
            path.write_text(text.replace(old, new))
        after = all_fingerprints(tmp_path)
        assert after.keys() == before.keys()
        return {script for script in before if after[script] != before[script]}

    return edit


def scripts_of(found) -> set[str]:
    return {script for script, _ in found}


# Edits that can change no result. They are made together: each alone would show in the same way.
HARMLESS = [
    ("src/favor/foundation/files.py", "free space or fix", "free disk space or fix"),
    (
        "src/favor/foundation/files.py",
        "def write_text(",
        "def new(path: Path) -> int:\n    return 1\n\n\ndef write_text(",
    ),
    ("src/favor/lm/memory_budget.py", "of the tokens at once,", "of the tokens in one pass,"),
    ("src/favor/lm/checks.py", "rounding = 1e-3", "rounding = 2e-3"),
    ("src/favor/lm/training.py", "GPU memory is short: stacks", "GPU memory ran short: stacks"),
    ("src/favor/lm/training.py", "import math\n", "import math\n\nX = 1\n"),
    ("src/favor/federation/methods/pfedme.py", "lambda_pfedme: float = 0.01", "lambda_pfedme: float = 0.02"),
    ("workflow/scripts/train_shared.py", '"""Train the shared', '"""Trains the shared'),
    (LM, "Largest gradient norm of a client;", "The largest norm of a client's gradient;"),
]


def test_what_cannot_change_a_result_changes_no_fingerprint(changed) -> None:
    assert scripts_of(changed(*HARMLESS)) == set()


TRAINING = {"train_shared", "train_personal"}
APART = {"pretrain_base", "train_asce", "build_documents", "embed_sources"}


@pytest.mark.parametrize(
    ("file", "old", "new", "some", "none"),
    [
        *(
            (LM, old, new, TRAINING, {*APART, "generate", "score", "make_table", "report"})
            for old, new in (  # a key of a section, and a default
                (GROUP, f"    unread: int = key(3, 'words')\n{GROUP}"),
                ("clip_norm: Positive = key(1.0", "clip_norm: Positive = key(2.0"),
            )
        ),
        (
            "src/favor/federation/method_names.py",
            'Method("pFedMe"',
            'Method("pfedme"',
            {"make_table", "report", "write_numbers"},
            {"train_shared", "aggregate", "generate", "score", "record_settings"},
        ),
        (
            "src/favor/statistics/bootstrap.py",
            "def auc_draws(",
            "def auc_draws(new=0, *, ",
            {"score", "score_transfer", "compare_methods"},
            {*TRAINING, "generate", "embed_generations", "make_table"},
        ),
        (
            "src/favor/lm/optimiser.py",
            "class AdamW",
            "class AdamW(object)",
            TRAINING,
            {"train_asce", "build_documents", "embed_sources", "generate", "score"},
        ),
    ],
)
def test_an_edit_changes_what_uses_the_definition_and_not_what_does_not(changed, file, old, new, some, none) -> None:
    found = scripts_of(changed((file, old, new)))
    assert some <= found
    assert not none & found


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("scores/copying.py", "LENGTH = 5", "LENGTH = 6", {("score", "copying")}),
        ("scores/mauve.py", "def score(", "def score(version=2, *, ", {("score", "mauve")}),
        (  # one table and no other of its file
            "tables/declarations/voice.py",
            '"Diversity and drift"',
            '"Diversity"',
            {(script, "diversity") for script in ("make_table", "make_sweep_table", "report")},
        ),
        # Meanings of columns are read by the bundle alone.
        ("foundation/schemas.py", '"training seed"', '"seed of training"', {("release", "")}),
    ],
)
def test_an_edit_changes_this_and_nothing_else(changed, file, old, new, expected) -> None:
    assert changed((f"src/favor/{file}", old, new)) == expected


@pytest.mark.parametrize(
    ("file", "old", "new", "scripts"),
    [
        (
            "studies/judges/schemas.py",
            'Column("reason",',
            'Column("extra", "string", "x"), Column("reason",',
            {"judge", "score_judges"},
        ),
        ("studies/human_audit/templates/page.js", "10000", "20000", {"make_2afc_page"}),
        ("report/templates/report/report.css", "18rem", "20rem", {"report"}),
        ("report/templates/gallery/gallery.html", "<h1>", "<h1 class='new'>", {"make_gallery"}),
        (
            "tables/templates/page.css",
            "max-width: 88rem",
            "max-width: 80rem",
            {"make_table", "make_sweep_table", "make_excerpts", "make_gallery", "report"},
        ),
    ],
)
def test_a_template_or_a_column_changes_what_is_made_of_it(changed, file, old, new, scripts) -> None:
    assert scripts_of(changed((f"src/favor/{file}", old, new))) == scripts


def test_the_modules_that_cannot_change_a_result_exist(repository) -> None:
    for module in EXEMPT:
        base = repository / "src" / module.replace(".", "/")
        assert base.with_suffix(".py").is_file() or (base / "__init__.py").is_file(), module


def taken_of_exempt_modules(root) -> set[str]:
    """Return what the parts that jobs reach name of exempt modules."""
    source = source_code(root / "src")
    found = set()
    for script in SCRIPTS:
        registry, read = LOADED.get(script, (None, ""))
        modules = [entry(registry, plugin, read) for plugin in registry.names()] if registry else []
        for name, part in source.reach(script, tuple(modules)):
            module = source.modules[name]
            for word in module.parts[part].words if part in module.parts else ():
                local, _, attribute = word.partition(".")
                for target in module.imports.get(local, ()):
                    dotted = f"{target}.{attribute}"
                    owner = next((each for each in EXEMPT if dotted.startswith(f"{each}.")), None)
                    found |= {f"{owner}.{dotted.removeprefix(f'{owner}.').split('.')[0]}"} if owner else set()
    return found


def hands_over(name) -> bool:
    """Whether something is more than a function that returns nothing, by its annotation."""
    module, _, attribute = name.rpartition(".")
    value = getattr(import_module(module), attribute)
    nothing = (None, Iterator[None], NoReturn)
    return not inspect.isfunction(value) or inspect.signature(value).return_annotation not in nothing


def test_what_is_exempt_hands_nothing_to_a_job(repository) -> None:
    """A function that no fingerprint holds returns nothing, so that no result can be made of what it says."""
    taken = taken_of_exempt_modules(repository)
    assert "favor.lm.checks.check_folder" in taken
    assert {*filter(hands_over, taken)} == TAKEN.keys()


def test_no_result_holds_the_words_of_an_error_that_are_left_out(repository) -> None:
    """Whoever catches such an error by a name raises another one with its words; nothing else is done with them."""
    kept = set()
    for path in (repository / "src/favor").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and node.name and node.type:
                caught = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)}
                if caught & {*TEXT_ERRORS, "Exception"} and not isinstance(node.body[-1], ast.Raise):
                    kept.add(f"{path.stem}:{ast.unparse(node.type)}")
    # These print the words and end the job, or a command, or fill the page of 'check' or of a voice, which nothing
    # reads. 'source' is of "favor init", which makes no result, 'server' prints which uploads are refused, and 'models'
    # refuses a configuration with them.
    printing = {
        *("job_log", "web_app", "readiness", "cli", "command_line", "variances", "report", "export", "source"),
        *("server", "models"),
    }
    assert kept == {*(f"{name}:UserError" for name in printing), "job_log:Exception"}
