"""What studies read and write: prompted rows, the human audit, models as judges, the transfer of style encoders."""

from dataclasses import dataclass
from pathlib import Path

from favor.config.study_checks import check_prompted_outputs
from favor.corpora.settings import TransferTexts
from favor.encoders.settings import TransferEncoding
from favor.federation.method import plan_values
from favor.federation.settings import GivenOutputs, PromptedGeneration, SheetDistilling
from favor.foundation.errors import UserError
from favor.foundation.registry import JUDGES
from favor.plan.job_settings import Parameter, build_job_settings, job_params, not_none, to_params
from favor.plan.keys import Key, run_key
from favor.plan.project import Part, alternatives
from favor.plan.training import Training
from favor.studies.prompting.templates import check_context, check_sheet_context
from favor.studies.settings import (
    AuditVotes,
    EndpointLimits,
    HumanAudit,
    ItemsJob,
    JudgedRows,
    JudgeJob,
    JudgementsJob,
    Judges,
    JudgeScoring,
    LocalModel,
    TransferScoring,
)

TRANSFER_TABLE = "asce-scale-transfer"


@dataclass(eq=False)
class Studies(Part):
    """The studies of a project's experiments.

    Raises ``UserError`` for a prompted row that may not fit its model's context, for one that shares its name with a
    trained row, and for a transfer without encoders.
    """

    training: Training

    def __post_init__(self) -> None:
        for experiment in self.project.config.experiments:
            self._check_prompted(experiment)
            self._check_transfer(experiment)
        self.prompted_rows = alternatives(self._rows_of("prompted", "a prompting baseline"))
        self.given_rows = alternatives(self._rows_of("outputs", "read from a file"))
        self.trained_rows = rf"(?!shared/)(?!(?:{self.prompted_rows}|{self.given_rows})/)[a-z][a-z0-9_]*"

    # Prompted rows: continuations without training

    def prompted(self, experiment: str) -> list[str]:
        return [row for row, plan in self.project.plans(experiment).items() if plan.prompting is not None]

    def _rows_of(self, inference: str, kind: str) -> list[str]:
        """Return the rows of every experiment that generate so. A job tells them by their names alone."""
        found = {row for (_, row), made in self.project.rows.items() if made.plan.inference == inference}
        for (name, row), made in self.project.rows.items():
            if row in found and made.plan.inference != inference:
                raise UserError(
                    f"config key 'experiments.{name}.methods.{row}': the row of this name is {kind} in another "
                    "experiment; give one of them another name"
                )
        return sorted(found)

    def _check_prompted(self, name: str) -> None:
        """Refuse rows that may not fit the context of their models, where it is known, and outputs made otherwise."""
        experiment, models = self.project.config.experiments[name], self.project.config.base_models
        for row in self.prompted(name):
            check_prompted_outputs(name, row, self.project.config.experiments)
            prompting = not_none(self.project.rows[name, row].plan.prompting)
            context = models[experiment.base_model].known_context()
            if context is not None:
                check_context(f"config key 'experiments.{name}.methods.{row}'", prompting, experiment, context)
            distilling = models[experiment.prompting.model or experiment.base_model].known_context()
            if prompting.sheet and distilling is not None:
                check_sheet_context(f"config key 'experiments.{name}.prompting'", experiment, distilling)

    def read_outputs_settings(self, key: Key) -> Parameter:
        """Return what their job reads of the configuration."""
        experiment = self.project.experiment(key)
        return job_params(
            GivenOutputs,
            seeds=experiment.seeds,
            tokenizer_folder=self.project.tokenizer_folder(experiment.base_model),
            generation=experiment.generation,
            words=self.project.words(key),
        )

    def sheet_model(self, key: Key) -> str:
        """Return the base model that distils author sheets."""
        experiment = self.project.experiment(key)
        return experiment.prompting.model or experiment.base_model

    def distil_sheets_settings(self, key: Key) -> Parameter:
        """Return what author sheets and personas depend on."""
        experiment = self.project.experiment(key)
        model = self.project.asked_model(self.sheet_model(key))
        return job_params(SheetDistilling, experiment.generation, model=model, lengths=experiment.prompting)

    def sheets(self, key: Key) -> str | list[str]:
        """Return the clients' author sheets, where a row shows them."""
        prompting = self.project.plan(key).prompting
        return self.paths.sheets.of(key) if prompting is not None and prompting.sheet else []

    def generate_prompted_settings(self, key: Key) -> Parameter:
        """Return what a prompted row reads of the configuration."""
        experiment = self.project.experiment(key)
        return job_params(
            PromptedGeneration,
            model=self.project.asked_model(experiment.base_model),
            prompting=plan_values(self.project.plan(key))["prompting"],
            lengths=experiment.prompting,
            generation=experiment.row_generation(key.method),
            words=self.project.words(key),
        )

    # The human audit

    def audit(self, key: Key) -> HumanAudit:
        return not_none(self.project.experiment(key).studies.human_2afc)

    def audited_generations(self, key: Key) -> list[str]:
        """Return the outputs that items may be drawn from."""
        seeds, methods = self.project.experiment(key).seeds, self.audit(key).methods
        runs = [run_key(key.experiment, seed, method) for seed in seeds for method in methods]
        return [self.paths.generations.of(self.training.home(run)) for run in runs]

    def prepare_2afc_settings(self, key: Key) -> Parameter:
        """Return what the items of the audit depend on."""
        experiment, words = self.project.experiment(key), self.project.words(key)
        given = build_job_settings(
            ItemsJob, self.audit(key), experiment.generation, seeds=experiment.seeds, words=words
        )
        return to_params(given)

    def audit_items(self, key: Key) -> str | list[str]:
        """Return the items of the audit; none without an audit."""
        audit = self.project.experiment(key).studies.human_2afc
        return [] if audit is None else self.paths.audit_items.of(key)

    def responses(self, key: Key) -> list[str]:
        """Return the response files that have come back."""
        audit = self.project.experiment(key).studies.human_2afc
        if audit is None or audit.responses is None:
            return []
        return [self.project.given(str(path)) for path in sorted(Path(audit.responses).glob("*.json"))]

    def score_2afc_settings(self, key: Key) -> Parameter:
        """Return what the scoring of the audit reads; without an audit, the rows that say that there is none."""
        return job_params(AuditVotes, self.project.experiment(key).studies.human_2afc or HumanAudit())

    def pages(self) -> list[str]:
        """Return the pages of every audit."""
        return [
            self.paths.audit_page.of(experiment=name, annotator=number)
            for name, experiment in self.project.config.experiments.items()
            if experiment.studies.human_2afc is not None
            for number in range(1, experiment.studies.human_2afc.annotators + 1)
        ]

    # Language models as judges

    def _judges(self, key: Key) -> Judges:
        return not_none(self.project.experiment(key).studies.judges)

    def prepare_judgements_settings(self, key: Key) -> Parameter:
        """Return what the requests to a judge depend on."""
        seeds, words = self.project.experiment(key).seeds, self.project.words(key)
        return job_params(JudgementsJob, self._judges(key), seeds=seeds, words=words)

    def judge_code(self, key: Key) -> str:
        return JUDGES.entry(self._judges(key).model)

    def judge_settings(self, key: Key) -> Parameter:
        """Return how the judge is asked, and for a local one which model it is."""
        judges, endpoint, local = self._judges(key), None, None
        if judges.model == "endpoint":
            endpoint = build_job_settings(EndpointLimits, judges)
        else:
            base = self.project.asked_model(judges.base_model)
            local = LocalModel(title=self.project.model_title(judges.base_model), base=base)
        return job_params(JudgeJob, judges, endpoint=endpoint, local=local)

    def judge_files(self, key: Key) -> list[str]:
        """Return the files of a local judge that is made here."""
        judges = self._judges(key)
        return self.project.model_files(judges.base_model) if judges.model == "local" else []

    def judgements(self, key: Key) -> list[str]:
        """Return the judgements and their key; none where the experiment has no judges."""
        if self.project.experiment(key).studies.judges is None:
            return []
        return [self.paths.judgements.of(key), self.paths.judge_key.of(key)]

    def score_judges_settings(self, key: Key) -> Parameter:
        """Return what the scores of judgements are about."""
        experiment = self.project.experiment(key)
        seeds, bootstrap = experiment.seeds, experiment.evaluation.bootstrap
        judges = experiment.studies.judges or JudgedRows(methods=list(experiment.methods), voice=None)
        return job_params(JudgeScoring, judges, seeds=seeds, bootstrap=bootstrap)

    def judge_scores(self) -> list[str]:
        """Return the scores of judgements of every experiment that has judges."""
        return [
            self.paths.scores.of(experiment=name, family="judges")
            for name, experiment in self.project.config.experiments.items()
            if experiment.studies.judges is not None
        ]

    # Transfer of frozen style encoders to another corpus

    def transfer_corpus(self, key: Key) -> str:
        return not_none(self.project.experiment(key).evaluation.transfer).corpus

    def _check_transfer(self, name: str) -> None:
        if TRANSFER_TABLE in self.project.config.experiments[name].tables and not self.transferred(
            Key(experiment=name)
        ):
            raise UserError(
                f"config key 'experiments.{name}.evaluation.encoders': table {TRANSFER_TABLE} compares style encoders "
                "that are trained here, beside the style encoder; name at least one"
            )

    def transferred(self, key: Key) -> list[str]:
        """Return the encoders that are compared: those trained here, apart from the style encoder."""
        experiment, encoders = self.project.experiment(key), self.project.config.encoders
        return [
            encoder
            for encoder in experiment.evaluation.encoders
            if encoders[encoder].training is not None and encoder != experiment.style_encoder
        ]

    def embedded(self, key: Key) -> list[str]:
        return [] if self.project.experiment(key).evaluation.transfer is None else self.transferred(key)

    def embed_transfer_settings(self, key: Key) -> Parameter:
        """Return what the embeddings of the second corpus depend on."""
        transfer = not_none(self.project.experiment(key).evaluation.transfer)
        loaded = self.project.loaded_encoder(key)
        return to_params(TransferEncoding(encoder=loaded, transfer=build_job_settings(TransferTexts, transfer)))

    def score_transfer_settings(self, key: Key) -> Parameter:
        """Return what the scores of the transfer depend on."""
        bootstrap = self.project.experiment(key).evaluation.bootstrap
        return to_params(TransferScoring(encoders=self.transferred(key), bootstrap=bootstrap))
