"""What is asked, what is kept, and what is never paid for twice; counted by the server."""

import time
from typing import Any

import pandas as pd
import pytest
from tests.studies.judges.judge_server import KEY, QUALITY_ANSWER, completion, outputs

from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.studies.judges.asking import REPEATS, AnswerCache, judge_all
from favor.studies.judges.design import design_requests
from favor.studies.judges.schemas import JUDGEMENTS
from favor.studies.settings import JudgementDesign

METHODS = ("fedavg", "favor")
DESIGN = JudgementDesign(methods=list(METHODS), voice=None)


@pytest.fixture
def requests() -> Any:
    """Twelve requests for ratings: 3 authors, 1 seed, 2 methods, 2 judgements."""
    return design_requests(DESIGN, *outputs(METHODS, seeds=(1,)))[0]


def run(endpoint, requests, folder, maximum=1000, parallel=1) -> Any:
    return judge_all(endpoint, requests, AnswerCache(folder), maximum, 200, parallel)


def test_every_request_is_judged_in_its_random_order(server, connect, requests, tmp_path, capsys) -> None:
    said, kept = [], []

    def behave(number, body) -> tuple[int, dict[str, str], bytes]:
        said.append(capsys.readouterr().err)
        kept.append(len(AnswerCache(tmp_path / "answers").answers))
        return 200, {}, completion(QUALITY_ANSWER)

    server.behave = behave
    table = run(connect(), requests, tmp_path / "answers")
    write_parquet(table, tmp_path / "judgements.parquet", JUDGEMENTS)
    asked = [body["messages"][1]["content"] for body in server.requests]
    assert asked == requests.sort_values("position")["user"].tolist()
    assert (table[["coherence", "fluency", "specificity", "non_repetition", "overall"]] == [3, 4, 2, 5, 3]).all(None)
    assert (set(table["judge"]), set(table["reason"]), set(table["answers"])) == ({"judge-1"}, {""}, {1})
    # The estimate comes before the first call, and a run that is killed has every answer that arrived.
    characters = requests["system"].str.len().sum() + requests["user"].str.len().sum()
    assert f"12 judgements, 12 still to ask for: about {-(-characters // 4):,} tokens in" in said[0]
    assert "at most 2,400 out" in said[0]
    assert kept == list(range(12))


def test_half_an_emoji_in_an_answer_ends_no_run_and_is_paid_for_once(server, connect, requests, tmp_path) -> None:
    server.behave = lambda number, body: (200, {}, completion("no \ud83d", "st\ud83dop"))
    table = run(connect(), requests, tmp_path, parallel=1)
    assert table["reason"].str.startswith("no JSON object").all()
    asked = len(server.requests)
    assert asked == 3 * len(table[["kind", "item", "judgement"]].drop_duplicates())
    pd.testing.assert_frame_equal(run(connect(), requests, tmp_path, maximum=0), table)
    assert len(server.requests) == asked


def test_a_second_run_asks_for_nothing(server, connect, requests, tmp_path) -> None:
    first = run(connect(), requests, tmp_path, parallel=3)
    assert len(server.requests) == 12
    second = run(connect(), requests, tmp_path, maximum=0)
    assert len(server.requests) == 12
    pd.testing.assert_frame_equal(first, second)


def test_a_truncated_part_of_the_cache_costs_its_own_answers_alone(
    server, connect, requests, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("favor.studies.judges.asking.ROWS_PER_PART", 5)
    first = run(connect(), requests, tmp_path)
    parts = sorted(tmp_path.glob("part*.parquet"))
    assert len(parts) == 3
    parts[1].write_bytes(parts[1].read_bytes()[:-30])
    pd.testing.assert_frame_equal(run(connect(), requests, tmp_path), first)
    assert len(server.requests) == 12 + 5


def test_equal_texts_of_two_methods_are_asked_about_once(server, connect, tmp_path) -> None:
    generations, prompts, texts = outputs(METHODS, seeds=(1,))
    requests = design_requests(DESIGN, generations.assign(text="the same"), prompts, texts)[0]
    table = run(connect(), requests, tmp_path, parallel=4)
    assert len(table) == 12
    assert len(server.requests) == 6
    assert set(table["overall"]) == {3}


@pytest.mark.parametrize("limits", [{"temperature": 0.7}, {"answer_tokens": 100}])
def test_other_settings_of_the_judge_are_other_questions(server, connect, requests, tmp_path, limits) -> None:
    run(connect(), requests, tmp_path)
    run(connect(**limits), requests, tmp_path)
    assert len(server.requests) == 24


def test_too_many_requests_are_refused_before_any_is_sent(server, connect, requests, tmp_path) -> None:
    with pytest.raises(UserError, match=r"12 requests are more than studies.judges.maximum_requests \(11\)"):
        run(connect(), requests, tmp_path, maximum=11)
    assert server.requests == []


def test_repeats_of_unreadable_answers_count_against_the_limit(server, connect, requests, tmp_path) -> None:
    server.behave = lambda number, body: (200, {}, completion("I would say 4."))
    with pytest.raises(UserError, match="14 requests were paid for"):
        run(connect(), requests, tmp_path, maximum=14)
    assert len(server.requests) == 14
    # They were paid for and are not asked again: 12 requests x 3 repeats in all.
    table = run(connect(), requests, tmp_path, maximum=22)
    assert len(server.requests) == 36
    assert set(table["reason"]) == {"no JSON object: Expecting value: line 1 column 1 (char 0)"}
    assert set(table["overall"]) == {0}
    assert set(table["answers"]) == {REPEATS}
    run(connect(), requests, tmp_path, maximum=0)
    assert len(server.requests) == 36


@pytest.mark.parametrize("bad", [[QUALITY_ANSWER.replace("3}", "9}"), "```\nnothing\n```"], [None, ["a"]]])
def test_an_unreadable_answer_is_asked_for_again(server, connect, requests, tmp_path, bad) -> None:
    server.behave = lambda number, body: (200, {}, completion([*bad, QUALITY_ANSWER][number % 3]))
    assert set(run(connect(), requests, tmp_path)["overall"]) == {3}
    assert len(server.requests) == 36


@pytest.mark.parametrize(
    ("finish", "reason", "asked"),
    [("length", "cut at its longest length", 36), ("content_filter", "content filter", 12)],
)
def test_answers_cut_or_refused_are_missing_with_the_reason(
    server, connect, requests, tmp_path, finish, reason, asked
) -> None:
    server.behave = lambda number, body: (200, {}, completion(QUALITY_ANSWER, finish))
    table = run(connect(), requests, tmp_path)
    assert table["reason"].str.contains(reason).all()
    assert len(server.requests) == asked


def test_a_dead_endpoint_stops_the_run_and_a_later_one_resumes(server, connect, requests, tmp_path) -> None:
    good = server.behave
    server.behave = lambda number, body: good(number, body) if number < 5 else (503, {}, b"")
    with pytest.raises(UserError, match=r"3 tries failed, the last with HTTP 503.*run again when the endpoint answers"):
        run(connect(tries=3), requests, tmp_path)
    assert len(server.requests) == 5 + 3
    server.behave = good
    table = run(connect(), requests, tmp_path)
    assert len(server.requests) == 8 + 7
    assert set(table["reason"]) == {""}


def test_what_is_under_way_when_one_request_fails_is_kept(server, connect, requests, tmp_path) -> None:
    good = server.behave

    def behave(number, body) -> tuple[int, dict[str, str], bytes]:
        if number == 1:
            return 401, {}, b""
        if number in (0, 2):
            time.sleep(0.3)
        return good(number, body)

    server.behave = behave
    with pytest.raises(UserError, match="refused the key"):
        run(connect(), requests, tmp_path, parallel=3)
    paid = len(server.requests) - 1
    assert len(AnswerCache(tmp_path).answers) == paid >= 2


def test_neither_key_nor_address_reaches_a_file_or_the_log(server, connect, requests, tmp_path, capsys) -> None:
    table = run(connect(), requests, tmp_path / "answers")
    write_parquet(table, tmp_path / "judgements.parquet", JUDGEMENTS)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*.parquet"))
    texts = pd.concat([pd.read_parquet(path).astype(str).stack() for path in tmp_path.rglob("*.parquet")]).str.cat()
    for secret in (KEY, "127.0.0.1"):
        assert secret.encode() not in written
        assert secret not in texts
        assert secret not in capsys.readouterr().err
