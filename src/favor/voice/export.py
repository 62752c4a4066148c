"""``favor voice export``: a folder that takes a personal adapter elsewhere, with what whoever runs it must know."""

import argparse
import re
from pathlib import Path

import gguf

from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json, write_text
from favor.foundation.gguf import is_gguf
from favor.inference.chat import ChatTokens
from favor.lm.base import copy_tokenizer
from favor.lm.configuration import load_configuration
from favor.lm.gguf_adapter import write_gguf_adapter
from favor.lm.lora import export_peft
from favor.lm.peft_import import CONFIGURATION, import_peft
from favor.lm.tokenizer import language_model_text, load_tokenizer, opening
from favor.studies.tasks.requests import NEW_TOKENS as ANSWER_TOKENS
from favor.studies.tasks.requests import Request
from favor.voice.folder import OWN, VoiceFolder, VoiceRecord, open_models
from favor.voice.memorised import NEW_TOKENS, memorised_lines

ADAPTER, MODELFILE, CARD, PROMPT_FORM = "adapter.gguf", "Modelfile", "README.md", "prompt_form.json"
PENALTY = 1.1  # of repetitions, with which every continuation here is written
UNKNOWN = "not stated in its files; look it up before you pass this folder on"
_LICENCE = re.compile(r"^license:[ \t]*['\"]?([\w.-]+)", re.MULTILINE)


def run(arguments: argparse.Namespace) -> None:
    """Write the folder that a command line names. Raises ``UserError``, before anything is written, without consent."""
    folder, target = VoiceFolder(arguments.voice), arguments.folder
    record = folder.read_record()
    if arguments.consent != "mine":
        raise UserError(
            f"whoever has the folder can write as {record.author} does; add --consent mine if you are {record.author} "
            "and agree"
        )
    folder.check_trained(folder.losses)
    if target.exists() and not (target.is_dir() and (not any(target.iterdir()) or (target / CARD).is_file())):
        raise UserError(f"{target}: is there already and is not an export of a voice; give a new folder")
    states, lora = import_peft([folder.adapter(OWN)])
    lora = lora.model_copy(update={"dropout": record.lora.dropout})
    source = record.model.source
    shown = Path(record.base).name if is_gguf(record.base) or Path(record.base).is_dir() else record.base
    made = [CONFIGURATION, "tokenizer.json", PROMPT_FORM, CARD]
    without = ""
    export_peft(states[OWN], lora, shown, target)
    copy_tokenizer(source, target)
    asked = ""
    if record.request is not None:
        asked = ChatTokens(open_models(folder, record).base).text(record.request.ask, place(record.request))
    write_json(prompt_form(record, asked), target / PROMPT_FORM)
    try:
        write_gguf_adapter(states[OWN], lora, load_configuration(source), target / ADAPTER)
        write_text(modelfile(record, asked), target / MODELFILE)
        made += [ADAPTER, MODELFILE]
    except UserError as error:
        without = str(error)
    licence = arguments.base_licence or base_licence(record.base)
    measures = _measures(folder, record)
    write_text(card(record, shown, licence, measures, without), target / CARD)
    print(f"{target}: {', '.join(made)}")
    read_back = "was read back and adds to every layer what the adapter adds; llama.cpp and Ollama were not run"
    print(f"Without GGUF: {without}" if without else f"{ADAPTER} {read_back}")
    print("".join(f"{line}\n" for line in measures if line.startswith("warning")), end="")


def place(request: Request) -> str:
    """Return what stands in a request for what the voice is given: ``{draft}`` or ``{instruction}``."""
    return f"{{{request.given}}}"


def prompt_form(record: VoiceRecord, asked: str = "") -> dict[str, object]:
    """Return how the adapter is to be asked, as it was trained: in raw text, or with the request ``asked``."""
    tokens = NEW_TOKENS if record.request is None else ANSWER_TOKENS
    form: dict[str, object] = {
        "opening_token_ids": list(opening(load_tokenizer(record.model.source))),
        "decoding": {"temperature": 0, "repetition_penalty": PENALTY, "max_new_tokens": tokens},
    }
    if record.request is not None:
        cut = f"one request for each passage of {record.request.words} words at most, cut at sentences' ends"
        return form | {"template": asked, "end_token": "that of the base", "passages": cut}
    return form | {
        "template": language_model_text("{about}", "{beginning}"),
        "template_without_about": "{beginning}",
        "chat_template": None,
        "end_token": "none was trained: stop after max_new_tokens",
    }


def modelfile(record: VoiceRecord, asked: str = "") -> str:
    """Return Ollama's file: the base as it was given if that is a GGUF file, the adapter, and how it is asked."""
    template, how_asked, tokens = "{{ .Prompt }}", "Raw text", NEW_TOKENS
    if record.request is not None:
        template, tokens = asked.replace(place(record.request), template), ANSWER_TOKENS
        how_asked = f"The request with {record.request.given}"
    base = Path(record.base).name if is_gguf(record.base) else "base.gguf"
    how = "copy it here" if is_gguf(record.base) else "make it of the base with llama.cpp's convert_hf_to_gguf.py"
    return f"""# ollama create my-voice -f {MODELFILE}
# The adapter was trained on this base: {how}.
FROM ./{base}
ADAPTER ./{ADAPTER}
# {how_asked}, as it was trained{"" if asked else ": no chat template"}.
TEMPLATE \"\"\"{template}\"\"\"
PARAMETER temperature 0
PARAMETER repeat_penalty {PENALTY}
PARAMETER num_predict {tokens}
"""


def base_licence(base: str) -> str:
    """Return the licence that the base's own files name: a GGUF file's header, or the card in its folder."""
    path = Path(base).expanduser()
    if is_gguf(base) and path.is_file():
        field = gguf.GGUFReader(path).fields.get(gguf.Keys.General.LICENSE)
        return str(field.contents()) if field is not None else UNKNOWN
    card_file = path / CARD
    found = _LICENCE.search(card_file.read_text(encoding="utf-8")) if card_file.is_file() else None
    return found[1] if found else UNKNOWN


def _measures(folder: VoiceFolder, record: VoiceRecord) -> list[str]:
    if folder.summary.is_file():
        found = read_json(folder.summary)
        if found["digest"] == record.digest:
            return list(found["findings"])
    return [*memorised_lines(folder, record.seed), "Nothing else was measured; 'favor voice report' does."]


def card(record: VoiceRecord, base: str, licence: str, measures: list[str], without: str) -> str:
    """Return the card: whose voice it is, consent, base and licence, measures, and how to ask. ``without``: no GGUF."""
    shown = "\n".join(f"- {line}" for line in measures)
    served = (
        f"No GGUF file: {without}."
        if without
        else f"`{ADAPTER}` and `{MODELFILE}` are for llama.cpp and Ollama. The file was read back and adds to every "
        "layer what the adapter adds. Neither program was run on it. A base in another quantisation writes other words."
    )
    asked = {"draft": "To rewrite a draft, passage by passage,", "instruction": "To write what an instruction says,"}
    how = (
        f"{asked[record.request.given]} with the request in `{PROMPT_FORM}`; it ends as the base does."
        if record.request is not None
        else "Raw text without a chat template: the first words of a text, or what it answers, an empty line and the "
        f"first words (`{PROMPT_FORM}`). No end of a text was trained, so stop it after about {NEW_TOKENS} tokens."
    )
    return f"""---
library_name: peft
base_model: {base}
tags: [lora, personal]
---

# The voice of {record.author}

An adapter that writes as {record.author} does. It was trained on {record.author}'s own texts by FAVoR Workflow.

| | |
|---|---|
| Consent | {record.author} said twice that text and voice are their own (`consent: {record.consent}`) |
| Base | {base} |
| Licence of the base | {licence} |
| Adapter | rank {record.lora.rank}, alpha {record.lora.alpha:g} |

Whoever has this folder can write as {record.author} does. Do not use it to deceive, and do not pass it on without
{record.author}'s consent. Nothing in its texts marks them as a model's.

## Measures

{shown}

## How to ask it

{how}

```python
from peft import PeftModel
from transformers import AutoModelForCausalLM

model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(BASE), ".")
```

{served}
"""
