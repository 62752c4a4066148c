"""What a whole run asks for: report and numbers, tables, runs, corpora and studies; and the software it needs."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from favor.foundation.errors import UserError
from favor.foundation.extras import require
from favor.foundation.names import nearest
from favor.plan.evaluation import Evaluation
from favor.plan.keys import Key
from favor.plan.project import unique
from favor.plan.publication import Publication
from favor.plan.studies import Studies
from favor.plan.tables import TABLE_KINDS, Sweeps, Tables
from favor.plan.training import TrainingComponent

BUILD = "build one with 'apptainer build favor.sif containers/favor.def' in a clone (docs/slurm.md)"


@dataclass(eq=False)
class Targets(TrainingComponent):
    """The targets of a project, found when they are asked for: a cluster job that runs one rule needs none of them."""

    studies: Studies
    tables: Tables
    evaluation: Evaluation
    sweeps: Sweeps
    publication: Publication

    def check(
        self, asked: Iterable[str], rules: Collection[str], find: Callable[[str], Mapping[str, str] | None]
    ) -> None:
        """Check what a command line asks for: rules, and files that are there or that a rule makes.

        ``find`` returns the wildcards of a file that a rule makes. Raises ``UserError`` that names the nearest target,
        or the seed or row that the experiment does not have.
        """
        for target in asked:
            if target in rules:
                continue
            found = find(target if os.path.isabs(target) else os.path.relpath(target))
            if found is not None:
                if found.get("experiment") in self.experiments:
                    self.project.check_run(found["experiment"], found.get("method"), found.get("seed"))
            elif not os.path.exists(target):
                known = self.everything() if "/" in target else rules
                raise UserError(
                    f"target '{target}': no rule has this name or makes such a file; "
                    + nearest(target, known, "snakemake --list-rules names the rules")
                )

    def extras(self) -> Iterator[tuple[str, str]]:
        """Yield (extra of pyproject.toml, what needs it) for every optional package that the configuration needs."""
        for name, corpus in self.config.corpora.items():
            if corpus.words == "segmented":
                yield "words", f"config key 'corpora.{name}.words': segmented"
        for name, experiment in self.experiments.items():
            if "mauve" in self.evaluation.families(name):
                yield "mauve", f"a table of the experiment '{name}' prints MAUVE, which"
            judges = experiment.studies.judges
            if judges is not None and judges.model == "endpoint":
                yield "judges", f"config key 'experiments.{name}.studies.judges'"
            for row, plan in self.project.plans(name).items():
                if plan.prompting is not None and plan.prompting.passages:
                    yield "retrieval", f"row '{row}' of the experiment '{name}'"

    def check_software(self, deployed: Collection[str]) -> None:
        """Raise ``UserError`` where jobs would lack packages of this environment, or the image that they run in.

        ``deployed``: the methods of ``--software-deployment-method``, by which jobs do not run in this environment.
        """
        if "apptainer" in deployed:
            image = self.config.image
            if image is None:
                raise UserError(f"--sdm apptainer needs config key 'image'; {BUILD}")
            if "://" not in image and not Path(image).is_file():
                raise UserError(f"config key 'image': there is no file '{image}'; {BUILD}")
        for extra, what in () if deployed else self.extras():
            require(extra, what)

    def everything(self, key: object = None) -> list[str]:
        return [
            *self.publication.report(),
            *self.publication.galleries(),
            self.paths.numbers.of(),
            *self.tables.files(*TABLE_KINDS),
            *self.sweeps.table_files(*TABLE_KINDS),
            *self.studies.judge_scores(),
            *self.runs(),
            *self.studies.pages(),
            *self.corpora(),
        ]

    def corpora(self) -> list[str]:
        """Return the files of corpora, base models and encoders that are kept."""
        paths, experiments = self.paths, self.experiments
        kinds = (paths.documents, paths.splits, paths.authors, paths.suitability, paths.roster, paths.overlap)
        used = sorted({experiment.corpus for experiment in experiments.values()})
        files = [kind.of(corpus=corpus) for corpus in used for kind in kinds]
        for name, experiment in experiments.items():
            files += self.project.model_files(experiment.base_model)
            for encoder in self.project.encoders_of(Key(experiment=name)):
                files += self.project.encoder_files(Key(encoder=encoder))
        return unique(files)

    def runs(self) -> list[str]:
        """Return the files of every run that are kept: a lost one is made again even if nothing else needs it."""
        return unique(file for name in self.experiments for file in self._kept(name))

    def _kept(self, name: str) -> list[str]:
        paths, measured = self.paths, self.evaluation.is_measured(name)
        kinds = (paths.texts, paths.allocation, paths.boundary, paths.settings)
        files = [kind.of(experiment=name) for kind in kinds]
        for run in self.training.runs(name):
            if measured:
                files += [paths.prompts.of(run), self.evaluation.run_generations(run)]
            if self.training.trainer(run) == run:
                files += self._trained(run)
        if measured:
            encoders, families = self.project.encoders_of(Key(experiment=name)), self.evaluation.families(name)
            files += paths.generation_embeddings.each(experiment=name, encoder=encoders)
            files += paths.scores.each(experiment=name, family=families)
            files.append(paths.utility.of(experiment=name))
            if self.experiments[name].evaluation.assistant is not None:
                files.append(paths.assistant_scores.of(experiment=name))
        return files

    def _trained(self, run: Key) -> list[str]:
        """Return the adapters of a run: after every round of its shared track, and of its clients."""
        files = []
        if self.project.plan(run).shared is not None:
            for number in range(self.project.experiment(run).federation.rounds):
                files.append(self.training.server_adapter(run, number + 1))
                if self.config.keep_uploads:
                    files += self.training.round_uploads(run, number)
        if self.evaluation.keeps_adapters(run.seed):
            files += [self.paths.personal_pack.of(job) for job in self.training.personal_jobs(run)]
        return files
