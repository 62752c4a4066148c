"""A base model's configuration, without its weights."""

from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.tokenizer import is_local


def load_configuration(source: str) -> Any:
    """Return the transformers configuration of a local folder or Hugging Face id.

    Raises ``UserError`` where there is none: a missing folder, a file that is not a configuration, an id out of reach.
    """
    from transformers import AutoConfig

    folder = Path(source).expanduser()
    if is_local(source) and not (folder / "config.json").is_file():
        raise UserError(f"model '{source}': {folder / 'config.json'} is missing; give the folder of a saved model")
    try:
        return AutoConfig.from_pretrained(folder if is_local(source) else source, trust_remote_code=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"model '{source}': its configuration cannot be read ({reason}); check the name, the file and the network"
        ) from None
