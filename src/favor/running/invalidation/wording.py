"""Words that only the user reads: what errors and messages are given, and variables that hold nothing else."""

import ast

from favor.running.invalidation.syntax import dotted

# Errors whose words only the user reads. Those of other errors may be kept as a result, such as a judge's bad answer.
TEXT_ERRORS = {"UserError", "ValueError"}
# Calls whose words go to the terminal and the log.
MESSAGES = {"Progress", "warnings.warn"}
# Methods that put words together. What other calls in a message are given counts: they may have effects.
WORDING = {"format", "get", "join"}


def is_wording(node: ast.expr) -> bool:
    """Whether an argument of an error is written out where the error is raised."""
    if isinstance(node, ast.BinOp):
        return is_wording(node.left) or is_wording(node.right)
    if isinstance(node, ast.IfExp):
        return is_wording(node.body) and is_wording(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def message_variables(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Variables of a function that are only assigned words and only handed to errors and messages."""
    worded: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and len(one.targets) == 1:
            worded |= {one.targets[0].id} if is_wording(one.value) else set()
    said: set[int] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and ".".join(dotted(one.func)) in TEXT_ERRORS:
            said |= {id(each) for each in one.args if isinstance(each, ast.Name)}
            said |= {id(part) for each in one.args if is_wording(each) for part in ast.walk(each)}
        elif isinstance(one, ast.Assign) and is_wording(one.value):
            said |= {id(each) for each in one.targets}
    others = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in said}
    return frozenset(worded - others)


def to_stderr(keyword: ast.keyword) -> bool:
    """Whether an argument of ``print`` sends its words to the terminal."""
    return keyword.arg == "file" and dotted(keyword.value) == ("sys", "stderr")
