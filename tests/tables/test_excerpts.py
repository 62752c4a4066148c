"""The qualitative table: common survivors, a fixed draw, shortened texts, nobody named."""

import pandas as pd

from favor.tables.completion import printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.quoted_examples import build_excerpts, common_prompts, shortened
from favor.tables.specs import Context

SPEC = printed_spec("qualitative-appendix")


def made(failed=("favor", "p3")) -> tuple[pd.DataFrame, pd.DataFrame]:
    prompts = pd.DataFrame(
        [(1, f"client_00{n}", f"p{n}", f"prefix {n}", f"gold {n}") for n in range(1, 7)],
        columns=["seed", "client", "prompt_id", "prompt_text", "gold_text"],
    )
    rows = [
        (1, method, f"client_00{n}", f"p{n}", f"{method} {n}", (method, f"p{n}") != failed)
        for method in ("favor", "fedavg", "mine")
        for n in range(1, 7)
    ]
    return pd.DataFrame(rows, columns=["seed", "method", "client", "prompt_id", "text", "passed"]), prompts


def test_only_prompts_that_every_method_survived() -> None:
    generations, _ = made()
    found = common_prompts(generations, ["favor", "fedavg", "mine"])
    assert found["prompt_id"].tolist() == ["p1", "p2", "p4", "p5", "p6"]
    assert len(common_prompts(generations, ["fedavg", "mine"])) == 6


def test_three_examples_in_the_papers_order_own_methods_behind() -> None:
    context = Context("trial", ["favor", "fedavg", "mine"], display={"mine": "My method"})
    spec, cells = build_excerpts(SPEC, *made(), context)
    assert len(cells) == 3 * 5
    names = [row.split(" · ")[1] for row in cells["row"][:5]]
    assert names == ["Prefix cue", "Gold cue", "FedAvg", "FAVoR", "My method"]
    for number in ("1", "2", "3"):
        texts = cells.loc[cells["row"].str.startswith(f"{number} ·"), "text"]
        assert texts.str.split().str[-1].nunique() == 1  # one prompt's texts stand together
    assert "5 prompts pass in all 3 methods" in spec.caption
    again = build_excerpts(SPEC, *made(), context)[1]
    pd.testing.assert_frame_equal(cells, again)
    for document in (latex_table(spec, cells), html_document(spec, cells)):
        assert "Not for publication" in document
        assert "client_00" not in document


def test_no_common_prompt_is_a_dash_with_a_reason() -> None:
    generations, prompts = made()
    _, cells = build_excerpts(SPEC, generations.assign(passed=False), prompts, Context("trial", ["favor", "fedavg"]))
    assert cells["text"].tolist() == ["–"]
    assert cells["reason"].tolist() == ["no prompt has outputs that pass the filter in every method"]


def test_shortening_keeps_whole_words_on_one_line() -> None:
    assert shortened("one\ntwo  three", 2) == "one two …"
    assert shortened(" one two ", 2) == "one two"
