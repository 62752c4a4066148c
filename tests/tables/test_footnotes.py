"""What a table says below itself: shared evaluation posts, missing prompts, few texts, FedDPA's global half."""

import pandas as pd
import pytest
from tests.plan.conftest import Planning, plan  # noqa: F401 - a fixture

from favor.tables.build import build_table
from favor.tables.completion import EvaluationPosts, printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.specs import Context


def prompts(*posts) -> pd.DataFrame:
    return pd.DataFrame({"client": "client_001", "document_id": list(posts)})


def test_shared_posts_and_missing_prompts_by_hand() -> None:
    posts = EvaluationPosts.of({1: prompts("a", "b", "c"), 2: prompts("b", "c"), 3: prompts("c", "d", "e")}, 3)
    # a b c d e; b and c in more than one seed
    assert (posts.posts, posts.shared) == (5, 2)
    assert posts.sharing.startswith("2 of the 5 evaluation posts are used in more than one seed")
    assert posts.shortfall == "Fewer prompts than asked for, as test posts are too short: 2 of 3 (seed 2)."
    apart = EvaluationPosts.of({1: prompts("a"), 2: prompts("b")}, 1)
    assert (apart.sharing, apart.shortfall) == ("", "")


def test_fewer_prompts_stand_below_a_table(scores, context) -> None:
    posts = EvaluationPosts.of({1: prompts("a", "b"), 2: prompts("c", "d", "e")}, 3)
    remarks = {"FAVoR": "On FAVoR.", "Other": "On another."}
    spec = printed_spec("main_federated_results", Context("trial", [], remarks=remarks), posts)
    cells = build_table(spec, scores, context)
    for text in (latex_table(spec, cells), html_table(spec, cells)):
        assert "Fewer prompts than asked for, as test posts are too short: 2 of 3 (seed 1)." in text
        assert "On FAVoR." in text
        assert "On another." not in text


@pytest.mark.parametrize("shared", [True, False])
def test_the_interval_over_authors_goes_first_where_seeds_share_posts(shared) -> None:
    posts = EvaluationPosts.of({1: prompts("a"), 2: prompts("a" if shared else "b")}, 1)
    plain, spec = (printed_spec("phase1-paired-significance", own, posts) for own in (None, Context("trial", [])))
    statistics = [column.statistic for column in spec.panels[0].columns]
    assert (statistics.index("author_interval") < statistics.index("interval")) == shared
    assert sorted(map(repr, spec.panels[0].columns)) == sorted(map(repr, plain.panels[0].columns))
    assert ("read the interval over authors first" in spec.footnotes[""]) == shared


@pytest.mark.parametrize(("texts", "reason"), [(9, "n = 9"), (10, "")])
def test_a_score_of_fewer_than_ten_texts_says_so(score, texts, reason) -> None:
    spec = printed_spec("main_federated_results")
    rows = [score("favor", "author_accuracy", 0.5, "asce_a") | {"n": texts}]
    cells = build_table(spec, pd.DataFrame(rows), Context("trial", ["favor"], encoders={"style": "asce_a"}))
    found = cells[(cells["row"] == "FAVoR") & (cells["value"] == 0.5)]
    assert found["reason"].tolist() == [reason]


def test_feddpas_rows_say_which_global_half_generates(plan) -> None:  # noqa: F811
    late = {"late": {"method": "feddpa", "global_half": "final", "title": "Late"}}
    planner = plan(change={"experiments": {"micro": {"methods": late}}})
    remarks = planner.tables.remarks("micro")
    last = planner.training.last_rounds("micro", "1", "coverage_first")
    initial = sum(number == 0 for number in last.values())
    assert f"which for {initial} (seed 1) of 4 clients is the untrained initial adapter" in remarks["FedDPA†"]
    assert remarks["Late"] == "Late: the global half of a client's pair is the final shared adapter."
    assert set(remarks) == {"feddpa", "feddpa_dynamic", "late", "FedDPA†", "FedDPA (dynamic gate)", "Late"}


def test_a_row_says_that_clients_without_a_half_of_their_own_generate_with_the_base(plan) -> None:  # noqa: F811
    rows = {"fedsa_lora": {}, "fedsa_b": {"method": "fedsa_lora", "uploads": "B"}}
    planner = plan(change={"experiments": {"micro": {"methods": rows, "federation": {"rounds": 1}}}})
    remarks = planner.tables.remarks("micro")
    sampled = len(planner.training.last_rounds("micro", "1", "coverage_first"))
    assert 0 < sampled < 4
    assert remarks["fedsa_lora"] == remarks["FedSA-LoRA"]
    assert f"{4 - sampled} (seed 1) clients that no round sampled generate with the base model" in remarks["fedsa_lora"]
    assert "fedsa_b" not in remarks  # B beside the initial A is an adapter of its own
    everybody = plan(change={"experiments": {"micro": {"methods": {"fedsa_lora": {}}}}})
    assert "fedsa_lora" not in everybody.tables.remarks("micro")


def test_a_remark_stands_where_a_column_is_its_method(scores, context) -> None:
    posts = EvaluationPosts.of({1: prompts("a")}, 1)
    remarks = {"feddpa": "On FedDPA.", "favor": "On FAVoR."}
    spec = printed_spec("feddpa-gate-sensitivity", Context("trial", [], remarks=remarks), posts)
    text = latex_table(spec, build_table(spec, scores, context))
    assert "On FedDPA." in text
    assert "On FAVoR." not in text
