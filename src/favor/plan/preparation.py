"""The settings of jobs before training: of corpora, base models, encoders, texts and prompts."""

from favor.config.experiments import Experiment
from favor.corpora import settings as corpora
from favor.encoders.settings import AssistantTraining, Certification, Encoding, Stylometry
from favor.lm.settings import LoadedModel
from favor.plan.job_settings import Parameter, job_settings, not_none, to_params
from favor.plan.keys import Key
from favor.plan.project import PlannerComponent, alternatives, unique
from favor.studies.settings import RequestMaking, RequestSelection


class Preparation(PlannerComponent):
    """The settings of a project's corpora, base models and encoders."""

    def split_documents_settings(self, key: Key) -> corpora.Splitting:
        """Return how documents are split. A shuffle needs no dates, so it does not read ``undated``."""
        corpus = self.config.corpora[key.corpus]
        return job_settings(corpora.Splitting, corpus, unread=() if corpus.split == "temporal" else ("undated",))

    def select_background_settings(self, key: Key) -> corpora.Background:
        corpus = self.config.corpora[key.corpus]
        return job_settings(corpora.Background, corpus, authors=corpus.roles.background)

    def corpus_tokenizer(self, key: Key) -> list[str]:
        return self.project.tokenizer_files(self._tokenizer(key))

    def count_tokens_settings(self, key: Key) -> corpora.TokenCounting:
        folder = self.project.tokenizer_folder(self._tokenizer(key))
        return job_settings(corpora.TokenCounting, self.config.corpora[key.corpus], tokenizer_folder=folder)

    def _tokenizer(self, key: Key) -> str:
        return not_none(self.config.corpora[key.corpus].tokenizer)

    def filtered_by(self, key: Key) -> list[str]:
        filters = self.config.corpora[key.corpus].filters
        return [self.paths.author_measures.of(key)] if filters.any_set else []

    def suitability_tokenizers(self, key: Key) -> list[str]:
        return unique(file for model in self._counting_models(key) for file in self.project.tokenizer_files(model))

    def _counting_models(self, key: Key) -> list[str]:
        """Return the base models whose tokenizers count prompts; those of studies only if a corpus has no others."""
        experiments = self._experiments(key).values()
        own = [each.base_model for each in experiments if not self._laid_over(each)]
        return unique(own or (each.base_model for each in experiments))

    def copies(self, key: Key) -> list[str]:
        """Return the near duplicates of a corpus, if an experiment drops them from its prompts."""
        drops = any(each.prompts.near_duplicates == "drop" for each in self._experiments(key).values())
        return self.project.near_duplicates(key.corpus) if drops else []

    def measure_suitability_settings(self, key: Key) -> corpora.Suitability:
        """Return what the experiments on a corpus, without studies, need of their clients; equal needs once."""
        needs: dict[str, corpora.Need] = {}
        for name, each in self._experiments(key).items():
            if not self._laid_over(each):
                needs.setdefault(repr(self._need("", each)), self._need(name, each))
        found = sorted(needs.values(), key=lambda need: need.experiment)
        return job_settings(corpora.Suitability, self.config.corpora[key.corpus], needs=found)

    def study_needs(self, key: Key, input: object) -> list[Parameter]:
        """Return what studies that are laid over the experiments on a corpus need of their clients.

        Snakemake keeps no record of a parameter whose function asks for ``input``, so a study that is added reruns
        nothing. For the same reason its prompts are counted with the first experiment's tokenizer where its own is
        trained here for it alone, for that would be a new input.
        """
        models = self._counting_models(key)
        needs = []
        for name, each in self._experiments(key).items():
            if self._laid_over(each):
                foreign = self.project.tokenizer_files(each.base_model) and each.base_model not in models
                needs.append(to_params(self._need(name, each, models[0] if foreign else each.base_model)))
        return needs

    def check_corpus_settings(self, key: Key) -> corpora.Readiness:
        corpus = self.config.corpora[key.corpus]
        experiments = {
            name: job_settings(
                corpora.CheckedExperiment, each, first=each.client_numbers.start + 1, last=each.client_numbers.stop
            )
            for name, each in self._experiments(key).items()
        }
        return corpora.Readiness(
            reader_name=corpus.reader,
            splitting=self.split_documents_settings(key),
            background=self.select_background_settings(key),
            roster=job_settings(corpora.Roster, corpus),
            experiments=experiments,
        )

    def checks(self, key: object = None) -> list[str]:
        used = sorted({experiment.corpus for experiment in self.experiments.values()})
        return [self.paths.corpus_check.of(corpus=corpus) for corpus in used]

    def _experiments(self, key: Key) -> dict[str, Experiment]:
        return {name: each for name, each in self.experiments.items() if each.corpus == key.corpus}

    def _laid_over(self, experiment: Experiment) -> bool:
        """Return whether an experiment is a study that must not change the roster of another."""
        if experiment.extends is None:
            return False
        base = self.experiments[experiment.extends]
        on_corpus = self._experiments(Key(corpus=experiment.corpus)).values()
        return base.corpus == experiment.corpus or any(each.extends is None for each in on_corpus)

    def _need(self, name: str, experiment: Experiment, model: str | None = None) -> corpora.Need:
        """Return what an experiment needs of its clients; ``model``: whose tokenizer counts, if not its own."""
        allocation = experiment.allocation
        return job_settings(
            corpora.Need,
            experiment.prompts,
            experiment=name,
            tokenizer_folder=self.project.tokenizer_folder(model or experiment.base_model),
            prompts=self._shortest_cut(experiment),
            study=self._laid_over(experiment),
            training_texts=(allocation.shots or 0) + allocation.reference_texts,
            first_client=experiment.client_numbers.start + 1,
            last_client=experiment.client_numbers.stop,
        )

    def _shortest_cut(self, experiment: Experiment) -> corpora.PromptCut:
        """Return how prompts are cut to decide on authors, whatever the length of continuations."""
        shortest = experiment.prompts.minimum_gold_tokens
        return job_settings(corpora.PromptCut, experiment.prompts, maximum_gold_tokens=shortest)

    def quantise_base_settings(self, key: Key) -> LoadedModel:
        model = self.config.base_models[key.model]
        return job_settings(LoadedModel, model, source=self.project.plain_folder(key.model))

    def fit_stylometry_settings(self, key: Key) -> Stylometry:
        fitting = not_none(self.config.encoders[key.encoder].fitting)
        return job_settings(Stylometry, fitting, self.config.corpora[fitting.corpus])

    def embed_sources_settings(self, key: Key) -> Encoding:
        return Encoding(encoder=self.project.loaded_encoder(key))

    embed_generations_settings = embed_drafts_settings = embed_sources_settings

    def certify_encoder_settings(self, key: Key) -> Certification:
        return Certification(encoder=self.project.loaded_encoder(key), items=self.config.stel_items)

    def train_assistant_settings(self, key: Key) -> AssistantTraining:
        assistant = self.config.assistants[key.assistant]
        words = self.config.corpora[assistant.corpus].words
        return job_settings(AssistantTraining, assistant, words=words)

    def tokenizer(self, key: Key) -> list[str]:
        return self.project.tokenizer_files(self.project.experiment(key).base_model)

    def copied_posts(self, key: Key) -> list[str]:
        experiment = self.project.experiment(key)
        drops = experiment.prompts.near_duplicates == "drop"
        return self.project.near_duplicates(experiment.corpus) if drops else []

    def select_prompts_settings(self, key: Key) -> corpora.PromptSelection:
        experiment = self.project.experiment(key)
        folder = self.project.tokenizer_folder(experiment.base_model)
        longest = experiment.generation.max_new_tokens
        return job_settings(
            corpora.PromptSelection, experiment.prompts, maximum_gold_tokens=longest, tokenizer_folder=folder
        )

    def common_source(self, key: Key) -> list[str]:
        common = self.project.experiment(key).prompts.common
        return [] if common is None or common.path is None else [self.project.given(common.path)]

    def select_common_prompts_settings(self, key: Key) -> corpora.CommonSelection:
        experiment = self.project.experiment(key)
        folder = self.project.tokenizer_folder(experiment.base_model)
        # The length of a continuation by people decides on no prompt.
        cut = self._shortest_cut(experiment)
        return job_settings(corpora.CommonSelection, experiment.prompts, cut=cut, tokenizer_folder=folder)

    # Experiments whose models answer requests

    def doing(self, *tasks: str) -> str:
        """Return a regular expression of the experiments whose models do one of ``tasks``."""
        return alternatives(name for name, each in self.experiments.items() if each.task in tasks)

    def make_requests_settings(self, key: Key) -> RequestMaking:
        experiment = self.project.experiment(key)
        splits = ["train", "test", *(["validation"] if experiment.training.validation is not None else [])]
        model = self.project.asked_model(experiment.base_model)
        return job_settings(RequestMaking, experiment, experiment.training, model=model, splits=splits)

    def select_requests_settings(self, key: Key) -> RequestSelection:
        experiment = self.project.experiment(key)
        longest = experiment.generation.max_new_tokens
        return job_settings(RequestSelection, experiment, experiment.prompts, maximum_gold_tokens=longest)
