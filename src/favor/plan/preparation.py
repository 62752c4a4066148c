"""What the jobs before training read of the configuration: corpora, base models, encoders, texts, prompts."""

from __future__ import annotations

from typing import Any

from favor.config.experiments import Experiment
from favor.plan.keys import InCorpus, InExperiment, OfAssistant, OfEncoder, OfModel
from favor.plan.project import Project, parameter, pick, unique, without


class Preparation:
    """The settings of a project's corpora, base models and encoders."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.config = project.config

    def demo_corpus_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how a corpus is generated."""
        demo = self.config.corpora[key.corpus].demo
        assert demo is not None
        return parameter(**without(demo))

    def document_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how a raw corpus is read and cleaned."""
        keys = ("reader", "encoding", "columns", "excluded_authors", "excluded_texts", "words", "shared_authors")
        return parameter(**pick(self.config.corpora[key.corpus], *keys))

    def split_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how documents are split."""
        corpus = self.config.corpora[key.corpus]
        # A shuffle has no such keys, so splits that were made before these were there stay.
        temporal = pick(corpus, "split", "undated") if corpus.split == "temporal" else {}
        return parameter(**pick(corpus, "seed", "minimum_posts"), **temporal)

    def near_duplicate_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how near duplicates are found."""
        return parameter(**pick(self.config.corpora[key.corpus], "near_duplicates", "seed"))

    def background_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how background authors are chosen."""
        corpus = self.config.corpora[key.corpus]
        minimum = corpus.background_minimum_words
        return parameter(authors=corpus.roles.background, minimum_words=minimum, seed=corpus.seed)

    def corpus_tokenizer(self, key: InCorpus) -> list[str]:
        """Return the files of the tokenizer that a corpus is counted with."""
        return self.project.tokenizer_files(self._tokenizer(key))

    def token_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return which tokenizer a corpus is counted with, and how many tokens are asked of an author."""
        minimum = self.config.corpora[key.corpus].minimum_tokens
        return parameter(tokenizer=self.project.tokenizer_folder(self._tokenizer(key)), minimum_tokens=minimum)

    def _tokenizer(self, key: InCorpus) -> str:
        name = self.config.corpora[key.corpus].tokenizer
        assert name is not None
        return name

    def near_duplicates(self, key: InCorpus) -> list[str]:
        """Return the near duplicates of a corpus, where they are looked for."""
        return self.project.near_duplicates(key.corpus)

    def measure_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return which authors are measured."""
        return parameter(**pick(self.config.corpora[key.corpus], "minimum_tokens", "seed"))

    def filtered_by(self, key: InCorpus) -> list[str]:
        """Return what authors are filtered by, where a filter is set."""
        filters = self.config.corpora[key.corpus].filters
        return [self.project.paths.author_measures.of(key)] if filters.any_set else []

    def background(self, key: InCorpus) -> list[str]:
        """Return the background authors of a corpus, where it has any."""
        return self.project.background(key.corpus)

    def suitability_tokenizers(self, key: InCorpus) -> list[str]:
        """Return the files of the tokenizers that prompts of a corpus are cut with."""
        return unique(file for model in self._counting_models(key) for file in self.project.tokenizer_files(model))

    def _counting_models(self, key: InCorpus) -> list[str]:
        """Return the base models whose tokenizers count prompts: of studies only where a corpus has nothing else."""
        experiments = self._experiments(key).values()
        own = [each.base_model for each in experiments if each.extends is None]
        return unique(own or (each.base_model for each in experiments))

    def copies(self, key: InCorpus) -> list[str]:
        """Return the near duplicates of a corpus, where an experiment takes no prompts from them."""
        drops = any(each.prompts.near_duplicates == "drop" for each in self._experiments(key).values())
        return self.project.near_duplicates(key.corpus) if drops else []

    def suitability_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return what experiments of their own on a corpus need of their clients, equal needs once."""
        experiments = self._experiments(key)
        first = {repr(self._need(each)): name for name, each in reversed(experiments.items()) if each.extends is None}
        needs = [{"experiment": name, **self._need(experiments[name])} for name in sorted(first.values())]
        return parameter(needs=needs, **pick(self.config.corpora[key.corpus], "minimum_tokens"))

    def study_needs(self, key: InCorpus, input: object) -> list[dict[str, Any]]:
        """Return what studies that extend an experiment need of their clients.

        Snakemake keeps no record of a parameter whose function asks for ``input``, so a study that is added reruns
        nothing. For the same reason its prompts are counted with the first experiment's tokenizer where its own is
        trained here for it alone, for that would be a new input.
        """
        models = self._counting_models(key)
        needs = []
        for name, each in self._experiments(key).items():
            if each.extends is not None:
                need = {"experiment": name, **self._need(each)}
                if self.project.tokenizer_files(each.base_model) and each.base_model not in models:
                    need["tokenizer"] = self.project.tokenizer_folder(models[0])
                needs.append(need)
        return list(parameter(needs=needs)["needs"])

    def role_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return how authors are given their roles.

        ``needs`` are those of experiments of their own. A study that extends one has its say in a roster that is still
        to be made, and moves nobody in one that is there: what was trained on it stays.
        """
        keys = ("roles", "minimum_tokens", "selection", "style_clusters", "seed", "filters", "near_duplicates")
        own = [self._need(each) for each in self._experiments(key).values() if each.extends is None]
        needs = [need for place, need in enumerate(own) if need not in own[:place]]
        return parameter(needs=needs, **pick(self.config.corpora[key.corpus], *keys))

    def readiness_settings(self, key: InCorpus) -> dict[str, Any]:
        """Return what decides whether the experiments on a corpus can be run."""
        experiments = {
            name: {
                "first": each.client_numbers.start + 1,
                "last": each.client_numbers.stop,
                "allocation": without(each.allocation),
            }
            for name, each in self._experiments(key).items()
        }
        how = pick(self.config.corpora[key.corpus], "reader", "split")
        return parameter(**how, roles=self.role_settings(key), experiments=experiments)

    def checks(self, key: object = None) -> list[str]:
        """Return the pages that say whether experiments can be run, one per corpus that has any."""
        used = sorted({experiment.corpus for experiment in self.config.experiments.values()})
        return [self.project.paths.corpus_check.of(corpus=corpus) for corpus in used]

    def _experiments(self, key: InCorpus) -> dict[str, Experiment]:
        return {name: each for name, each in self.config.experiments.items() if each.corpus == key.corpus}

    def _need(self, experiment: Experiment) -> dict[str, Any]:
        """Return what an experiment needs of each of its clients (:class:`favor.corpora.suitability.Need`)."""
        allocation = experiment.allocation
        return {
            "tokenizer": self.project.tokenizer_folder(experiment.base_model),
            # How long a continuation may be decides on no prompt, so a change of it deals no other roster.
            "prompts": {**self._cut(experiment), "max_new_tokens": experiment.prompts.minimum_gold_tokens},
            "near_duplicates": experiment.prompts.near_duplicates,
            "minimum_prompts": experiment.prompts.minimum_per_client,
            "study": experiment.extends is not None,
            "training_texts": (allocation.shots or 0) + allocation.reference_texts,
            "first_client": experiment.client_numbers.start + 1,
            "last_client": experiment.client_numbers.stop,
        }

    def _cut(self, experiment: Experiment) -> dict[str, Any]:
        prompts = without(experiment.prompts, "minimum_per_client", "near_duplicates", "shared_passages", "common")
        return {**prompts, "max_new_tokens": experiment.generation.max_new_tokens}

    def tokenizer_settings(self, key: OfModel) -> dict[str, Any]:
        """Return how a tokenizer is trained."""
        pretrain = self.config.base_models[key.model].pretrain
        assert pretrain is not None
        return parameter(**pick(pretrain, "vocabulary_size"))

    def pretraining_settings(self, key: OfModel) -> dict[str, Any]:
        """Return how a base model is pretrained."""
        pretrain = self.config.base_models[key.model].pretrain
        assert pretrain is not None
        return parameter(**without(pretrain, "corpus"))

    def plain_model(self, key: OfModel) -> list[str]:
        """Return the files of a base model before it is quantised."""
        return self.project.plain_files(key.model)

    def quantisation_settings(self, key: OfModel) -> dict[str, Any]:
        """Return how a base model is quantised."""
        model = self.config.base_models[key.model]
        source = self.project.plain_folder(key.model)
        return parameter(source=source, **pick(model, "quantisation", "device", "dtype"))

    def asce_settings(self, key: OfEncoder) -> dict[str, Any]:
        """Return how a style encoder is trained."""
        return parameter(**pick(self.config.encoders[key.encoder], "source", "training"))

    def stylometry_settings(self, key: OfEncoder) -> dict[str, Any]:
        """Return how a stylometric space is fitted."""
        fitting = self.config.encoders[key.encoder].fitting
        assert fitting is not None
        words = self.config.corpora[fitting.corpus].words
        # Left out as of old under the paper's words: spaces that were fitted stay.
        return parameter(**without(fitting, "corpus"), **({} if words == "paper" else {"words": words}))

    def encoder_settings(self, key: OfEncoder) -> dict[str, Any]:
        """Return which encoder a job encodes texts with."""
        return parameter(encoder=self.project.encoder_settings(key))

    def certificate_settings(self, key: OfEncoder) -> dict[str, Any]:
        """Return which encoder is certified, and with how many items."""
        return parameter(encoder=self.project.encoder_settings(key), **pick(self.config, "stel_items"))

    def demo_assistant_settings(self, key: OfAssistant) -> dict[str, Any]:
        """Return how texts of an assistant are generated."""
        demo = self.config.assistants[key.assistant].demo
        assert demo is not None
        return parameter(**without(demo))

    def assistant_settings(self, key: OfAssistant) -> dict[str, Any]:
        """Return how an assistant classifier is trained."""
        return parameter(
            **pick(self.config.assistants[key.assistant], "column", "role", "people", "texts", "seed"),
            training=self.project.assistant_training(key),
            words=self.config.corpora[self.config.assistants[key.assistant].corpus].words,
        )

    def allocation_settings(self, key: InExperiment) -> dict[str, Any]:
        """Return how clients are given their texts."""
        experiment = self.project.experiment(key)
        return parameter(
            **without(experiment.allocation),
            **pick(experiment, "clients", "skip_clients"),
            words=self.project.words(key),
        )

    def tokenizer(self, key: InExperiment) -> list[str]:
        """Return the files of the tokenizer of an experiment's base model."""
        return self.project.tokenizer_files(self.project.experiment(key).base_model)

    def copied_posts(self, key: InExperiment) -> list[str]:
        """Return the posts that give no prompt because they are near duplicates, where such are looked for."""
        experiment = self.project.experiment(key)
        drops = experiment.prompts.near_duplicates == "drop"
        return self.project.near_duplicates(experiment.corpus) if drops else []

    def prompt_settings(self, key: InExperiment) -> dict[str, Any]:
        """Return how held-out posts are cut into prompts."""
        experiment = self.project.experiment(key)
        return parameter(
            **self._cut(experiment),
            **pick(experiment.prompts, "shared_passages"),
            tokenizer=self.project.tokenizer_folder(experiment.base_model),
        )

    def common_source(self, key: InExperiment) -> list[str]:
        """Return the user's own common prompts, where the configuration names them."""
        common = self.project.experiment(key).prompts.common
        return [] if common is None or common.path is None else [common.path]

    def common_prompt_settings(self, key: InExperiment) -> dict[str, Any]:
        """Return how common prompts are chosen."""
        experiment = self.project.experiment(key)
        common = experiment.prompts.common
        assert common is not None
        # The length of a continuation by people decides on no prompt.
        cut = {**self._cut(experiment), "max_new_tokens": experiment.prompts.minimum_gold_tokens}
        return parameter(
            cut=cut,
            common=without(common, "path"),
            tokenizer=self.project.tokenizer_folder(experiment.base_model),
        )
