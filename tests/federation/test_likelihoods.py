"""Likelihoods of texts under adapters: an independent loop of transformers and PEFT agrees, gated pairs too."""

import numpy as np
import pandas as pd
import pytest
import torch
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import plain_losses, with_peft
from tests.lm.test_mixture import plain_mixture

from favor.config.models import PROJECTIONS
from favor.corpora.neutral import neutral_passages
from favor.federation.inference import ClientAdapter, exported, prompt_gates
from favor.federation.likelihoods import content_characters, read_adapters, read_base, read_validation, texts_to_read
from favor.federation.settings import TextChoice
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.inference.generation import last_token_states
from favor.lm.lora import export_peft, target_layers
from favor.lm.mixture import gate_layout
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import ClientTask, Piece
from favor.lm.training import train
from favor.scores.likelihood import attributed, reading

LORA = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
TOKENS = {"prefix_tokens": 6, "maximum_tokens": 20, "minimum_tokens": 4}
CHOICE = TextChoice(**TOKENS, texts_per_client=2, neutral_texts=3, seed=1)
TEXTS = {
    "client_001": "so i went to the store today, and guess what!! they were closed again",
    "client_002": "It was, I suppose, inevitable; nevertheless one had hoped for a better outcome.",
    "client_003": "the quick brown fox jumps over the lazy dog and then it sleeps in the warm sun",
}


def client_texts(number=4) -> pd.DataFrame:
    rows = [
        (client, f"{client}-{place}", "test" if place else "train", "arts", "", f"{text} {text[5 * place :]}")
        for client, text in TEXTS.items()
        for place in range(number)
    ]
    return pd.DataFrame(rows, columns=["client", "document_id", "split", "topic", "prompt", "text"])


@pytest.fixture
def texts(base) -> pd.DataFrame:
    made = texts_to_read(base.tokenizer, client_texts(), {"client_001-1"}, [TEXTS["client_003"] * 3], CHOICE)
    return read_base(base, LORA, made)


def test_clients_without_an_unseen_text_are_named(base, capsys) -> None:
    kept = {f"{client}-{place}" for client in ("client_001", "client_003") for place in range(4)}
    made = texts_to_read(base.tokenizer, client_texts(), kept, [], CHOICE)
    assert made["client"].unique().tolist() == ["client_002"]
    assert "client_001, client_003: no unseen text of 10 tokens" in (said := capsys.readouterr().err)
    assert said.endswith("(2 of 3 clients)\n")


def by_peft(model_folder, tmp_path, adapter, texts) -> list[float]:
    """Sums of ln p of the supervised tokens, one text and one plain forward pass at a time, of a PeftModel."""
    from transformers import AutoModelForCausalLM

    if adapter is None:
        model = AutoModelForCausalLM.from_pretrained(model_folder).eval()
    else:
        export_peft(*exported(adapter, LORA), str(model_folder), tmp_path)
        model = with_peft(model_folder, tmp_path)
    return summed(model, texts)


def summed(model, texts) -> list[float]:
    rows = zip(texts["tokens"], texts["start"], strict=True)
    with torch.no_grad():
        return [-float(plain_losses(model, Piece(np.array(tokens), start, "")).sum()) for tokens, start in rows]


def adapters_of(base, random_state, texts) -> dict[str, ClientAdapter]:
    """An adapter alone, a pair with one weight, and one beside another whose gate follows the prompt."""
    states = [random_state(seed, LORA) for seed in range(5)]
    prompts = [list(tokens[:6]) for tokens in texts["tokens"]]
    references = last_token_states(base, LORA, states[4], prompts)
    return {
        "client_001": ClientAdapter(states[0]),
        "client_002": ClientAdapter(states[1], states[2], 0.3),
        "client_003": ClientAdapter(states[3], states[4], 0.5, references, 0.8),
    }


def test_an_independent_loop_of_peft_agrees(base, model_folder, random_state, texts, tmp_path) -> None:
    adapters = adapters_of(base, random_state, texts)
    found = read_adapters(base, LORA, texts, adapters, "test")
    assert len(found) == 3 * len(texts)
    np.testing.assert_allclose(texts["base"], by_peft(model_folder, tmp_path, None, texts), atol=1e-4)
    for client, adapter in adapters.items():
        own = found[found["client"] == client]
        for place in range(len(texts)):
            one, text = own.iloc[place], texts.iloc[[place]]
            used = adapter
            if adapter.references is not None:
                prompt = list(text["tokens"].iloc[0][: text["start"].iloc[0]])
                gate = prompt_gates(base, LORA, [("p", client, prompt)], {client: adapter})["p"]
                assert 0 < gate < 1
                used = ClientAdapter(adapter.state, adapter.companion, gate)
            expected = by_peft(model_folder, tmp_path / f"{client}-{place}", used, text)[0]
            assert one["log_likelihood"] / one["tokens"] == pytest.approx(expected / one["tokens"], abs=1e-4)
            assert one["base"] == text["base"].iloc[0]


def test_a_gate_per_token_reads_as_by_hand(base, model_folder, random_state, texts) -> None:
    own, other = random_state(1, LORA), random_state(2, LORA)
    layout = gate_layout(target_layers(base.model, LORA))
    gate = layout.unflatten(torch.linspace(-1, 1, layout.size))
    adapters = {"client_001": ClientAdapter(own, other, token_gate=gate), "client_002": ClientAdapter(other)}
    found = read_adapters(base, LORA, texts, adapters, "test")
    expected = summed(plain_mixture(model_folder, LORA, own, other, gate)[0], texts)
    mixed = found.loc[found["client"] == "client_001", "log_likelihood"]
    np.testing.assert_allclose(mixed, expected, rtol=0, atol=1e-3)


def test_what_clients_share_is_read_once_and_alike(base, random_state, texts, monkeypatch) -> None:
    from favor.federation import likelihoods

    asked = []
    read = likelihoods.log_likelihoods
    monkeypatch.setattr(likelihoods, "log_likelihoods", lambda *given: asked.append(len(given[2])) or read(*given))
    shared = ClientAdapter(random_state(1, LORA))
    found = read_adapters(base, LORA, texts, dict.fromkeys(TEXTS, shared), "test")
    assert asked == [len(texts)]
    assert (found.groupby(["kind", "writer", "text"])["log_likelihood"].nunique() == 1).all()
    alone = read_adapters(base, LORA, texts, dict.fromkeys(TEXTS), "test")
    assert asked == [len(texts), 0]
    assert (alone["log_likelihood"] == alone["base"]).all()


def test_texts_that_are_read(base) -> None:
    """Test posts alone, none that is left out; all tokens behind the prefix are supervised, up to the longest."""
    made = texts_to_read(base.tokenizer, client_texts(), {"client_001-1"}, [TEXTS["client_003"] * 3], CHOICE)
    assert made.groupby("client").size().to_dict() == {"": 3, **dict.fromkeys(TEXTS, 2)}
    for row in made[made["kind"] == "client"].itertuples():
        decoded = base.tokenizer.decode(list(row.tokens))
        assert any(text.startswith(decoded) for text in client_texts().query("split == 'test'")["text"])
        assert len(row.tokens) == 26
        assert row.characters == len(decoded) - len(base.tokenizer.decode(list(row.tokens)[:6]))
        words = [base.tokenizer.decode([row.tokens[place]]).strip() for place in row.function]
        assert row.function_tokens == len(words) > 0
    neutral = made[made["kind"] == "neutral"]["tokens"].tolist()
    assert neutral[0][20:26] == neutral[1][:6]


def test_content_words_are_masked() -> None:
    text = "I don't like 3 cats, and the dog"
    kept = "".join(letter for letter, content in zip(text, content_characters(text), strict=True) if not content)
    assert kept == "I don't like  , and the "


def test_neutral_sentences(tmp_path) -> None:
    starts = [passage.split(" ", 2)[:2] for passage in neutral_passages(None)]
    assert starts == [["The", "Palmers"], ["But", "Sir"], ["October,", "November,"], ["The", "din"]]
    (tmp_path / "own.txt").write_text("One line.\nAnother.\n\nA second passage.\n")
    assert neutral_passages(tmp_path / "own.txt") == ["One line. Another.", "A second passage."]
    (tmp_path / "own.txt").write_text(" \n\n")
    with pytest.raises(UserError, match="holds no sentence"):
        neutral_passages(tmp_path / "own.txt")


HABITS = {"client_001": " :(", "client_002": "!!", "client_003": "; nevertheless"}


def with_habit(client, number) -> str:
    """Words that every author draws from, and a habit of the author's own after every third."""
    words = numpy_generator(1, "planted habits", client, number).choice(sorted(set(TEXTS["client_003"].split())), 12)
    return " ".join(word + HABITS[client] * (place % 3 == 2) for place, word in enumerate(words))


def test_planted_habits_rank_their_author_first(base, random_state) -> None:
    """Adapters that are trained on one habit each know the unseen texts that have it; before training none does."""
    start = {name: 0.05 * tensor for name, tensor in random_state(9, LORA).items()}

    def piece(client, number) -> Piece:
        return Piece(np.array(base.tokenizer.encode(with_habit(client, number)), dtype=np.int32), 1, str(number))

    pieces = {client: [piece(client, number) for number in range(12)] for client in HABITS}
    tasks = [ClientTask(client, pieces[client], start, 8, place) for place, client in enumerate(HABITS)]
    settings = Optimisation(learning_rate=5e-3, micro_batch=4, accumulation=1, supervised="all", warmup_counts_from=1)
    trained = {result.name: ClientAdapter(result.state) for result in train(base, LORA, tasks, settings)}
    rows = [
        (client, f"{client}-{number}", "test", "arts", "", with_habit(client, number))
        for client in HABITS
        for number in range(20, 24)
    ]
    unseen = pd.DataFrame(rows, columns=["client", "document_id", "split", "topic", "prompt", "text"])
    choice = CHOICE.model_copy(update={"texts_per_client": 4, "maximum_tokens": 60})
    made = read_base(base, LORA, texts_to_read(base.tokenizer, unseen, set(), [], choice))
    found = reading(read_adapters(base, LORA, made, trained, "test"), list(HABITS))
    assert attributed(found)["top1"].tolist() == [1.0] * 12
    matrix = found.matrix()
    assert (matrix.argmax(axis=0) == np.arange(3)).all()
    alike = reading(read_adapters(base, LORA, made, dict.fromkeys(HABITS, ClientAdapter(start)), "test"), list(HABITS))
    assert attributed(alike)["top1"].to_numpy() == pytest.approx(np.full(12, 1 / 3))


def test_a_shared_adapter_has_the_validation_loss_that_a_stage_from_it_logs_at_its_start(base, random_state) -> None:
    start = {name: 0.05 * tensor for name, tensor in random_state(9, LORA).items()}
    words = {client: base.tokenizer.encode(text * 2) for client, text in TEXTS.items()}
    pieces = {
        client: [Piece(np.array(own[at : at + 20 + at], dtype=np.int32), 4, str(at)) for at in (0, 3)]
        for client, own in words.items()
    }
    tasks = [
        ClientTask(client, own, start, 1, place, validation=own) for place, (client, own) in enumerate(pieces.items())
    ]
    settings = Optimisation(micro_batch=2, accumulation=1, supervised="response", warmup_counts_from=1)
    logged = {result.name: result.log[0]["validation_loss_before"] for result in train(base, LORA, tasks, settings)}
    found = read_validation(base, LORA, pieces, dict.fromkeys(TEXTS, ClientAdapter(start)), "test")
    assert dict(zip(found["client"], found["loss"], strict=True)) == pytest.approx(logged, rel=1e-5)
    assert read_validation(base, LORA, {"client_001": []}, {}, "test").empty
