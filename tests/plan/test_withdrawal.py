"""What a client's leaving changes in the plan: nothing before its first participation, and nobody else's place."""

from typing import Any

import pytest

from favor.federation.schedule import answering, client_names
from favor.federation.settings import Federation
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.plan import Planner
from favor.plan.keys import run_key

METHODS = {"fedavg": {}, "favor": {}, "ditto": {}, "local_only": {}, "pooled": {}}


def planned(plan, per_job, *withdrawn, **federation) -> Planner:
    def change(config) -> None:
        micro = config["experiments"]["micro"]
        micro.update(methods=METHODS, studies={}, withdrawn=list(withdrawn), tables=["main_federated_results"])
        micro["federation"].update(rounds=3, clients_per_round=2, clients_per_job=per_job, **federation)

    return plan(change=change)


def jobs(planner) -> dict[str, Any]:
    """(stage, wildcards) -> (clients, settings, inputs) of every training job."""
    training, found = planner.training, {}
    for run in training.runs("micro"):
        shared = planner.project.plan(run).shared
        for number in range(3 if shared else 0):
            for job in training.jobs(training.round_step(run, number)):
                files = (training.round_start(job), training.previous_endpoints(job))
                found["shared", job] = (training.job_clients(job), training.train_shared_settings(job), files)
        for job in training.personal_jobs(run):
            files = (training.personal_starts(job), training.anchors(job))
            found["personal", job] = (training.job_clients(job), training.train_personal_settings(job), files)
    return found


@pytest.mark.parametrize("per_job", [1, 2])
def test_who_does_not_answer_has_no_part_in_the_round(plan, per_job) -> None:
    whole, part = planned(plan, per_job), planned(plan, per_job, answers=0.5)
    drawn = part.training.drawn("micro", "1", "coverage_first")
    assert drawn == whole.training.rounds("micro", "1", "coverage_first")
    # By the rule as it is written: below one half, or the least of the cohort.
    expected = []
    for at, cohort in enumerate(drawn):
        draw = {client: numpy_generator(1, "answers", at, client).random() for client in cohort}
        expected.append([client for client in cohort if draw[client] < 0.5 or draw[client] == min(draw.values())])
    assert part.training.rounds("micro", "1", "coverage_first") == expected != drawn
    last = {client: number for number, cohort in enumerate(expected) for client in cohort}
    trained = jobs(part)
    for (stage, job), (clients, settings, _) in trained.items():
        assert clients
        if stage == "shared":
            assert set(clients) <= set(expected[int(job.round)])
            assert set(clients).isdisjoint(settings.withdrawn)
        elif job.phase.startswith("round"):
            assert set(clients) <= set(expected[int(job.phase.removeprefix("round"))])
        elif job.method == "favor":
            assert settings.rounds == {client: last[client] for client in clients}
    for number, cohort in enumerate(expected):  # everybody who answers trains, once per track
        served = [key for key in trained if key[0] == "shared" and key[1].round == str(number)]
        tracks = {job.track for _, job in served}
        assert sorted(client for key in served for client in trained[key][0]) == sorted(cohort * len(tracks))
    assert jobs(planned(plan, per_job, answers=1)) == jobs(whole)


def test_answers_are_nested_never_none_and_of_their_share() -> None:
    cohort = client_names(12)
    few, many = (sum(len(answering(7, n, cohort, share)) for n in range(400)) for share in (0.3, 0.8))
    assert many / 4800 == pytest.approx(0.8, abs=0.02)  # 0.0058 is its deviation
    for number in range(50):
        less = answering(7, number, cohort, 0.3)
        assert set(less) <= set(answering(7, number, cohort, 0.8))
        assert len(answering(7, number, cohort, 1e-9)) == 1
    assert few / 4800 == pytest.approx(0.3, abs=0.03)  # and a little more: no round is empty
    # Of two, one or both at .3 in 51 %, and one where neither would in 49 %: 1.09 per round.
    both = sum(len(answering(7, n, cohort[:2], 0.3)) for n in range(400))
    federation = Federation(rounds=400, clients_per_round=2, answers=0.3)
    assert federation.participations(4) == pytest.approx(400 * 1.09 / 4)
    assert both / 4 == pytest.approx(400 * 1.09 / 4, abs=3)  # 1.4 is its deviation


@pytest.mark.parametrize("per_job", [1, 2])
def test_only_what_follows_from_its_participation_changes(plan, per_job) -> None:
    whole = planned(plan, per_job)
    rounds = whole.training.rounds("micro", "1", "coverage_first")
    client = next(name for name in rounds[1] if name not in rounds[0])
    left = planned(plan, per_job, client)
    before, after = jobs(whole), jobs(left)
    # The whole plan has no job that the client alone filled, and no other job is renamed.
    alone = {key for key, (clients, _, _) in before.items() if clients == [client]}
    assert before.keys() - after.keys() == alone
    assert after.keys() <= before.keys()
    assert bool(alone) == (per_job == 1)
    for (stage, job), (clients, settings, files) in after.items():
        was, had, read = before[stage, job]
        assert clients == [name for name in was if name != client]
        earlier = stage == "shared" and job.round == "0"
        apart = stage == "personal" and job.method == "local_only" and clients == was
        if earlier or apart:
            assert (settings, files) == (had, read)
        assert client not in str(settings) or settings.withdrawn == [client]
    run = run_key("micro", "1", "favor")
    assert left.settings_of("make_schedule")(run) == whole.settings_of("make_schedule")(run)


def test_the_pooled_reference_leaves_its_texts_out_and_evaluators_read_what_remains(plan) -> None:
    planner = planned(plan, 2, "client_002")
    run = run_key("micro", "1", "pooled")
    (job,) = planner.training.personal_jobs(run)
    assert planner.training.train_personal_settings(job).withdrawn == ["client_002"]
    assert planner.project.texts(run) == "results/micro/clients/remaining/texts.parquet"
    assert planner.evaluation.style_sources(run) == "results/micro/clients/remaining/embeddings/asce_a.parquet"
    assert planned(plan, 2).project.texts(run) == "results/micro/clients/texts.parquet"
    assert planner.tables.context("micro").clients == 3
    assert "client_002" in planner.tables.remarks("micro")[""]


@pytest.mark.parametrize(
    ("withdrawn", "message"),
    [
        (["client_009"], r"experiments\.micro\.withdrawn': there is no 'client_009'"),
        (["client_001", "client_002", "client_003"], r"withdrawn': 1 clients remain, but at least 2 must"),
    ],
)
def test_who_cannot_withdraw_is_refused(plan, withdrawn, message) -> None:
    with pytest.raises(UserError, match=message):
        planned(plan, 2, *withdrawn)


def test_a_round_without_anybody_is_refused(plan) -> None:
    cohort = planned(plan, 2).training.rounds("micro", "1", "coverage_first")[0]
    with pytest.raises(UserError, match=r"withdrawn': nobody is left of round 0 of seed 1; shorten it"):
        jobs(planned(plan, 2, *cohort))
