"""What one group brings to a comparison: its protocol, and a number per output and measure, without any text."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.analysis.schemas import GROUP_OUTPUTS
from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.method_names import PAPER
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.received import opened, received_json
from favor.lm.settings import OutputFilter
from favor.report.comparison.shared import PASS_RATE, REFERENCE, Record, check_outputs, check_size, digest_of
from favor.report.content import digest
from favor.scores import utility
from favor.scores.inputs import OUTPUT_KEYS, Run, ScoreInputs
from favor.scores.prototypes import figures, prototypes
from favor.scores.voice_kept import FAILURES_WRONG

RECORD, OUTPUTS = "group.json", "outputs.parquet"  # of a shared folder
SEMANTIC = "semantic_similarity"
# Of settings.json: what makes numbers comparable. The rest is how methods are trained, and how it is computed.
_PROTOCOL = ("clients", "skip_clients", "withdrawn", "allocation")
_SAME_RESULT = ("clients_per_job", "rows_per_batch")  # of the generation
_NO_NUMBER = ("title", "tables", "figures", "studies", "extends", "outputs_of")

Keyed = tuple[str, str, pd.DataFrame, np.ndarray]  # encoder, metric, keys of outputs, values


@dataclass(frozen=True)
class Group:
    """One side of a comparison.

    name: as it is printed.
    protocol: what makes numbers comparable, nested: settings, and digests of authors, texts and prompts.
    settings: the other settings, nested.
    display: printed name by row, of rows that are not the method of their name in the paper.
    seen: the encoders that are not neutral judges of it: the one that methods are trained with, and that of meaning.
    outputs: the table ``group_outputs``.
    """

    name: str
    protocol: Mapping[str, Any]
    settings: Mapping[str, Any]
    display: Mapping[str, str]
    seen: Sequence[str]
    outputs: pd.DataFrame

    def within(self, encoders: Sequence[str]) -> "Group":
        """Return the group with the measures of ``encoders``, and those of none. Raises ``UserError`` without them.

        Semantic similarity is a measure of the semantic encoder.
        """
        known = self.protocol["encoders"]
        if missing := [name for name in encoders if name not in known]:
            raise UserError(f"{self.name}: nothing is measured by encoder '{missing[0]}'; it has {', '.join(known)}")
        kept = self.outputs["encoder"].isin(["", *encoders])
        if self.protocol["evaluation"]["semantic_encoder"] not in encoders:
            kept &= self.outputs["metric"] != SEMANTIC
        protocol = {**self.protocol, "encoders": sorted(encoders)}
        return replace(self, protocol=protocol, outputs=self.outputs[kept].reset_index(drop=True))


def read_group(path: Path) -> "Group":
    """Read a folder of results, one experiment's folder in it, or what :func:`share` wrote.

    Raises ``UserError`` for anything else, and names the file that is missing.
    """
    name = "/".join(path.resolve().parts[-2:])
    if (path / RECORD).is_file():
        return _shared(path, name)
    if path.name.endswith(".tar.gz") or (path / "SHA256SUMS").is_file():
        raise UserError(
            f"{path}: a release has no numbers of single outputs, and no digest of texts and prompts; ask for what "
            "'favor compare RESULTS --share FOLDER' writes"
        )
    if not path.exists():
        raise UserError(f"{path}: folder not found; check its name")
    found = [path] if (path / "settings.json").is_file() else [file.parent for file in path.glob("*/settings.json")]
    if len(found) != 1:
        names = ", ".join(sorted(folder.name for folder in found)) or "settings.json is missing"
        what = "several experiments" if found else "no finished experiment"
        raise UserError(f"{path}: {what} ({names}); name RESULTS/EXPERIMENT")
    return _measured(found[0], name)


def share(group: Group, folder: Path) -> None:
    """Write a group for somebody else: numbers and digests, no text, no vector and no name of an author."""
    write_parquet(group.outputs, folder / OUTPUTS, GROUP_OUTPUTS)
    record = {key: value for key, value in asdict(group).items() if key not in ("name", "outputs")}
    write_json(record | {"digest": _file_digest(folder / OUTPUTS)}, folder / RECORD)


def _file_digest(path: Path) -> str:
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shared(folder: Path, name: str) -> "Group":
    """Read what :func:`share` wrote. Raises ``UserError`` where its files do not belong together."""
    remedy = "not what 'favor compare RESULTS --share FOLDER' writes; ask for the folder again"
    record = received_json(folder / RECORD, Record, remedy)
    if record.digest != _file_digest(folder / OUTPUTS):
        raise UserError(f"{folder / OUTPUTS}: not the file that {RECORD} was written with; ask for the folder again")
    check_size(folder / OUTPUTS)
    outputs = read_parquet(folder / OUTPUTS, GROUP_OUTPUTS)
    check_outputs(folder / OUTPUTS, record.protocol, outputs)
    return Group(name=name, outputs=outputs, **record.model_dump(mode="json", exclude={"digest"}))


def _measured(folder: Path, name: str) -> "Group":
    # 1 and 1.0 are one setting.
    settings = json.loads(json.dumps(read_json(folder / "settings.json")), parse_float=_number)
    if "words" not in settings:
        raise UserError(f"{folder / 'settings.json'}: from an older version; run the workflow again, which remakes it")
    experiment, methods = settings["experiment"], settings["methods"]
    evaluation = experiment["evaluation"]
    asked = [experiment["style_encoder"], *evaluation["encoders"], evaluation["semantic_encoder"]]
    encoders = sorted({each for each in asked if each and (folder / "embeddings" / f"{each}.parquet").is_file()})
    if not encoders:
        raise UserError(f"{folder}: no output is measured (embeddings/ has no encoder of it); let the run finish")
    clients = folder / "clients" / ("remaining" if experiment["withdrawn"] else "")
    homes = [folder, *([folder.parent / experiment["outputs_of"]] if experiment["outputs_of"] else [])]
    texts = read_parquet(clients / "texts.parquet", CLIENT_TEXTS)
    measured = folder / "utility.parquet"
    inputs = ScoreInputs.load(
        {
            "generations": [_generations(homes, seed, method) for seed in experiment["seeds"] for method in methods],
            "prompts": [folder / f"seed{seed}" / "prompts.parquet" for seed in experiment["seeds"]],
            "embeddings": [folder / "embeddings" / f"{each}.parquet" for each in encoders],
            "sources": [clients / "embeddings" / f"{each}.parquet" for each in encoders],
            "golds": [folder / "embeddings" / f"{each}.gold.parquet" for each in encoders],
            "utility": [measured] if measured.is_file() else [],
        },
        experiment["seeds"],
        encoders,
        filter=OutputFilter(**{key: experiment["generation"][key] for key in OutputFilter.model_fields}),
        words=settings["words"],
    )
    authors = _author_digests(texts[texts["client"].isin(inputs.clients)], folder)
    prompts = _prompt_digests(inputs.prompts, authors)
    protocol = {
        **{key: experiment[key] for key in _PROTOCOL},
        "seeds": sorted(experiment["seeds"]),
        "prompts": {key: value for key, value in experiment["prompts"].items() if key != "common"},
        "generation": {key: each for key, each in experiment["generation"].items() if key not in _SAME_RESULT},
        "evaluation": {key: evaluation[key] for key in ("bertscore", "semantic_encoder", "bootstrap")},
        "words": settings["words"],
        "encoders": encoders,
        "authors": {
            "texts": digest_of(sorted(authors.values())),
            "training_texts": digest_of(sorted(_training_digests(texts, authors))),
        },
        "prompts_of_seed": {
            str(seed): digest_of(sorted(found for (of, _), found in prompts.items() if of == seed))
            for seed in experiment["seeds"]
        },
    }
    other = {key: experiment[key] for key in experiment if key not in (*protocol, "evaluation", *_NO_NUMBER)}
    rows = {key: {name: ran[name] for name in ("hyperparameters", "generation")} for key, ran in methods.items()}
    # Two rows may run one method, and a row may have the name of another method.
    titles = {key: ran["plan"]["display"] for key, ran in methods.items()}
    display = {
        key: f"{title} ({key})" for key, title in titles.items() if key not in PAPER or PAPER[key].title != title
    }
    seen = sorted({experiment["style_encoder"], evaluation["semantic_encoder"] or ""})
    return Group(name, protocol, {**other, "methods": rows}, display, seen, _outputs(inputs, authors, prompts))


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _generations(homes: Sequence[Path], seed: int, method: str) -> Path:
    files = [home / f"seed{seed}" / method / "generations.parquet" for home in homes]
    return next((file for file in files if file.is_file()), files[-1])


def _author_digests(texts: pd.DataFrame, folder: Path) -> dict[str, str]:
    """Return by client the digest of the author's texts with their splits, in no order."""
    found = {
        str(client): digest_of(sorted(zip(own["split"], own["text"], strict=True)))
        for client, own in texts.groupby("client")
    }
    if len(set(found.values())) < len(found):
        raise UserError(f"{folder}: two clients have the same texts, so that they cannot be told apart by them")
    return found


def _training_digests(texts: pd.DataFrame, authors: Mapping[str, str]) -> list[str]:
    return [
        digest_of([authors[str(client)], sorted(text for text in own["training_text"] if text)])
        for client, own in texts.groupby("client")
        if client in authors
    ]


def _prompt_digests(prompts: pd.DataFrame, authors: Mapping[str, str]) -> dict[tuple[int, str], str]:
    """Return by seed and prompt_id the digest of author, prompt and own continuation; equal ones are numbered."""
    keys = ["seed", "client", "prompt_text", "gold_text"]
    ordered = prompts.sort_values(["seed", "client", "prompt_id"])
    number = ordered.groupby(keys).cumcount()
    return {
        (row["seed"], row["prompt_id"]): digest_of(
            [authors[row["client"]], row["prompt_text"], row["gold_text"], again]
        )
        for row, again in zip(ordered.to_dict("records"), number.tolist(), strict=True)
    }


def _outputs(inputs: ScoreInputs, authors: Mapping[str, str], prompts: Mapping[tuple[int, str], str]) -> pd.DataFrame:
    parts = [
        keys[OUTPUT_KEYS].assign(seed=run.seed, method=run.method, encoder=encoder, metric=metric, value=values)
        for run in inputs.runs
        if run.method != "shuffled"
        for encoder, metric, keys, values in _values(inputs, run)
    ]
    table = pd.concat(parts, ignore_index=True)
    table["author"] = table["client"].map(authors)
    table["prompt"] = [prompts[key] for key in zip(table["seed"], table["prompt_id"], strict=True)]
    ordered = table[table["value"].notna()].sort_values(list(GROUP_OUTPUTS.sort_by), ignore_index=True)
    return ordered[GROUP_OUTPUTS.names]


def _values(inputs: ScoreInputs, run: Run) -> Iterator[Keyed]:
    """Yield what is measured per output of a run: of all outputs, then of those that passed the filter."""
    passed, kept = run.items["passed"].to_numpy(dtype=bool), run.survivors
    yield "", PASS_RATE, run.items, passed.astype(np.float64)
    clients = kept["client"].to_numpy(dtype=object)
    for encoder in inputs.encoders:
        prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
        all_right = np.zeros(len(run.items))
        if len(kept):
            found = figures(inputs.vectors(encoder, run), clients, prototype, inputs.clients)
            all_right[passed] = found["correct"]
            yield encoder, "author_accuracy", kept, found["correct"].to_numpy(dtype=np.float64)
            yield encoder, "target_similarity", kept, found["target"].to_numpy()
            yield encoder, "author_margin", kept, found["margin"].to_numpy()
        yield encoder, FAILURES_WRONG, run.items, all_right
    if inputs.utility is not None and run.method != REFERENCE:
        table = inputs.utility[(inputs.utility["seed"] == run.seed) & (inputs.utility["method"] == run.method)]
        rows = kept[OUTPUT_KEYS].merge(table, on=OUTPUT_KEYS, validate="one_to_one")
        for metric in utility.METRICS:
            yield "", metric.name, rows, rows[metric.name].to_numpy(dtype=np.float64)


def protocol_digest(group: Group) -> str:
    """Return the digest of what makes a group's numbers comparable; equal digests are equal protocols."""
    return digest(group.protocol)
