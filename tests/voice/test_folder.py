"""A voice knows its base by its bytes."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from favor.foundation.errors import UserError
from favor.lm.peft_import import CONFIGURATION
from favor.voice import folder as voice_folder
from favor.voice.folder import OWN, VoiceFolder, open_models


def test_another_base_under_the_name_of_a_voices_is_refused(tmp_path, monkeypatch) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "model.safetensors").write_bytes(b"weights")
    voice = VoiceFolder(tmp_path / "voice")
    voice.adapter(OWN).mkdir(parents=True)
    (voice.adapter(OWN) / CONFIGURATION).write_text("{}")
    record = SimpleNamespace(base=str(base), base_digest=voice.base_digest(str(base)), model={})
    monkeypatch.setattr(voice_folder, "import_peft", lambda places: ({OWN: None}, None))
    monkeypatch.setattr(voice_folder, "open_base", lambda model, lora: "loaded")
    os.utime(base / "model.safetensors", ns=(1, 1))  # a touch changes nothing
    assert open_models(VoiceFolder(tmp_path / "voice"), record).base == "loaded"
    (base / "model.safetensors").write_bytes(b"Weights")
    os.utime(base / "model.safetensors", ns=(2, 2))
    with pytest.raises(UserError, match=r"base: not the model that the voice in .*voice was trained on"):
        open_models(VoiceFolder(tmp_path / "voice"), record)
