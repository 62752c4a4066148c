"""What studies read and write: prompted rows, the human audit, models as judges, the transfer of style encoders."""

from dataclasses import dataclass
from pathlib import Path

from favor.config.study_checks import compared_encoders
from favor.corpora.settings import TransferTexts
from favor.encoders.settings import TransferEncoding
from favor.federation.method import plan_values
from favor.federation.settings import GivenOutputs, PromptedGeneration, SheetDistilling
from favor.foundation.registry import JUDGES
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import alternatives
from favor.plan.training import TrainingComponent
from favor.studies import settings as studies


@dataclass(eq=False)
class Studies(TrainingComponent):
    """The studies of a project's experiments."""

    def __post_init__(self) -> None:
        self.prompted_rows = self._rows("prompted")
        self.given_rows = self._rows("outputs")
        self.trained_rows = rf"(?!shared/)(?!(?:{self.prompted_rows}|{self.given_rows})/)[a-z][a-z0-9_]*"

    def _rows(self, inference: str) -> str:
        """Return a regular expression of the rows, in all experiments, that generate by ``inference``."""
        return alternatives(
            sorted({row for (_, row), made in self.project.rows.items() if made.plan.inference == inference})
        )

    # Prompted rows: continuations without training

    def read_outputs_settings(self, key: Key) -> GivenOutputs:
        experiment = self.project.experiment(key)
        return job_settings(
            GivenOutputs,
            seeds=experiment.seeds,
            tokenizer_folder=self.project.tokenizer_folder(experiment.base_model),
            generation=experiment.generation,
            words=self.project.words(key),
        )

    def distil_sheets_settings(self, key: Key) -> SheetDistilling:
        experiment = self.project.experiment(key)
        model = self.project.asked_model(self.project.sheet_model(key))
        return job_settings(SheetDistilling, experiment.generation, model=model, lengths=experiment.prompting)

    def sheets(self, key: Key) -> str | list[str]:
        prompting = self.project.plan(key).prompting
        return self.paths.sheets.of(key) if prompting is not None and prompting.sheet else []

    def generate_prompted_settings(self, key: Key) -> PromptedGeneration:
        experiment = self.project.experiment(key)
        return job_settings(
            PromptedGeneration,
            model=self.project.asked_model(experiment.base_model),
            prompting=plan_values(self.project.plan(key))["prompting"],
            lengths=experiment.prompting,
            generation=experiment.row_generation(key.method),
            words=self.project.words(key),
        )

    # The human audit

    def audited_generations(self, key: Key) -> list[str]:
        seeds, methods = self.project.experiment(key).seeds, self.project.audit(key).methods
        runs = [run_key(key.experiment, seed, method) for seed in seeds for method in methods]
        return [self.paths.generations.of(self.training.source_run(run)) for run in runs]

    def prepare_2afc_settings(self, key: Key) -> studies.ItemsJob:
        experiment, audit, words = self.project.experiment(key), self.project.audit(key), self.project.words(key)
        return job_settings(studies.ItemsJob, audit, experiment.generation, seeds=experiment.seeds, words=words)

    def audit_items(self, key: Key) -> str | list[str]:
        audit = self.project.experiment(key).studies.human_2afc
        return [] if audit is None else self.paths.audit_items.of(key)

    def responses(self, key: Key) -> list[str]:
        audit = self.project.experiment(key).studies.human_2afc
        if audit is None or audit.responses is None:
            return []
        return [self.project.given(str(path)) for path in sorted(Path(audit.responses).glob("*.json"))]

    def score_2afc_settings(self, key: Key) -> studies.AuditVotes:
        """Return what the scoring of the audit reads; without one, the rows that report its absence."""
        return job_settings(studies.AuditVotes, self.project.experiment(key).studies.human_2afc or studies.HumanAudit())

    def pages(self) -> list[str]:
        return [
            self.paths.audit_page.of(experiment=name, annotator=number)
            for name, experiment in self.experiments.items()
            if experiment.studies.human_2afc is not None
            for number in range(1, experiment.studies.human_2afc.annotators + 1)
        ]

    # Language models as judges

    def _judges(self, key: Key) -> studies.Judges:
        return not_none(self.project.experiment(key).studies.judges)

    def prepare_judgements_settings(self, key: Key) -> studies.JudgementsJob:
        seeds, words = self.project.experiment(key).seeds, self.project.words(key)
        return job_settings(studies.JudgementsJob, self._judges(key), seeds=seeds, words=words)

    def judge_code(self, key: Key) -> str:
        return JUDGES.entry(self._judges(key).model)

    def judge_settings(self, key: Key) -> studies.JudgeJob:
        judges, endpoint, local = self._judges(key), None, None
        if judges.model == "endpoint":
            endpoint = job_settings(studies.EndpointLimits, judges)
        else:
            base = self.project.asked_model(judges.base_model)
            local = studies.LocalModel(title=self.project.model_title(judges.base_model), base=base)
        return job_settings(studies.JudgeJob, judges, endpoint=endpoint, local=local)

    def judge_files(self, key: Key) -> list[str]:
        judges = self._judges(key)
        return self.project.model_files(judges.base_model) if judges.model == "local" else []

    def judgements(self, key: Key) -> list[str]:
        if self.project.experiment(key).studies.judges is None:
            return []
        return [self.paths.judgements.of(key), self.paths.judge_key.of(key)]

    def score_judges_settings(self, key: Key) -> studies.JudgeScoring:
        experiment = self.project.experiment(key)
        seeds, bootstrap = experiment.seeds, experiment.evaluation.bootstrap
        judges = experiment.studies.judges or studies.JudgedRows(methods=list(experiment.methods), voice=None)
        return job_settings(studies.JudgeScoring, judges, seeds=seeds, bootstrap=bootstrap)

    def judge_scores(self) -> list[str]:
        return [
            self.paths.scores.of(experiment=name, family="judges")
            for name, experiment in self.experiments.items()
            if experiment.studies.judges is not None
        ]

    # Transfer of frozen style encoders to another corpus

    def transfer_corpus(self, key: Key) -> str:
        return not_none(self.project.experiment(key).evaluation.transfer).corpus

    def transferred(self, key: Key) -> list[str]:
        return compared_encoders(self.project.experiment(key), self.config.encoders)

    def embedded(self, key: Key) -> list[str]:
        return [] if self.project.experiment(key).evaluation.transfer is None else self.transferred(key)

    def embed_transfer_settings(self, key: Key) -> TransferEncoding:
        transfer = not_none(self.project.experiment(key).evaluation.transfer)
        loaded = self.project.loaded_encoder(key)
        return TransferEncoding(encoder=loaded, transfer=job_settings(TransferTexts, transfer))

    def score_transfer_settings(self, key: Key) -> studies.TransferScoring:
        bootstrap = self.project.experiment(key).evaluation.bootstrap
        return studies.TransferScoring(encoders=self.transferred(key), bootstrap=bootstrap)
