"""An experiment whose models rewrite: requests by the base, training on them, generation, scores and tables."""

import pytest

from favor.corpora.schemas import PROMPTS
from favor.federation.schemas import GENERATIONS, REQUESTS, TRAINING_LOG
from favor.foundation.parquet import read_parquet
from favor.inference.chat import ChatTokens
from favor.lm.base import load_base
from favor.scores.schemas import SCORES
from favor.studies.tasks.requests import REQUESTS as KINDS
from tests.workflow.conftest import Project, copy_project
from tests.workflow.traced import unforeseen

pytestmark = pytest.mark.slow(29)

ARGUMENTS = ("--configfile", "tasks.yaml", "--")
OUT = "results/rewriting"
# A base of ten thousand tokens follows no request, so its drafts are made by hand: words in the order of the alphabet,
# and every fifth as it was.
ASKED = (
    'made = ask(base, Lora(), {"base": None}, request.system, [request.make + passage for passage in passages])["base"]'
)
BY_HAND = 'made = [(text if n % 5 == 0 else " ".join(sorted(text.split())), True) for n, text in enumerate(passages)]'


@pytest.fixture(scope="module")
def rewriting(repository, tmp_path_factory) -> Project:
    project = copy_project(repository, tmp_path_factory.mktemp("tasks") / "project", "tasks.yaml", traced=True)
    project.edit("src/favor/studies/tasks/drafting.py", ASKED, BY_HAND)
    project.snakemake(*ARGUMENTS, f"{OUT}/tables/task-results.html")
    return project


def test_models_are_trained_on_requests_and_asked_held_out_ones(rewriting) -> None:
    folder = rewriting.folder / OUT
    requests = read_parquet(folder / "clients" / "requests.parquet", REQUESTS)
    assert (requests["refused"] == "copied").sum() > 0
    good = requests[requests["refused"] == ""]
    base, request = load_base(str(folder.parent / "models" / "tiny" / "base"), device="cpu"), KINDS["rewrite"]
    for row in good.itertuples():
        assert row.draft == " ".join(sorted(row.text.split()))
        assert list(row.prompt_tokens) == ChatTokens(base).encode(request.ask, row.draft)
        assert list(row.answer_tokens) == [*base.tokenizer.encode(row.text), base.end_ids[0]]
    prompts = read_parquet(folder / "seed1" / "prompts.parquet", PROMPTS)
    asked = good[good["split"] == "test"].set_index("draft")
    assert prompts.groupby("client").size().between(1, 2).all()
    assert prompts["client"].nunique() == 4
    for prompt in prompts.itertuples():
        row = asked.loc[prompt.prompt_text]
        assert (row["client"], row["document_id"], row["text"]) == (prompt.client, prompt.document_id, prompt.gold_text)
        assert list(row["prompt_tokens"]) == list(prompt.prompt_tokens)
        assert prompt.gold_tokens == len(row["answer_tokens"]) - 1
    made = read_parquet(folder / "seed1" / "favor" / "generations.parquet", GENERATIONS)
    assert set(made["prompt_id"]) == set(prompts["prompt_id"])


def test_every_stage_reads_the_answers_of_its_own_clients_training_texts(rewriting) -> None:
    """Supervised tokens of a pass in the log are those of the answers, counted by hand from the requests."""
    folder = rewriting.folder / OUT
    requests = read_parquet(folder / "clients" / "requests.parquet", REQUESTS)
    good = requests[(requests["refused"] == "") & (requests["split"] == "train")]
    answers = good["answer_tokens"].str.len().groupby(good["client"]).sum()
    answers["pooled"] = answers.sum()
    logs = sorted(folder.rglob("*.log.parquet"))
    assert {path.relative_to(folder / "seed1").parts[0] for path in logs} == {"shared", "ditto", "favor", "pooled"}
    for path in logs:
        for client, own in read_parquet(path, TRAINING_LOG).groupby("client"):
            passes, rest = divmod(own["supervised_tokens"].sum(), answers[client])
            assert passes >= 1, (path, client)
            assert rest == 0 or client == "pooled", (path, client)  # which makes as many steps as rounds ask for: 1.5
    learning = [read_parquet(path, TRAINING_LOG) for path in logs if {"ditto", "round1"} <= set(path.parts)]
    assert learning
    for log in learning:
        own = log[log["client"] == "client_004"]  # which takes part for the first time
        assert own["validation_loss"].iloc[-1] < own["validation_loss_before"].iloc[0] - 0.02


def test_what_answers_keep_and_gain_is_scored_and_printed(rewriting) -> None:
    folder = rewriting.folder / OUT
    scores = read_parquet(folder / "scores" / "tasks.parquet", SCORES)
    rows = {"base_only", "ditto", "favor", "pooled", "gold", "shuffled"}
    for metric in ("content_kept", "content_by_chance", "voice_gained"):
        own = scores[(scores["metric"] == metric) & (scores["variant"] == "")]
        assert set(own["method"]) == rows, metric
    kept = scores[(scores["metric"] == "content_kept") & (scores["variant"] == "")].set_index("method")["value"]
    # Drafts hold the words of the passages, so that these keep nearly all, and another author's next to nothing.
    assert kept["gold"] > 0.8 > 0.6 > kept["shuffled"]
    printed = (folder / "tables" / "task-results.html").read_text()
    assert f"{kept['favor']:.3f}".replace("-", "−") in printed


def test_nothing_is_made_again_and_fingerprints_hold_what_ran(rewriting) -> None:
    assert rewriting.planned(*ARGUMENTS, f"{OUT}/tables/task-results.html") == {}
    assert unforeseen(rewriting.folder) == set()
