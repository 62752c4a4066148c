"""What can be wrong with the keys of a base model, of generation, of an encoder or of an assistant classifier."""

from pathlib import Path

from favor.encoders.settings import Assistant, Encoder
from favor.foundation.errors import UserError
from favor.foundation.gguf import read_header
from favor.foundation.names import printable
from favor.foundation.section import refuse
from favor.lm.settings import Decoding, LanguageModel

# The projections of the Qwen2 models that are pretrained here.
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def check_model(model: LanguageModel, where: str) -> None:
    """Check what concerns this model alone. Raises ``UserError`` that names the key."""
    if (model.source is None) == (model.pretrain is None):
        refuse(where, "give either 'source' or 'pretrain'")
    if model.gguf is not None:
        # A file that is not there stops the start of a run, not the reading of a configuration.
        if Path(model.gguf).exists():
            try:
                read_header(model.gguf)
            except UserError as error:
                refuse(f"{where}.source", str(error))
    elif model.source is not None and model.source.startswith((".", "/", "~")):
        folder = Path(model.source)
        if not (folder / "config.json").is_file():
            refuse(f"{where}.source", f"no model in {folder} (config.json is missing); correct the path")
    for key, divisor in (("hidden_size", "heads"), ("heads", "key_value_heads")) if model.pretrain is not None else ():
        number, parts = getattr(model.pretrain, key), getattr(model.pretrain, divisor)
        if number % parts:
            refuse(f"{where}.pretrain.{key}", f"{number} is not a multiple of '{divisor}', {parts}; change one")


def check_generation(generation: Decoding, where: str) -> None:
    """Check that what sampling needs is set. Raises ``UserError`` that names the key."""
    if generation.temperature == 0 and generation.samples > 1:
        refuse(
            f"{where}.samples",
            f"without 'temperature' all {generation.samples} continuations would be equal; set that too",
        )
    if generation.temperature == 0 and generation.top_p < 1:
        refuse(f"{where}.top_p", "works only with 'temperature'; set that too")
    if generation.top_p == 0:
        refuse(f"{where}.top_p", "leaves no token to draw; raise it")


def check_encoder(encoder: Encoder, where: str) -> None:
    """Check what concerns this encoder alone. Raises ``UserError`` that names the key."""
    for kind, name, made in (("asce", "training", encoder.training), ("stylometry", "fitting", encoder.fitting)):
        made_here = encoder.kind == kind and "folder" not in encoder.options
        if made_here and made is None:
            refuse(f"{where}.{name}", f"an encoder of kind {kind} needs it, unless options.folder names one")
        if made is not None and not made_here:
            refuse(f"{where}.{name}", f"only an encoder of kind {kind} without options.folder has it; remove it")
    if encoder.training is not None and (encoder.source is None) == (encoder.training.small is None):
        refuse(where, "give either 'source' or 'training.small' as the backbone")


def check_assistant(assistant: Assistant, where: str) -> None:
    """Check what concerns this classifier alone. Raises ``UserError`` that names the key."""
    if (assistant.path is None) == (assistant.demo is None):
        refuse(where, "give either 'path' (assistant texts) or 'demo'")
    if assistant.path is not None and not Path(assistant.path).exists():
        refuse(f"{where}.path", f"{printable(assistant.path)} does not exist; correct the path")
    if (assistant.source is None) == (assistant.training.small is None):
        refuse(where, "give either 'source' or 'training.small' as the backbone")
