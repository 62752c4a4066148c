"""A wrong configuration ends in one clear line that names its key, before any job."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from favor.config.availability import to_fetch
from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.foundation.errors import UserError
from favor.plan import Planner


def refusal(path) -> str:
    """What the start of a run says of a configuration, in the order in which it looks."""
    with pytest.raises(UserError) as caught:
        to_fetch(Planner(resolve(read_files([path])), Path.cwd()).config)
    return str(caught.value)


@pytest.fixture
def micro(repository, tmp_path) -> Path:
    """A copy of the micro configuration."""
    return Path(shutil.copy(repository / "tests" / "data" / "micro.yaml", tmp_path / "micro.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{ learning_rate: 0.002, accumulation",
            "{ learning_rat: 0.002, accumulation",
            "did you mean 'learning_rate'?",
        ),
        ("rounds: 2", "rounds: 2, rounds: 3", "'experiments.micro.federation.rounds' is given twice; remove one"),
        ("rounds: 2", "rounds: two", "'experiments.micro.federation.rounds': expected integer, found 'two'"),
        ("clients_per_round: 2", "clients_per_round: 9", "9 clients per round, but only 4 clients"),
        ("prefix_tokens: 16", "prefix_tokens: 500", "does not fit the model's context of 128"),
        (
            "      favor: {}\n",
            "      favor: { lambda_aling: 1 }\n",
            "'experiments.micro.methods.favor.lambda_aling'; did you mean 'lambda_align'?",
        ),
        (
            "      favor: {}\n",
            "      favor: { lambda_align: 1e-3 }\n",
            "expected float, found '1e-3'; YAML reads 2e-4 as text, write 2.0e-4",
        ),
        (
            "    evaluation:\n",
            "    evaluation:\n      scores: { verification: { variants: abc } }\n",
            "'experiments.micro.evaluation.scores.verification.variants': expected list, found 'abc'",
        ),
        (
            "model: embedded-minilm, layer",
            "model: ./no/such/folder, layer",
            "'experiments.micro.evaluation.bertscore.model': there is no folder './no/such/folder'",
        ),
        ("lora: { rank", "lora: { target_modules: [q_prj], rank", "did you mean 'q_proj'?"),
        ("lora: { rank", "lora: { target_modules: [q_proj, q_proj], rank", "names something twice"),
        ("demo: { authors:", "path: missing.csv\n    demo: null # { authors:", "missing.csv does not exist"),
        (
            "    pretrain:\n      corpus: micro",
            "    source: ./no-such-model\n    pretrain: null\n  unused:\n    pretrain:\n      corpus: micro",
            "no-such-model",
        ),
    ],
)
def test_a_wrong_configuration_is_refused(micro, old, new, message) -> None:
    text = micro.read_text()
    assert text.count(old) == 1, old
    micro.write_text(text.replace(old, new))
    found = refusal(micro)
    assert message in found
    assert len(found.splitlines()) == 1


def test_a_configuration_without_a_corpus_path_says_how_to_give_one(repository) -> None:
    assert "--config corpus_path=" in refusal(repository / "config" / "blogtext.yaml")
