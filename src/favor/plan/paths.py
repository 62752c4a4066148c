"""Every file of a results folder, once: as a template with wildcards for a rule, and as the path of one job's file."""

from itertools import product
from string import Formatter
from typing import Any


class Template(str):
    """A path with ``{wildcards}``. A rule takes it as it is.

    quotes: whether the file quotes clients' texts without naming them: it is deleted at once when a client withdraws.
    """

    quotes = False

    def of(self, key: object = None, /, **values: object) -> str:
        """Return the path with every wildcard taken from ``values``, or else from the attribute of ``key``.

        Raises ``AttributeError`` (a defect of the caller) where neither has it.
        """
        return self.format(**{name: values[name] if name in values else getattr(key, name) for name in self.names})

    def each(self, key: object = None, /, **values: Any) -> list[str]:
        """Return the paths of all combinations of ``values``: each a text, or several. The last varies fastest."""
        found = product(*([value] if isinstance(value, str) else value for value in values.values()))
        return [self.of(key, **dict(zip(values, chosen, strict=True))) for chosen in found]

    def partial(self, **values: object) -> "Template":
        """Return the template with some wildcards filled in; the others stay."""
        return Template(self.format(**{name: values.get(name, f"{{{name}}}") for name in self.names}))

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self) if name))


class Paths:
    """The files under one results folder."""

    def __init__(self, results: str) -> None:
        self.results = results
        at = self._at
        # Corpora
        self.raw_corpus = at("corpora/{corpus}/raw.csv")
        self.documents = at("corpora/{corpus}/documents.parquet")
        self.dropped = at("corpora/{corpus}/dropped.parquet")
        self.scripts = at("corpora/{corpus}/scripts.parquet")
        self.splits = at("corpora/{corpus}/splits.parquet")
        self.near_duplicates = at("corpora/{corpus}/near_duplicates.parquet")
        self.background = at("corpora/{corpus}/background.parquet")
        self.author_measures = at("corpora/{corpus}/author_measures.parquet")
        self.authors = at("corpora/{corpus}/authors.parquet")
        self.suitability = at("corpora/{corpus}/suitability.parquet")
        self.corpus_check = at("corpora/{corpus}/check.txt")
        self.check = at("check.txt")
        self.roster = at("corpora/{corpus}/roster.parquet")
        self.overlap = at("corpora/{corpus}/overlap.parquet")
        # Base models, encoders, assistant classifiers
        self.base_folder = at("models/{model}/base")
        self.pretraining_losses = at("logs/pretrain_base/{model}.parquet")  # a log: see favor.running.jobs.losses
        self.gguf_record = at("models/{model}/base/gguf.json")
        self.quantised_folder = at("models/{model}/quantised")
        self.tokenizer_folder = at("models/{model}/tokenizer")
        self.tokenizer = at("models/{model}/tokenizer/tokenizer.json")
        self.tokenizer_settings = at("models/{model}/tokenizer/tokenizer_config.json")
        self.encoder_folder = at("encoders/{encoder}")
        self.encoder_weights = at("encoders/{encoder}/encoder.safetensors")
        self.encoder_manifest = at("encoders/{encoder}/encoder.json")
        self.certificate = at("encoders/{encoder}/certificate.parquet")
        self.assistant_texts = at("assistants/{assistant}/texts.csv")
        self.assistant_weights = at("assistants/{assistant}/encoder.safetensors")
        self.assistant_manifest = at("assistants/{assistant}/encoder.json")
        self.assistant_prototypes = at("assistants/{assistant}/assistant.safetensors")
        self.assistant_calibration = at("assistants/{assistant}/assistant.json")
        # Clients of an experiment: what is under clients/ stays with them
        self.texts = at("{experiment}/clients/texts.parquet")
        self.allocation = at("{experiment}/clients/allocation.parquet")
        self.hijacked_texts = at("{experiment}/clients/hijacked_seed{seed}.parquet")
        self.client_table = at("{experiment}/clients/{table}.parquet")
        self.remaining_table = at("{experiment}/clients/remaining/{table}.parquet")
        self.requests = at("{experiment}/clients/requests.parquet")
        self.prompt_list = at("{experiment}/clients/prompts.jsonl", quotes=True)
        self.sheets = at("{experiment}/clients/sheets.parquet")
        self.read_texts = at("{experiment}/clients/read_texts.parquet")
        self.judge_requests = at("{experiment}/clients/judge_requests.parquet")
        self.source_embeddings = at("{experiment}/clients/embeddings/{encoder}.parquet")
        self.transfer_embeddings = at("{experiment}/clients/transfer/{encoder}.parquet")
        # Training
        self.prompts = at("{experiment}/seed{seed}/prompts.parquet")
        self.common_prompts = at("{experiment}/common_prompts.parquet")
        self.schedule = at("{experiment}/seed{seed}/schedule/{sampling}.parquet")
        self.initial_adapter = at("{experiment}/seed{seed}/server/{origin}/round0/adapter.safetensors")
        self.random_adapter = at("{experiment}/seed{seed}/server/random/adapter.safetensors")
        track = "{experiment}/seed{seed}/shared/{track}"
        self.upload = at(f"{track}/uploads/round{{round}}/batch{{batch}}.safetensors")
        self.audited_upload = at(f"{track}/audited/round{{round}}/batch{{batch}}.safetensors")
        self.false_upload = at(f"{track}/uploads/round{{round}}/batch{{batch}}.false.safetensors")
        self.upload_sum = at(f"{track}/uploads/round{{round}}/sum.safetensors")
        self.combination = at(f"{track}/uploads/round{{round}}/combination.safetensors")
        self.endpoints = at(f"{track}/clients/round{{round}}/batch{{batch}}.endpoints.safetensors")
        self.shared_log = at(f"{track}/clients/round{{round}}/batch{{batch}}.log.parquet")
        self.server_adapter = at(f"{track}/server/round{{next_round}}/adapter.safetensors")
        self.server_memory = at(f"{track}/server/round{{next_round}}/memory.safetensors")
        self.shared_validation = at(f"{track}/clients/validation.parquet")
        self.traffic = at(f"{track}/server/round{{next_round}}/traffic.parquet")
        run = "{experiment}/seed{seed}/{method}"
        self.personal_pack = at(f"{run}/clients/{{phase}}/batch{{batch}}.safetensors")
        self.personal_passing = at(f"{run}/clients/{{phase}}/batch{{batch}}.passing.safetensors")
        self.personal_log = at(f"{run}/clients/{{phase}}/batch{{batch}}.log.parquet")
        self.stage_validation = at(f"{run}/clients/validation_{{stage}}.parquet")
        self.boundary = at("{experiment}/boundary.parquet")
        self.settings = at("{experiment}/settings.json")
        # Generation, and what is measured once per text
        self.generations = at(f"{run}/generations.parquet")
        self.common_generations = at(f"{run}/common_generations.parquet")
        self.gates = at(f"{run}/gates.parquet")
        self.likelihood = at(f"{run}/likelihood.parquet")
        self.part_generations = at(f"{run}/generations/part{{part}}.parquet")
        self.part_common_generations = at(f"{run}/generations/part{{part}}.common.parquet")
        self.part_gates = at(f"{run}/generations/part{{part}}.gates.parquet")
        self.prompted_requests = at(f"{run}/clients/requests.parquet")
        self.peft_folder = at(f"{run}/clients/peft")
        self.generation_embeddings = at("{experiment}/embeddings/{encoder}.parquet")
        self.common_embeddings = at("{experiment}/embeddings/{encoder}.common.parquet")
        self.gold_embeddings = at("{experiment}/embeddings/{encoder}.gold.parquet")
        self.draft_embeddings = at("{experiment}/embeddings/{encoder}.draft.parquet")
        self.bertscore = at("{experiment}/bertscore.parquet")
        self.utility = at("{experiment}/utility.parquet")
        self.assistant_scores = at("{experiment}/assistant.parquet")
        # Scores, paired tests, diagnostics
        self.scores = at("{experiment}/scores/{family}.parquet")
        self.comparisons = at("{experiment}/statistics/{label}.parquet")
        self.evidence = at("{experiment}/evidence.parquet")
        self.adapter_energy = at("{experiment}/diagnostics/adapter_energy.parquet")
        self.coordinate_effects = at("{experiment}/diagnostics/coordinate_effects.parquet")
        self.participation = at("{experiment}/diagnostics/participation.parquet")
        # Tables, figures, report
        self.table = at("{experiment}/tables/{label}.{kind}")
        self.figure = at("{experiment}/figures/{figure}.{kind}")
        self.overview = at("figures/{figure}.{kind}")
        self.numbers = at("numbers.json")
        self.number_macros = at("numbers.tex")
        self.gallery = at("{experiment}/gallery.html", quotes=True)
        self.gallery_sample = at("{experiment}/sample.json", quotes=True)
        self.report = at("report.{kind}", quotes=True)
        self.sweep_scores = at("sweeps/{sweep}/scores.parquet")
        self.sweep_table = at("sweeps/{sweep}/tables/{label}.{kind}")
        self.sweep_figure = at("sweeps/{sweep}/figures/points.{kind}")
        # Studies
        self.audit_items = at("{experiment}/studies/human_2afc/items.parquet")
        self.audit_page = at("{experiment}/studies/human_2afc/annotator_{annotator}.html", quotes=True)
        self.audit_votes = at("{experiment}/studies/human_2afc/votes.parquet")
        self.judge_key = at("{experiment}/studies/judges/key.parquet")
        self.judgements = at("{experiment}/studies/judges/judgements.parquet")
        self.privacy = at("{experiment}/studies/privacy/seed{seed}/{method}/{reading}.parquet")
        # Exports
        self.pan_export = at("{experiment}/exports/pan/{encoder}/{method}-seed{seed}/{file}", quotes=True)
        self.release_export = at("{experiment}/exports/release/{method}-seed{seed}/{file}")
        self.release = at("release.tar.gz")

    def quoting(self, experiment: str) -> list[str]:
        """Return the files that quote clients of an experiment without naming them, from "/" for the results folder.

        ``*`` stands for what varies within a part of a path.
        """
        templates = [each for each in vars(self).values() if isinstance(each, Template) and each.quotes]
        values = [{name: experiment if name == "experiment" else "*" for name in each.names} for each in templates]
        return [each.of(**of).removeprefix(self.results) for each, of in zip(templates, values, strict=True)]

    def _at(self, place: str, quotes: bool = False) -> "Template":
        made = Template(f"{self.results}/{place}")
        made.quotes = quotes
        return made

    def weights(self, folder: Template) -> dict[str, Template]:
        files = {"weights": "model.safetensors", "settings": "config.json", "tokenizer": "tokenizer.json"}
        return {name: Template(f"{folder}/{file}") for name, file in files.items()}

    def log(self, stage: str, output: str) -> "Template":
        """Return where the jobs of a stage write their logs; ``output``: template of a file that they make."""
        return self._of_job("logs", stage, output, "log")

    def benchmark(self, stage: str, output: str) -> "Template":
        """Return where Snakemake keeps the time and memory of a stage's jobs; ``output`` as in :meth:`log`."""
        return self._of_job("benchmarks", stage, output, "tsv")

    def _of_job(self, folder: str, stage: str, output: str, suffix: str) -> "Template":
        # Parts of the path with a wildcard tell jobs apart: {experiment}-seed{seed} of {experiment}/seed{seed}/x.csv.
        job = "-".join(part.split(".")[0] for part in output.split("/") if "{" in part)
        return self._at(f"{folder}/{stage}/{job}.{suffix}" if job else f"{folder}/{stage}.{suffix}")
