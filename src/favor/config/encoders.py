"""What can be wrong with the keys of an encoder or an assistant classifier."""

from pathlib import Path

from favor.encoders.settings import Assistant, Encoder
from favor.foundation.names import printable
from favor.settings.section import refuse


def check_encoder(encoder: Encoder, where: str) -> None:
    """Check what concerns this encoder alone. Raises ``UserError`` that names the key."""
    for kind, name, made in (("asce", "training", encoder.training), ("stylometry", "fitting", encoder.fitting)):
        made_here = encoder.kind == kind and "folder" not in encoder.options
        if made_here and made is None:
            refuse(
                f"{where}.{name}",
                f"an encoder of kind {kind} needs it, unless options.folder names one",
            )
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
