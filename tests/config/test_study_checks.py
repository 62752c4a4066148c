"""Outputs of another experiment are taken only where they were made alike; contexts that are known are looked up."""

import copy
import json
from functools import reduce
from operator import getitem

import pytest
from snakemake.utils import update_config
from tests.exports.conftest import refusal
from tests.plan.conftest import read

from favor.config.configuration import Configuration
from favor.config.resolve import resolve
from favor.config.study_checks import check_prompted_outputs
from favor.federation.row_plan import declared_method
from favor.foundation.errors import UserError
from favor.lm.settings import LanguageModel
from favor.paper.names import released_methods
from favor.studies.settings import COLLABORATIVE

STUDIES = read("tests/data/studies.yaml")


def resolved(probes=(), micro=()) -> Configuration:
    config = copy.deepcopy(STUDIES)
    config["experiments"]["probes"].update(probes)
    config["experiments"]["micro"].update(micro)
    return resolve(config)


def test_outputs_made_alike_are_taken() -> None:
    config = resolved()
    assert config.experiments["probes"].outputs_of == "micro"
    # The second corpus counts tokens as the experiment that scores it does.
    assert config.corpora["stories"].tokenizer == "micro"


@pytest.mark.parametrize(
    ("probes", "message"),
    [
        ({"outputs_of": "mirco"}, "no other experiment 'mirco'; did you mean 'micro'"),
        ({"outputs_of": "probes"}, "no other experiment 'probes'"),
        ({"generation": {"max_new_tokens": 24}}, "'generation' differs from that of 'micro'"),
        ({"seeds": [1, 2]}, "'micro' has no outputs of seed 2"),
        ({"methods": {"average_author": {}}}, "no row is also one of 'micro'"),
        ({"methods": {"favor": {"lambda_align": 0.1}}}, "row 'favor' has other settings in 'micro'"),
        ({"evaluation": {"transfer": {"corpus": "storys"}}}, "did you mean 'stories'"),
        ({"prompting": {"model": "macro"}}, "did you mean 'micro'"),
    ],
)
def test_others_are_refused(probes, message) -> None:
    assert message in refusal(resolved, probes)


def test_prompted_outputs_are_taken_where_they_were_prompted_alike() -> None:
    # Both have the row; "micro" shows it 3 passages (the default), "probes" says 2: that is no such output.
    rows = {"fedavg": {}, "favor": {}, "sheet_retrieval": {}}
    experiments = resolved({"methods": rows}, {"methods": rows}).experiments
    with pytest.raises(UserError, match=r"probes.prompting.passages': 2, but 'micro' made .* 'sheet_retrieval' with 3"):
        check_prompted_outputs("probes", "sheet_retrieval", experiments)
    alike = {"methods": rows, "prompting": STUDIES["experiments"]["probes"]["prompting"]}
    check_prompted_outputs("probes", "sheet_retrieval", resolved({"methods": rows}, alike).experiments)
    # A row that is made here is prompted as it says here; so is every row where no outputs are taken over.
    check_prompted_outputs("probes", "average_author", resolved().experiments)
    check_prompted_outputs("micro", "sheet_retrieval", experiments)


def test_a_title_is_no_other_setting() -> None:
    assert resolved({"methods": {"favor": {"title": "Ours"}}}).experiments["probes"].methods["favor"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("experiments.micro.outputs_of", "other", "'micro' takes its outputs from 'other'"),
        ("encoders.asce_2.training.authors", 25, "25 authors wanted, but corpora"),
        ("corpora.stories.reader", "blog_csv", "cannot read a generated corpus of shape 'mythos'; set it to mythos"),
    ],
)
def test_what_does_not_go_together_is_refused(path, value, message) -> None:
    config = copy.deepcopy(STUDIES)
    config["experiments"]["other"] = {**config["experiments"]["micro"], "title": "Other"}
    *parents, key = path.split(".")
    reduce(getitem, parents, config)[key] = value
    assert message in refusal(resolve, config)


def test_a_context_is_known_from_the_configuration_or_a_local_folder(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 77}))
    pretrained = {"pretrain": {"corpus": "c", "context_length": 96}}
    models = (pretrained, {"source": str(tmp_path)}, {"source": "owner/model"})
    assert [LanguageModel(**model).known_context() for model in models] == [96, 77, None]


def test_lengths_fit_the_context_of_a_model_in_a_folder(tmp_path) -> None:
    config = copy.deepcopy(STUDIES)
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 77}))
    micro = config["experiments"]["micro"]
    assert micro["training"]["max_length"] <= 77
    config["base_models"][micro["base_model"]] = {"source": str(tmp_path)}
    micro["training"]["max_length"] = 78
    assert "78 tokens exceed the model's context of 77; lower it" in refusal(resolve, config)


def test_judged_by_default_are_the_methods_of_the_release_that_federate() -> None:
    federating = [name for name in released_methods() if declared_method(name).federates]
    assert list(COLLABORATIVE) == federating  # the configuration is read before any method, so it holds their names


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"base_model": "tiny"}, "base_models.tiny.pretrain reads 'demo'"),
        ({"style_encoder": "asce_a"}, "encoders.asce_a.training reads 'demo'"),
        ({"evaluation": {"encoders": ["asce_draw_3"]}}, "encoders.asce_draw_3.training reads 'demo_3'"),
        ({"evaluation": {"encoders": ["stylometry"]}}, "encoders.stylometry.fitting reads 'demo'"),
        ({"evaluation": {"assistant": "demo"}}, "assistants.demo reads 'demo'"),
        ({"prompting": {"model": "tiny_3"}}, "base_models.tiny_3.pretrain reads 'demo_3'"),
    ],
)
def test_what_was_made_on_another_draw_of_the_authors_is_refused(changes, key) -> None:
    """Under another seed of the corpus an encoder's author may be a client."""
    raw = read("config/config.yaml", "config/demo/corpus_seed.yaml")
    resolve(copy.deepcopy(raw))
    update_config(raw["experiments"]["draw_2"], changes)
    said = refusal(resolve, raw)
    assert "experiments.draw_2': its corpus is 'demo_2'" in said
    assert key in said


def test_an_encoder_of_another_corpus_is_taken() -> None:
    """Other posts, other authors: the BlogText encoder is the second opinion on stories."""
    raw = read("config/config.yaml", "config/demo/domain_studies.yaml")
    assert "asce_a" in resolve(raw).experiments["stories"].evaluation.encoders
