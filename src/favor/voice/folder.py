"""The folder of one writer's voice: what is recorded of it, and the models that write in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities
from favor.foundation.files import is_local, read_json, write_json
from favor.foundation.gguf import is_gguf
from favor.foundation.section import Section
from favor.lm.base import BaseModel, open_base
from favor.lm.lora import LoraState
from favor.lm.peft_import import CONFIGURATION, import_peft
from favor.lm.resuming import Checkpoint
from favor.lm.settings import LoadedModel, Lora, Training
from favor.studies.tasks.requests import REQUESTS, Request

BASE, SHARED, OWN = "base", "shared", "own"
PREFIX_TOKENS = 16  # context alone at the start of a text, and the length of a prompt


class VoiceRecord(Section):
    """What a voice is trained from, which decides whether a started training goes on.

    ``base``: folder, GGUF file or Hugging Face id as it was given; ``base_digest``: of its bytes, None of an id.
    ``start``: where the shared adapter was found.
    ``digest``: of texts and shared adapter.
    """

    author: str
    task: Literal["continue", "rewrite", "instruct"] = "continue"
    consent: Literal["mine"]
    base: str
    base_digest: str | None = None
    model: LoadedModel
    start: str | None
    lora: Lora
    training: Training
    epochs: int
    seed: int
    digest: str

    @property
    def request(self) -> Request | None:
        """What the voice is asked; None of one that continues texts."""
        return REQUESTS.get(self.task)


class VoiceFolder:
    """The files of a voice, all of them private to the writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = path / "voice.json"  # what it is trained from (:class:`VoiceRecord`)
        self.texts = path / "texts.parquet"  # table ``client_texts``
        self.identities = FileIdentities(path / "base_identity.json")  # so that a base is not read for each command
        self.base = path / BASE  # the base model, where it was dequantised from a GGUF file
        self.drafts = path / "drafts.parquet"  # table ``voice_drafts`` of a voice that rewrites or is instructed
        self.checkpoint = Checkpoint(path / "pass.safetensors")  # the last whole pass of a training that has not ended
        self.log = path / "training_log.parquet"  # table ``training_log``
        self.continuations = path / "continuations.parquet"  # table ``voice_continuations``
        self.losses = path / "losses.parquet"  # table ``voice_losses`` of the writer's own texts
        self.report = path / "report.html"  # the page of ``favor voice report``
        self.summary = path / "report.json"  # what that page found, without a text

    def adapter(self, model: str) -> Path:
        """Return the folder of the adapter "shared" or "own", in PEFT's format."""
        return self.path / model

    def read_record(self) -> VoiceRecord:
        """Return the record. Raises ``UserError`` where there is none or it is damaged."""
        if not self.record.is_file():
            raise UserError(f"{self.path}: holds no voice; make one with 'favor voice train', or name it with --voice")
        found = read_json(self.record)
        if found.get("consent") != "mine":
            raise UserError(f"{self.record}: holds no consent of the writer; train again with --consent mine")
        try:
            return VoiceRecord.model_validate(found, strict=False)
        except ValidationError:
            raise UserError(f"{self.record}: of another version; delete {self.path} and train again") from None

    def check_trained(self, last: Path) -> None:
        """Check that a training made the file that it makes ``last``. Raises ``UserError``."""
        if not last.is_file():
            raise UserError(f"{self.path}: the training has not ended; run the same 'favor voice train' again")

    def write_record(self, record: VoiceRecord) -> None:
        """Write the record."""
        write_json(record.model_dump(mode="json"), self.record)
        self.identities.write()

    def base_digest(self, base: str) -> str | None:
        """Return what the base at a path is; None of a Hugging Face id. Raises ``UserError`` where nothing is there."""
        return self.identities.of(base) if is_local(base) or is_gguf(base) else None


@dataclass(frozen=True)
class VoiceModels:
    """A base model with the adapters of one voice by name: base (None), shared where there is one, own."""

    base: BaseModel
    lora: Lora
    states: Mapping[str, LoraState | None]


def open_models(folder: VoiceFolder, record: VoiceRecord) -> VoiceModels:
    """Load a trained voice. Raises ``UserError`` where it is not trained to its end, or the base is another one."""
    folder.check_trained(folder.adapter(OWN) / CONFIGURATION)
    if record.base_digest is not None and not is_gguf(record.base):  # of a GGUF file the voice has a copy
        if folder.base_digest(record.base) != record.base_digest:
            raise UserError(
                f"{record.base}: not the model that the voice in {folder.path} was trained on; put that one back, or "
                "train again in another folder (--voice)"
            )
        folder.identities.write()
    places = [folder.adapter(name) for name in (SHARED, OWN) if (folder.adapter(name) / CONFIGURATION).is_file()]
    found, lora = import_peft(places)
    states: dict[str, Any] = {BASE: None, **found}
    return VoiceModels(open_base(record.model, lora), lora, states)
