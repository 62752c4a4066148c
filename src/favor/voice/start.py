"""Where a personal adapter begins: a shared adapter of a finished run, or one in PEFT's format."""

from pathlib import Path

from pydantic import ValidationError

from favor.foundation.errors import UserError
from favor.foundation.files import read_json
from favor.foundation.tensors import read_safetensors
from favor.lm.lora import LoraState, from_arrays
from favor.lm.peft_import import CONFIGURATION, import_peft
from favor.lm.settings import Lora

WEIGHTS = "adapter.safetensors"  # of a server, in a results folder
SETTINGS = "settings.json"  # of an experiment there


def read_start(path: Path) -> tuple[LoraState, Lora]:
    """Return the adapter in a folder, and its settings.

    ``path``: in PEFT's format, or the folder ``server/roundN`` of a shared track of a finished run, whose settings are
    in its experiment's ``settings.json``. Raises ``UserError`` for any other folder, and names the shared adapters of
    the last rounds where ``path`` is a results folder or an experiment's.
    """
    if (path / CONFIGURATION).is_file():
        states, lora = import_peft([path])
        return states[path.name], lora
    if not (path / WEIGHTS).is_file():
        raise UserError(f"{path}: holds no {CONFIGURATION} and no {WEIGHTS}; {_others(path)}")
    state, _ = read_safetensors(path / WEIGHTS)
    if not all(".lora_" in name and "/" not in name for name in state):
        raise UserError(f"{path}: its method's adapter does not work alone; give another method's")
    for parent in path.resolve().parents:
        if (parent / SETTINGS).is_file():
            try:
                lora = Lora.model_validate(read_json(parent / SETTINGS)["experiment"]["lora"], strict=False)
            except (KeyError, TypeError, ValidationError):
                continue
            return from_arrays(state), lora
    raise UserError(
        f"{path}: no folder around it has the {SETTINGS} of its experiment, which holds rank and alpha; finish the "
        "run, or give an adapter in PEFT's format"
    )


def _others(path: Path) -> str:
    last: dict[Path, Path] = {}
    for found in path.glob("**/shared/*/server/round*/" + WEIGHTS):
        rounds = found.parent.parent
        last[rounds] = max(last.get(rounds, found.parent), found.parent, key=_round)
    if not last:
        return "give the folder of an adapter"
    names = sorted(map(str, last.values()))
    return f"give one of its shared adapters: {', '.join(names[:4])}{f' and {len(names) - 4} more' * (len(names) > 4)}"


def _round(folder: Path) -> int:
    number = folder.name.removeprefix("round")
    return int(number) if number.isdecimal() else -1
