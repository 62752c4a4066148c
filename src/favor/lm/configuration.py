"""A base model's configuration, without its weights."""

from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import is_local
from favor.foundation.received import Received, received_json


class BaseConfiguration(Received, extra="allow"):
    """What is read of a model's ``config.json`` before transformers reads all of it."""

    model_type: str | None = None
    max_position_embeddings: int | None = None
    num_hidden_layers: int | None = None
    quantization_config: dict[str, Any] | None = None
    rope_parameters: dict[str, Any] | None = None
    rope_scaling: dict[str, Any] | None = None
    original_max_position_embeddings: int | None = None


def local_configuration(folder: str | Path) -> BaseConfiguration:
    """Return the ``config.json`` of a model's folder. Raises ``UserError`` where it is missing or of another form."""
    path = Path(folder).expanduser() / "config.json"
    return received_json(path, BaseConfiguration, "give the folder of a saved model", links=True)


def load_configuration(source: str) -> Any:
    """Return the transformers configuration of a local folder or Hugging Face id.

    Raises ``UserError`` where there is none: a missing folder, a file that is not a configuration, an id out of reach.
    """
    from transformers import AutoConfig

    folder = Path(source).expanduser()
    if is_local(source):
        if not (folder / "config.json").is_file():
            raise UserError(f"model '{source}': {folder / 'config.json'} is missing; give the folder of a saved model")
        local_configuration(folder)
    try:
        return AutoConfig.from_pretrained(folder if is_local(source) else source, trust_remote_code=False)
    except Exception as error:  # each of its classes checks its own keys, and raises whatever it stumbles over
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"model '{source}': its configuration cannot be read ({reason}); check the name, the file and the network"
        ) from None
