"""Exports a run's generated-to-source pairs as PAN's verification task has them: truth.jsonl and answers.jsonl."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from favor.foundation.errors import UserError
from favor.foundation.files import write_json, write_text
from favor.scores.inputs import ScoreInputs
from favor.scores.source_space import human_pairs
from favor.scores.verification import source_pairs
from favor.statistics.pan_measures import MEASURES, answers_of, equal_error_threshold, pan_measures


@dataclass(frozen=True)
class PanExport:
    """Lines of truth.jsonl and answers.jsonl, the measures of both, and why measures are missing ("" if none is)."""

    truth: list[dict[str, object]]
    answers: list[dict[str, object]]
    measures: dict[str, float]
    note: str = ""


def pan_export(inputs: ScoreInputs, encoder: str, method: str, seed: int) -> PanExport:
    """Return the same-topic generated-to-source pairs of a run, clients under their anonymous names.

    A cosine becomes an answer by the encoder's own threshold: the equal-error point of human-human pairs of held-out
    source texts, so that no output decides where "same" begins (0 where there are no such pairs).
    """
    run = next((run for run in inputs.runs if (run.method, run.seed) == (method, seed)), None)
    if run is None:
        raise UserError(f"no run of method '{method}' with seed {seed}")
    pairs = source_pairs(inputs.vectors(encoder, run), run, inputs.sources(encoder, "gold", seed))
    if not len(pairs):
        note = "no pairs: no output that passed the filter has a held-out text to be paired with"
        return PanExport([], [], dict.fromkeys(MEASURES, float("nan")), note)
    human = human_pairs(inputs.sources(encoder, "test"))
    threshold = equal_error_threshold(human.scores, human.positive)
    answers = answers_of(pairs.scores, threshold if -1 < threshold < 1 else 0.0)
    names = [f"pair-{number:07d}" for number in range(1, len(pairs) + 1)]
    note = ""
    if not pairs.positive.any():
        note = "no auc: there are no pairs of texts by one author"
    elif pairs.positive.all():
        note = "no auc: there are no pairs of two authors, which need outputs of a known topic that both wrote about"
    return PanExport(
        [
            {"id": name, "same": bool(same), "authors": [str(left), str(right)]}
            for name, same, left, right in zip(names, pairs.positive, pairs.left, pairs.right, strict=True)
        ],
        [{"id": name, "value": float(value)} for name, value in zip(names, answers, strict=True)],
        pan_measures(pairs.positive, answers),
        note,
    )


def write_pan(export: PanExport, folder: Path) -> None:
    """Write truth.jsonl, answers.jsonl and measures.json, in which a missing measure is null and ``note`` says why."""
    write_jsonl(export.truth, folder / "truth.jsonl")
    write_jsonl(export.answers, folder / "answers.jsonl")
    measures = {name: None if math.isnan(value) else value for name, value in export.measures.items()}
    write_json(measures | ({"note": export.note} if export.note else {}), folder / "measures.json")


def write_jsonl(records: Iterable[Mapping[str, object]], path: Path) -> None:
    """Write one JSON object a line, keys sorted."""
    lines = [json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False) for record in records]
    write_text("".join(f"{line}\n" for line in lines), path)
