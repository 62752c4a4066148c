"""BERTScore F1 with the bert-score library's own padding, encoding and greedy matching.

The library's ``sent_encode`` is replaced: under transformers 5 its ``add_prefix_space`` is ignored for RoBERTa and
GPT-2 tokenizers (which shifts every score), an empty text raises, and an undefined maximum length overflows.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from bert_score.utils import bert_encode, greedy_cos_idf, padding
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from favor.encoders.backbones import Backbone, compute_device, load_backbone
from favor.foundation.arithmetic import fast_linear_layers
from favor.foundation.errors import UserError
from favor.running.devices.gpu_memory import fitting_batches
from favor.running.jobs.progress import Progress
from favor.scores.inputs import RUN_KEYS
from favor.scores.settings import BertScore
from favor.scores.utility_table import pairs


class BertScorer:
    """BERTScore F1 without idf weights and without baseline rescaling.

    As in the library, the tokens that frame a text ([CLS], [SEP]) can be matched but carry no weight.

    ``source`` is a Hugging Face id, a local folder or "embedded-minilm"; ``layer`` counts transformer layers from 1
    (0: the token embeddings; the paper: roberta-large, 17). Texts are cut to ``maximum_tokens``.
    """

    def __init__(self, source: str, layer: int, maximum_tokens: int = 512, batch_size: int = 32) -> None:
        self.backbone = load_backbone(source)
        self.device = compute_device()
        self.model = _first_layers(self.backbone.model, layer, source).to(self.device).eval()
        self.maximum_tokens = min(maximum_tokens, self.backbone.longest_input)
        self.batch_size = batch_size

    def f1(self, candidates: Sequence[str], references: Sequence[str], progress: Progress | None = None) -> list[float]:
        """Return the F1 of every (candidate, reference) pair, in order; 0.0 where either text is empty.

        Pairs are taken in reference order, so that a reference and its candidates are embedded together; every
        distinct text is embedded once and forgotten after its last use. ``progress`` counts pairs.
        """
        asked = [(reference.strip(), text.strip()) for text, reference in zip(candidates, references, strict=True)]
        values = dict.fromkeys(asked, 0.0)
        pairs = sorted(pair for pair in values if all(pair))
        chunks = [pairs[start : start + self.batch_size] for start in range(0, len(pairs), self.batch_size)]
        last_use = {text: index for index, chunk in enumerate(chunks) for pair in chunk for text in pair}
        states: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        for index, chunk in enumerate(chunks):
            self._embed(sorted({text for pair in chunk for text in pair} - set(states)), states)
            values.update(zip(chunk, self._match(chunk, states), strict=True))
            states = {text: state for text, state in states.items() if last_use[text] > index}
            if progress is not None:
                progress.update(len(chunk))
        return [values[pair] for pair in asked]

    def _embed(self, texts: list[str], states: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Add (hidden states [t, h], weights [t]) of every text to ``states``."""
        frame = torch.tensor(self.backbone.frame_ids)
        ids = {text: encode_text(self.backbone, text, self.maximum_tokens) for text in texts}
        order = sorted(texts, key=lambda text: (len(ids[text]), text))

        def encode(batch: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
            tokens, lengths, mask = padding([ids[text] for text in batch], self.backbone.padding_id)
            with fast_linear_layers(self.model):
                hidden = bert_encode(self.model, tokens.to(self.device), attention_mask=mask.to(self.device))
            return hidden, (~torch.isin(tokens, frame)).float().to(self.device), lengths.tolist()

        for batch, encoded in fitting_batches(order, self.batch_size, encode, "text"):
            for text, row, weight, length in zip(batch, *encoded, strict=True):
                states[text] = row[:length].float(), weight[:length]

    def _match(self, chunk: list[tuple[str, str]], states: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> list[float]:
        sides = []
        for side in (0, 1):  # reference, candidate
            rows = [states[pair[side]] for pair in chunk]
            # the library's own padding value
            hidden = pad_sequence([row for row, _ in rows], batch_first=True, padding_value=2.0)
            weights = pad_sequence([weight for _, weight in rows], batch_first=True)
            lengths = torch.tensor([len(row) for row, _ in rows], device=self.device)
            mask = torch.arange(hidden.shape[1], device=self.device)[None, :] < lengths[:, None]
            sides += [hidden, mask, weights]
        _, _, f1 = greedy_cos_idf(*sides)
        return [float(value) for value in f1]


def encode_text(backbone: Backbone, text: str, maximum_tokens: int) -> list[int]:
    """Token ids of ``text`` as bert-score means them: stripped, a leading space for byte-level tokenizers, cut."""
    text = text.strip()
    if '"ByteLevel"' in json.dumps(json.loads(backbone.tokenizer.to_str())["pre_tokenizer"]):
        text = " " + text
    backbone.tokenizer.no_padding()
    backbone.tokenizer.enable_truncation(max_length=maximum_tokens)
    return backbone.tokenizer.encode(text).ids


def _first_layers(model: Any, layer: int, source: str) -> Any:
    """Keep the first ``layer`` layers, so that the last hidden state is that layer's, as bert-score does."""
    stack: Any = getattr(model, "encoder", None) or getattr(model, "transformer", None)
    if not hasattr(stack, "layer"):
        raise UserError(
            f"BERTScore model '{source}' has no list of layers; use a BERT, RoBERTa, DistilBERT or MPNet one"
        )
    if not 0 <= layer <= len(stack.layer):
        raise UserError(f"BERTScore layer {layer} is not in 0..{len(stack.layer)} of '{source}'; change 'layer'")
    stack.layer = nn.ModuleList(stack.layer[:layer])
    model.config.num_hidden_layers = layer
    return model


TOLERANCE = 1e-4  # the library's own tests allow 1e-5 on one machine; kernels differ by more across machines

# Candidate, reference and F1 of roberta-large, layer 17, without idf or rescaling: test vectors of bert-score
# (tests/test_scorer.py, MIT licence).
_KNOWN = ("roberta-large", 17)
_CANDIDATES = (
    "28-year-old chef found dead in San Francisco mall",
    "A 28-year-old chef who recently moved to San Francisco was found dead in the staircase of a local shopping "
    "center.",
    "The victim's brother said he cannot imagine anyone who would want to harm him,\"Finally, it went uphill again at "
    'him."',
)
_REFERENCES = (
    "28-Year-Old Chef Found Dead at San Francisco Mall",
    "A 28-year-old chef who had recently moved to San Francisco was found dead in the stairwell of a local mall this "
    "week.",
    "But the victim's brother says he can't think of anyone who would want to hurt him, saying, \"Things were finally "
    'going well for him."',
)
_F1 = (0.98335612, 0.97823000, 0.91621464)


def check_canary(scorer: BertScorer, source: str, layer: int) -> bool:
    """Compare ``scorer`` with the values published for its model and layer; return whether there are any.

    ``source`` is a Hugging Face id, or a folder of that name. Raises ``UserError`` where an F1 departs by more than
    ``TOLERANCE``: such scores could not be compared with anybody's.
    """
    if (Path(source).name, layer) != _KNOWN:
        return False
    departure = float(np.abs(np.array(scorer.f1(_CANDIDATES, _REFERENCES)) - np.array(_F1)).max())
    if not departure <= TOLERANCE:
        raise UserError(
            f"BERTScore model '{source}', layer {layer}: F1 of known pairs differs by {departure:.2g} from the values "
            "that bert-score publishes; fetch the model again, or rename a folder that holds another model"
        )
    return True


def bertscores(generations: pd.DataFrame, prompts: pd.DataFrame, settings: BertScore) -> pd.DataFrame:
    """Return table ``bertscore`` for every generation and for the control ``shuffled``.

    ``prompts`` holds the prompts of all seeds with a column seed. Raises ``UserError`` for a generation without a
    prompt.
    """
    compared = pairs(generations, prompts)
    progress = Progress("BERTScore", len(compared), "pairs")
    scorer = BertScorer(settings.model, settings.layer, settings.maximum_tokens)
    check_canary(scorer, settings.model, settings.layer)
    f1 = scorer.f1(compared["text"].tolist(), compared["gold_text"].tolist(), progress)
    progress.close()
    return compared.assign(bertscore_f1=f1)[[*RUN_KEYS, "bertscore_f1"]]
