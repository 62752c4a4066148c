"""What the documentation site holds beside the pages of docs/: pages of other folders, and pages made from the code.

MkDocs calls ``on_config``, ``on_files`` and ``on_page_markdown`` (https://www.mkdocs.org/user-guide/plugins/#events).
"""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "favor"
sys.path.insert(0, str(SOURCE.parent))

# Pages that stand elsewhere, where GitHub and Snakemake's catalogue look for them.
ELSEWHERE = {
    "configuration.md": "config/README.md",
    "benchmarks.md": "benchmarks/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}
# What a person who extends the workflow imports or declares.
PUBLIC = (
    "favor.federation.method",
    "favor.scores.metric",
    "favor.scores.inputs",
    "favor.tables.specs",
    "favor.figures.specs",
    "favor.encoders.base",
    "favor.corpora.posts",
    "favor.foundation.registry",
    "favor.foundation.parquet",
    "favor.foundation.seeds",
    "favor.statistics.bootstrap",
    "favor.statistics.paired",
    "favor.statistics.sign_flips",
    "favor.lm.lora",
)
ANY = "Any command: the configuration and its files"
# Folders of the package by the command that says their messages, in the order of the work.
COMMANDS = {
    ANY: ("config",),
    "favor init": ("config/starting",),
    "favor check and certify: texts and encoders": ("corpora", "demo", "encoders", "exports"),
    "favor plan and tune": ("plan", "forecast", "tuning"),
    "favor run": ("running", "federation", "inference", "lm", "scores", "studies", "statistics", "analysis"),
    "favor report": ("report", "tables", "figures"),
    "favor compare": ("report/comparison",),
    "favor score and voice": ("voice",),
    "favor site and server": ("sites",),
    "Exports and releases": ("publish",),
}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link to the project's public address, where ``pyproject.toml`` names one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.repo_url = project.get("urls", {}).get("Repository")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/, the style sheet and the script."""
    made = {page: (ROOT / path).read_text(encoding="utf-8") for page, path in ELSEWHERE.items()}
    made |= {"messages.md": messages_page(), "python.md": python_page()}
    made |= {
        name: Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("site.css", "iframe-worker.js")
    }
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links between folders at the site's pages. A link to a file that is not a page becomes its text."""
    folder = posixpath.dirname(ELSEWHERE.get(page.file.src_uri, f"docs/{page.file.src_uri}"))
    pages = {path: name for name, path in ELSEWHERE.items()}

    def moved(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in pages:
            return f"[{text}]({pages[path]}{anchor})"
        if path.startswith("docs/"):
            return f"[{text}]({path.removeprefix('docs/')}{anchor})"
        # What leads nowhere stays, so that MkDocs says so.
        return text if (ROOT / path).exists() else match[0]

    return _LINK.sub(moved, markdown)


def messages_page() -> str:
    """Return the page of refusals: every message of a ``UserError``, by the command that says it, folded."""
    found: dict[str, set[str]] = {command: set() for command in COMMANDS}
    for path in sorted(SOURCE.glob("*/**/*.py")):
        found[command_of(path.relative_to(SOURCE).as_posix())].update(messages(path))
    parts = [
        "# Messages\n\nEach error is one line that says what is wrong, where, and what to do. Words in braces stand "
        "for what the line names. Open a command, or search for the words that you see in yours. The page is made "
        "from the code.\n"
    ]
    for command, texts in found.items():
        lines = "\n".join(f"    - {text}" for text in sorted(texts))
        parts.append(f'## {command}\n\n??? note "{len(texts)} messages"\n\n{lines}\n')
    return "\n".join(parts)


def command_of(path: str) -> str:
    """Return the command whose messages a file of the package has: that of the longest folder around it."""
    folders = {folder: command for command, rooms in COMMANDS.items() for folder in rooms}
    around = [folder for folder in folders if path.startswith(f"{folder}/")]
    return folders[max(around, key=len)] if around else ANY


def messages(path: Path) -> Iterator[str]:
    """Yield the messages of the errors for users that a file raises, as Markdown.

    ``refuse(where, problem)`` of the configuration's checks raises one about a key, ``refuse(problem)`` about a file.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = dict(named_texts(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id == "UserError":
                text = template(node.args[0], constants)
            elif node.func.id == "refuse":
                *where, problem = (template(each, constants) for each in node.args)
                text = "".join(f"config key '{key}': " for key in where) + problem
            else:
                continue
            if len(re.sub(r"\{\w+\}|\W", "", text)) > 10:
                yield text


def named_texts(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the texts that a module gives a name, which its messages share."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


def template(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    """Return an expression of text with what is filled in as names in braces, but for ``constants``."""
    if isinstance(node, ast.Constant):
        return re.sub(r"([*_<>\[\]|])", r"\\\1", str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part, constants) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left, constants) + template(node.right, constants)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    if isinstance(inner, ast.Name) and inner.id in constants:
        return template(constants[inner.id], constants)
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
        return f"{template(inner.left, constants)}/{template(inner.right, constants)}"
    return f"{{{(filled_in(inner) or ['value'])[-1]}}}"


def filled_in(node: ast.expr) -> list[str]:
    """Return the names of the values in an expression, in their order: no functions, methods, modules or built-ins."""
    called = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    found = []
    for part in ast.walk(node):
        name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
            name = str(part.slice.value) if isinstance(part.slice.value, str) else ""
        if name and id(part) not in called and not name.startswith("__") and not hasattr(builtins, name):
            found.append(((part.end_lineno, part.end_col_offset), name.strip("_").lower()))
    return [name for _, name in sorted(found) if name]


def python_page() -> str:
    """Return the page of public classes and functions with their docstrings."""
    parts = [
        "# Python\n\nThe modules that you import or declare from when you extend the workflow. "
        "[Extending](extending.md) shows them at work.\n"
    ]
    for name in PUBLIC:
        tree = ast.parse((SOURCE.parent / (name.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
        parts.append(f"## `{name}`\n\n{described(tree)}\n")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                parts.append(f"### `{signature(node)}`\n\n{described(node)}\n")
                parts += fields(node)
    return "\n".join(parts)


def marked(text: str) -> str:
    """Return a docstring's text with its names as Markdown's code."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


def described(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> str:
    """Return a docstring as Markdown: names as code, and what it says of single fields or parameters as a list."""
    text = marked(ast.get_docstring(node) or "")
    if isinstance(node, ast.Module):
        return text
    if isinstance(node, ast.ClassDef):
        names = [ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign)]
    else:
        names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    if not names:
        return text
    one = f"`?(?:{'|'.join(names)})`?"
    found = re.compile(rf"(?:^|(?<=[.)]) |(?<=[.)])\n)({one}(?:(?:,| and) {one})*(?: \"\w+\")?): ", re.MULTILINE)
    return found.sub(lambda match: f"\n\n- `{match[1].replace('`', '')}`: ", text)


def signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Return the head of a definition without its types."""
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return f"{node.name}({', '.join(names)})"


def fields(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """Yield a class's fields and public methods, each as one line."""
    if isinstance(node, ast.ClassDef):
        yield "Declared as:\n" if any(isinstance(item, ast.AnnAssign) for item in node.body) else ""
        for item in node.body:
            if isinstance(item, ast.AnnAssign):
                default = f" = {ast.unparse(item.value)}" if item.value else ""
                yield f"- `{ast.unparse(item.target)}: {ast.unparse(item.annotation)}{default}`"
            elif isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                first = marked((ast.get_docstring(item) or "").partition("\n")[0])
                yield f"- `{signature(item)}` {first}"
        yield ""
