"""What the privacy audit plans: its readings, the track with planted secrets, and what it refuses."""

from collections.abc import Callable
from typing import Any

import pytest

from favor.forecast.estimate import Account
from favor.foundation.errors import UserError
from favor.plan.job_settings import to_params
from favor.plan.keys import Key, run_key

AUDITED = {"texts": 2, "canaries": {"repeats": [1, 4], "candidates": 10}}
RUN = run_key("micro", "1", "favor")


def first_jobs(track, number="0") -> Key:
    return Key(experiment="micro", seed="1", track=track, round=number, batch="0")


def audited(section=AUDITED, **changes) -> Callable[[dict[str, Any]], None]:
    """Return a change that gives the smallest run an audit, with ``changes`` to its experiment."""

    def change(config) -> None:
        config["keep_uploads"] = False
        experiment = config["experiments"]["micro"]
        experiment.update(studies={"privacy": section}, tables=["privacy-audit"], **changes)

    return change


def test_an_audit_keeps_copies_and_leaves_what_other_experiments_keep(plan) -> None:
    # A file that is temporary in one plan and kept in the next would be made again, with all the training behind it.
    planner = plan(change=audited())
    assert not planner.config.keep_uploads
    inputs = planner.privacy.measure_privacy_inputs(RUN)
    assert all("/audited/" in path for path in [*inputs["uploads"], *inputs["canary_uploads"]])
    planner = plan(change=lambda config: (audited()(config), config.update(keep_uploads=True)))
    assert all("/uploads/" in path for path in planner.privacy.measure_privacy_inputs(RUN)["uploads"])


def test_an_audit_reads_every_round_and_personal_adapters(plan) -> None:
    planner = plan(change=audited({"methods": ["favor"]}))
    inputs, track = planner.privacy.measure_privacy_inputs(RUN), planner.project.plan(RUN).shared.track
    rounds = [f"{place}/adapter.safetensors" for place in ("common/round0", "round1", "round2")]
    assert [path.split("/server/")[1] for path in inputs["server"]] == rounds
    uploads = [f"{track}/audited/round{number}/batch0.safetensors" for number in range(2)]
    assert [path.split("/shared/")[1] for path in inputs["uploads"]] == uploads
    assert any("/favor/clients/" in path for path in inputs["personal"])
    assert planner.privacy.measure_privacy_inputs(run_key("micro", "1", "fedavg"))["personal"] == []


def test_secrets_are_planted_on_a_track_of_their_own(plan) -> None:
    bare, planner = plan(), plan(change=audited())
    training, inputs, track = (
        planner.training,
        planner.privacy.measure_privacy_inputs(RUN),
        planner.project.plan(RUN).shared.track,
    )
    paths = [*inputs["canary_server"][1:], *inputs["canary_uploads"]]
    assert all(f"/shared/{track}-canary/" in path for path in paths)
    job, planted = first_jobs(track), first_jobs(f"{track}-canary")
    assert training.job_clients(job) == training.job_clients(planted)
    after = Key(**vars(planted), next_round="1")
    assert training.uploads(after) == [paths[2].replace("/audited/", "/uploads/")]
    settings, plain = (to_params(training.train_shared_settings(each)) for each in (planted, job))
    # What the audited track itself reads is what it was without an audit, so it stays as it is.
    assert plain == to_params(bare.training.train_shared_settings(job))
    assert plain.pop("canaries") is None
    assert set(settings.pop("canaries")) == set(training.job_clients(planted))
    assert {**plain, "keep_endpoints": []} == {**settings, "keep_endpoints": []}
    assert training.canary_repeats(RUN) == {"client_001": 1, "client_002": 4, "client_003": 1, "client_004": 4}


def test_no_secrets_no_further_track(plan) -> None:
    planner = plan(change=audited({"canaries": None}))
    inputs = planner.privacy.measure_privacy_inputs(RUN)
    assert inputs["canary_server"] == inputs["canary_uploads"] == []
    assert planner.privacy.measure_privacy_settings(RUN).planted is None
    planted = first_jobs(f"{planner.project.plan(RUN).shared.track}-canary")
    with pytest.raises(UserError, match=r"studies\.privacy\.canaries': no secrets are planted"):
        to_params(planner.training.train_shared_settings(planted))


def test_authors_who_took_no_part_are_the_next_of_the_roster(plan) -> None:
    planner = plan(change=audited(AUDITED, clients=3, skip_clients=0))
    settings = to_params(planner.privacy.measure_privacy_settings(RUN))
    assert settings["clients"] == ["client_001", "client_002", "client_003"]
    assert settings["absent"] == ["client_004"]


def test_the_plan_of_a_run_counts_the_further_track(plan) -> None:
    planners = [plan(change=audited({"methods": ["fedavg", "favor"], **more})) for more in ({}, {"canaries": None})]
    one, none = (Account(planner, "micro") for planner in planners)
    # Two tracks of two rounds, in one job each.
    assert one.jobs["train_shared"] == none.jobs["train_shared"] + 2 * 2
    assert one.jobs["aggregate"] == none.jobs["aggregate"] + 2 * 2
    assert one.uploads == none.uploads + 2 * 2 * 2 == 2 * none.uploads
    assert (one.jobs["keep_upload"], none.jobs["keep_upload"]) == (8, 4)


def test_a_client_that_left_is_attacked_no_more_and_moves_no_secret(plan) -> None:
    before, after = plan(change=audited()), plan(change=audited(withdrawn=["client_002"]))
    settings = after.privacy.measure_privacy_settings(RUN)
    assert "client_002" not in [*settings.clients, *settings.absent]
    assert after.training.canary_repeats(RUN) == before.training.canary_repeats(RUN)
    # The track with secrets is trained without it too, and plants nothing for it.
    track = f"{before.project.plan(RUN).shared.track}-canary"
    for number, cohort in enumerate(before.training.rounds("micro", "1", "coverage_first")):
        job = first_jobs(track, number)
        had, has = (planner.training.train_shared_settings(job).canaries for planner in (before, after))
        assert has == {client: count for client, count in had.items() if client != "client_002"}
        assert ("client_002" in had) == ("client_002" in cohort)


def left(withdrawn=("client_002",), leaving="left", **changes) -> Callable[[dict[str, Any]], None]:
    """Return a change that adds the experiment of those who left, with ``changes`` to it, and asks about them."""

    def change(config) -> None:
        audited({**AUDITED, "leaving": leaving})(config)
        without = {"extends": "micro", "withdrawn": list(withdrawn), "tables": [], "figures": False}
        config["experiments"]["left"] = without | changes

    return change


def test_those_who_left_are_asked_about_with_the_adapter_that_was_made_without_them(plan) -> None:
    privacy = plan(change=left()).privacy
    assert privacy.remade(RUN) == [privacy.measure_privacy_inputs(RUN)["server"][-1].replace("/micro/", "/left/")]
    settings = privacy.measure_privacy_settings(RUN)
    assert settings.left == ["client_002"]
    assert "client_002" in settings.clients
    # Of another seed nothing was made again, and nothing is asked.
    other = plan(change=lambda config: (left(seeds=[1])(config), config["experiments"]["micro"].update(seeds=[1, 2])))
    second = run_key("micro", "2", "favor")
    assert other.privacy.remade(second) == other.privacy.measure_privacy_settings(second).left == []
    assert plan(change=audited()).privacy.remade(RUN) == []


def test_scores_read_every_audited_row_and_seed(plan) -> None:
    planner = plan(change=audited({"methods": ["fedavg", "favor"]}, seeds=[1, 2]))
    files = planner.privacy.readings(Key(experiment="micro"))
    assert len(files) == len(set(files)) == 2 * 2 * 5
    settings = planner.privacy.score_privacy_settings(Key(experiment="micro"))
    assert (settings.methods, settings.personal) == (["fedavg", "favor"], ["favor"])
    # Secrets are planted for the first seed alone.
    assert planner.privacy.measure_privacy_inputs(RUN)["canary_uploads"]
    assert planner.privacy.measure_privacy_inputs(run_key("micro", "2", "favor"))["canary_uploads"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # An experiment that is not the same without clients.
        (left(leaving="lef"), "leaving': there is no 'lef'; did you mean 'left'"),
        (left(withdrawn=()), "leaving': no client of this experiment withdrew in 'left'"),
        (left(lora={"rank": 3}), "leaving': 'lora' differs from that of 'left'"),
        (left(seeds=[7]), "leaving': 'left' has none of the seeds"),
        # Rows whose uploads are more than deltas, or none.
        *(
            (audited({"methods": [row]}, methods={"fedavg": {}, row: {}}), f"methods': '{row}' uploads no deltas of an")
            for row in ("fedalt", "fedex_lora", "scaffold", "base_only")
        ),
        (audited({"methods": ["ditt"]}), "methods': there is no 'ditt'; did you mean 'ditto'"),
        (audited({"absent": 5}), "absent': 5 authors, but the roster has 0"),
        (audited(AUDITED, methods={"base_only": {}}), "methods': no row uploads deltas"),
    ],
)
def test_what_no_audit_can_be_made_of_is_refused(plan, change, message) -> None:
    with pytest.raises(UserError, match=rf"studies\.privacy\.{message}"):
        plan(change=change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (left(methods={"ditto": {}}), r"experiments\.left\.methods': the audit of 'micro' needs 'favor'"),
        ({"experiments": {"micro": {"tables": ["privacy-audit"]}}}, r"studies\.privacy': its tables need the audit"),
    ],
)
def test_what_an_audit_or_its_tables_need_is_named(plan, change, message) -> None:
    with pytest.raises(UserError, match=message):
        plan(change=change)
