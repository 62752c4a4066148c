"""A judge on this machine: greedy, with the model's own chat template where it has one."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.lm.conftest import random_model
from tests.studies.judges.judge_server import outputs

from favor.foundation.errors import UserError
from favor.lm.settings import AskedModel
from favor.studies.judges.asking import AnswerCache, Question, judge_all
from favor.studies.judges.design import design_requests
from favor.studies.judges.local import LocalJudge
from favor.studies.settings import JudgementDesign, LocalModel

TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}>{% endif %}"
)
ASKED = Question("quality", "quality_00001", 1, "rate", "a text", 0, "digest")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A saved Qwen2 of random weights with a context of 1,024 tokens."""
    place = tmp_path_factory.mktemp("judge")
    random_model(place, ["rate the text, please, from one to five"] * 3, 3, max_position_embeddings=1024)
    return place


def judge(folder, answer_tokens=12) -> Any:
    base = AskedModel(source=str(folder), device="cpu", dtype="float32")
    return LocalJudge(LocalModel(title="Tiny", base=base), answer_tokens)


@pytest.fixture
def requests() -> pd.DataFrame:
    """Two requests for ratings, of few tokens."""
    methods = ["favor", "ditto"]
    design = JudgementDesign(methods=methods, voice=None, judgements=1)
    made, _ = design_requests(design, *outputs(methods, seeds=(1,), clients=1))
    return made.assign(system="rate", user=["one", "two"])


@pytest.fixture(params=[None, TEMPLATE])
def template(request, folder) -> Iterator[str | None]:
    """The folder's tokenizer without and with a chat template."""
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "chat_template": request.param}))
    yield request.param
    path.write_text(json.dumps(settings))


def test_it_answers_as_the_library_does_greedily(folder, template) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    answer = judge(folder).ask(ASKED)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = "rate\n\na text\n\n" if template is None else "[system] rate\n[user] a text\n>"
    ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    reference = AutoModelForCausalLM.from_pretrained(folder)
    tokens = reference.generate(ids, max_new_tokens=12, do_sample=False)[0, ids.shape[1] :]
    assert answer.content == tokenizer.decode(tokens, skip_special_tokens=True)
    assert answer.input_tokens == ids.shape[1]
    assert answer.output_tokens == 12
    assert answer.finish == "length"


def test_a_request_that_does_not_fit_is_refused_with_a_remedy(folder) -> None:
    with pytest.raises(UserError, match="name another as studies"):
        judge(folder, answer_tokens=1020).ask(ASKED)


def test_a_model_that_cannot_judge_leaves_every_judgement_missing(folder, requests, tmp_path) -> None:
    table = judge_all(judge(folder), requests, AnswerCache(tmp_path), 10, 12)
    assert table["reason"].str.contains("cut at its longest length").all()
    assert set(table["judge"]) == {"Tiny"}


def test_answers_of_other_weights_or_another_template_are_not_taken_for_its_own(folder, requests, tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    def answers(place) -> int:
        cache = AnswerCache(tmp_path / "answers")
        judge_all(judge(place), requests, cache, 10, 12)
        return len(cache.answers)

    copy = shutil.copytree(folder, tmp_path / "model")
    first = answers(copy)
    assert answers(copy) == first > 0  # the same judge asks nothing twice
    weights = load_file(copy / "model.safetensors")
    save_file({name: 0.5 * weight for name, weight in weights.items()}, copy / "model.safetensors", {"format": "pt"})
    second = answers(copy)
    assert second > first
    path = copy / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "chat_template": TEMPLATE}))
    assert answers(copy) > second
