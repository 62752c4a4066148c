"""What a whole run asks for, and the jobs behind the paper's own experiments."""

from collections import Counter
from types import SimpleNamespace

import pytest

from favor.federation.ranks import rank_of
from favor.forecast.estimate import Account
from favor.foundation.errors import UserError
from favor.plan import Planner
from favor.plan.job_settings import to_params
from favor.plan.keys import Key, run_key

PLANNED = "tests/data/planned.yaml"


def jobs(planner, *experiments) -> Counter[str]:
    """Training and generation jobs of experiments by rule, each once: those of others that they use are not here."""
    return sum((Account(planner, name).jobs for name in experiments), Counter())


def study(plan, *names) -> Planner:
    return plan(("config/blogtext.yaml", *(f"config/studies/{name}.yaml" for name in names)))


def counts(shared, personal, generated) -> dict[str, int]:
    return {"train_shared": shared, "aggregate": shared, "train_personal": personal, "generate": generated}


def test_one_client_per_job(plan) -> None:
    one_per_job = {"experiments": {"blogtext": {"federation": {"clients_per_job": 1}}}}
    found = jobs(plan("config/blogtext.yaml", one_per_job), "blogtext")
    # Three seeds x six rounds x twelve clients x four tracks (FedAvg with Ditto and FedDPA, FedProx with FAVoR, pFedMe,
    # Global ASCE).
    assert (found["train_shared"], found["aggregate"]) == (3 * 6 * 12 * 4, 3 * 6 * 4)
    # Ditto, Ditto + ASCE and FedDPA train at each of the 72 participations of a seed; FAVoR, with and without ASCE, at
    # the last one of each of the 50 clients; the local ones once a client; pooled once; the gate audit trains nothing.
    assert found["train_personal"] == 3 * (3 * 72 + 4 * 50 + 1)
    assert found["generate"] == 3 * 14
    assert sum(found.values()) < 2300  # a budget, so that planning stays a matter of seconds (docs/scaling.md)


VOLUMES = ("balanced", "volume_25", "volume_50", "moderate", "strong")  # all of a balanced budget is in both sweeps
AMOUNTS = ("words_250", "words_500", "words_1000", "words_2500")


@pytest.mark.parametrize(
    ("files", "experiments", "expected"),
    [
        # All clients of a round are a job, of a phase 50 are two; the local ones and pooled train once.
        (["blogtext"], ["blogtext"], counts(3 * 6 * 4, 3 * (3 * 6 + 4 * 2 + 1), 3 * 14)),
        (["mythos"], ["mythos"], counts(3 * 6 * 3, 3 * (6 + 4 * 2), 3 * 6)),
        # One seed, three tracks (FedAvg with Ditto, FedProx with FAVoR, pFedMe); 50 clients are two jobs.
        (["blogtext", "studies/base_7b"], ["base_7b"], counts(6 * 3, 6 + 2, 6)),
        # Another draw of the authors is trained; the first is the main experiment's.
        (["blogtext", "studies/corpus_seed"], ["draw_2"], counts(12, 6 + 2 + 2, 5)),
        (["blogtext", "studies/corpus_seed"], ["draw_1"], {}),
        # Three seeds x twenty rounds x two tracks (FedAvg with Ditto, FAVoR's).
        # Ditto at each round of a seed; FAVoR and local-only once for each of the 100 clients, 32 per job.
        (["blogtext", "studies/scale"], ["k100"], counts(3 * 20 * 2, 3 * (20 + 4 + 4), 3 * 4)),
        # Outputs that were made before are trained and generated once.
        (["blogtext", "studies/prompting"], ["prompting"], {"generate_prompted": 3 * 5}),
        (["blogtext", "studies/judges"], ["judges"], {}),
        (["blogtext", "studies/text_volume", "studies/imbalance"], VOLUMES, counts(5 * 24, 5 * 2 * (6 + 2), 5 * 2 * 2)),
        # Four rounds of a shared stage, plain and towards FAVoR's residual, of 6 clients per job; three seeds.
        (["blogtext_small", "studies/little_text"], AMOUNTS, counts(4 * 3 * 4 * 2, 4 * 3 * 12, 4 * 3 * 7)),
        # One seed of the federation of 40; the unseen authors upload nothing.
        (["blogtext", "studies/cold_start"], ["cold_start_shared"], counts(6, 2, 0)),
        # Three seeds, ten clients in a job: of seven rows five train, at K = 4, 12 and 24 both.
        (["blogtext", "studies/cold_start"], ["cold_start_8", "cold_start_16"], counts(0, 2 * 3 * 5, 2 * 3 * 7)),
        (["blogtext", "studies/cold_start"], ["cold_start_4", "cold_start_12", "cold_start_24"], counts(0, 18, 18)),
    ],
)
def test_the_jobs_of_the_papers_experiments_and_studies(plan, files, experiments, expected) -> None:
    planner = plan([f"config/{name}.yaml" for name in files])
    assert jobs(planner, *experiments) == Counter(expected)


def test_many_clients_are_generated_for_in_several_jobs(plan) -> None:
    crowd = {"corpora": {"blogtext": {"roles": {"clients": 2500}}}, "experiments": {"blogtext": {"clients": 2500}}}
    planner = plan("config/blogtext.yaml", crowd)
    training, costs = planner.training, planner.costs
    run = next(run for run in training.runs("blogtext") if run.method == "fedavg")
    assert list(map(len, training.generation_parts("blogtext"))) == [1000, 1000, 500]
    assert (training.generating(parted=True), training.generating(parted=False)) == ("blogtext", "none")
    files = training.parts_of(planner.paths.part_generations)(run)
    assert [file.rpartition("/")[2] for file in files] == ["part0.parquet", "part1.parquet", "part2.parquet"]
    parts = [SimpleNamespace(**vars(run), part=str(part)) for part in range(3)]
    assert sum(costs.generation_work(part, None)[0] for part in parts) == costs.generation_work(run, None)[0]
    settings = to_params(training.generate_settings(parts[2]))
    assert settings.pop("clients") == training.clients("blogtext")[2000:]
    assert {**settings, "clients": None} == to_params(training.generate_settings(run))
    jobs = Account(planner, "blogtext").jobs
    assert (jobs["generate_part"], jobs["join_generations"], jobs["generate"]) == (3 * 3 * 14, 3 * 14, 0)


@pytest.mark.parametrize("corpus", ["blogtext", "blogtext_small"])
def test_matched_budgets_stand_beside_the_released_ones(plan, corpus) -> None:
    study = corpus.replace("blogtext", "matched_budget")
    planner = plan((f"config/{corpus}.yaml", f"config/studies/{study}.yaml"))
    released, matched = (planner.config.experiments[name] for name in (corpus, study))
    assert (released.budget, matched.budget) == ("released", "matched")
    assert set(matched.tables) == {"voice-kept", "distinct-faithful"} <= set(released.tables)
    assert set(matched.methods) <= set(released.methods)
    assert jobs(planner, study)["generate"] == len(matched.seeds) * len(matched.methods)


def test_the_points_of_the_sweeps_of_studies(plan) -> None:
    planner = study(plan, "text_volume", "imbalance")
    assert {name for sweep in ("text_volume", "imbalance") for name in planner.sweeps.members(sweep)} == set(VOLUMES)
    assert all(len(planner.evaluation.families(name)) == 3 for name in VOLUMES)
    drawn = [f"results/sweeps/{name}/figures/points.svg" for name in ("text_volume", "imbalance")]
    assert planner.sweeps.figures("svg") == drawn
    planner = plan(("config/blogtext_small.yaml", "config/studies/little_text.yaml"))
    words = {name: planner.config.experiments[name].allocation.total_words for name in AMOUNTS}
    assert words == {f"words_{amount}": 12 * amount for amount in (250, 500, 1000, 2500)}
    assert set(planner.sweeps.members("little_text")) == set(AMOUNTS)
    assert planner.sweeps.families("little_text") == ["likelihood"]


def test_rows_of_a_cold_start_are_ranked_within_a_point(plan) -> None:
    """By its experiment's own evidence; across points nothing is tested."""
    sweeps = study(plan, "cold_start").sweeps
    own = [f"results/{name}/evidence.parquet" for name in sweeps.members("cold_start")]
    full = sweeps.make_sweep_table_inputs(Key(sweep="cold_start", label="cold-start-full"))
    assert full["evidence"] == own
    nested = sweeps.make_sweep_table_inputs(Key(sweep="cold_start_nested", label="cold-start-nested-k"))
    assert (nested["evidence"], len(nested["comparisons"])) == ([], 5)


@pytest.mark.parametrize("row", ["fedex_lora", "scaffold"])
def test_a_cold_start_needs_an_adapter_that_works_alone(row, plan) -> None:
    def change(config) -> None:
        experiments = config["experiments"]
        experiments["cold_start_shared"]["methods"][row] = {}
        experiments["cold_start_8"]["cold_start"] = {"shared_from": "cold_start_shared", "row": row}

    planner = plan(["config/blogtext.yaml", "config/studies/cold_start.yaml"], change)
    with pytest.raises(UserError, match=rf"cold_start\.row': '{row}' trains no shared adapter that works alone"):
        planner.training.frozen_adapter(run_key("cold_start_8", "2026", "cold_start"))


def test_targets_hold_every_kind(plan) -> None:
    targets = plan(PLANNED).targets.everything()
    assert len(targets) == len(set(targets))
    for path in (
        *("report.html", "numbers.json", "corpora/demo/overlap.parquet", "models/tiny/base/model.safetensors"),
        *("demo/tables/main_federated_results.tex", "demo/settings.json", "demo/seed2026/favor/generations.parquet"),
        *("demo/seed2027/ditto/clients/round0/batch0.safetensors", "demo/assistant.parquet"),
    ):
        assert f"results/{path}" in targets


def test_uploads_are_targets_only_where_they_are_kept(plan) -> None:
    kept = plan(PLANNED).targets.everything()
    dropped = plan(PLANNED, {"keep_uploads": False}).targets.everything()
    assert {path for path in kept if "/uploads/" in path} == set(kept) - set(dropped)
    # Two seeds, two tracks (FedAvg's and FedProx's), three rounds of one job.
    assert len(set(kept) - set(dropped)) == 2 * 2 * 3


def test_rivals_share_fedavgs_track_and_servers_with_moments_keep_them(plan) -> None:
    planner = plan(("config/config.yaml", "config/demo/rivals.yaml"))
    training, project, account = planner.training, planner.project, Account(planner, "rivals")
    # One seed, two rounds; FedAvg's track is also that of its fine-tuning, Ditto, FedDPA, APFL and FedRoD. FedAvgM,
    # FedAdam, FedYogi, FlexLoRA, FFA-LoRA, FedSA-LoRA, FedALT and FAVoR have one each.
    # Four methods carry something over both rounds; fine-tuning, FAVoR and local-only train once.
    trained = {"train_shared": 2 * 9, "train_personal": 4 * 2 + 3, "generate": 16}
    assert account.jobs == {**trained, "aggregate": 2 * 6, "aggregate_with_memory": 2 * 3}
    # One moment a round for FedAvgM, two for each adaptive server.
    assert account.stored["server moments"] == 2 * (1 + 2 + 2)
    # Sixteen participations of 14 rows, two of which send one factor.
    assert account.up == 16 * 13
    memory = {}
    for row, made in project.plans("rivals").items():
        if made.shared is not None:
            after = Key(experiment="rivals", seed="2026", track=made.shared.track, next_round="2")
            memory[row] = (bool(made.shared.server.moments), made.shared.track.split("-")[0])
            assert training.server_memory(after) == [planner.paths.server_memory.of(after, next_round=1)]
            assert training.server_memory(Key(**{**vars(after), "next_round": "1"})) == []
    kept = {row: name for row, (moments, name) in memory.items() if moments}
    assert kept == {"fedavgm": "momentum", "fedadam": "adam", "fedyogi": "yogi"}
    assert {name for moments, name in memory.values() if not moments} == {"task"}


def test_a_state_goes_on_from_the_last_round_that_a_client_answered(plan) -> None:
    def change(config) -> None:
        section = config["experiments"]["micro"]
        section["methods"], section["tables"] = {"scaffold": {}, "fedavg": {}}, []
        del section["studies"]
        section["federation"] |= {"answers": 0.5, "clients_per_job": 1, "rounds": 5, "clients_per_round": 3}

    planner = plan(change=change)
    training, run = planner.training, run_key("micro", "1", "scaffold")
    plans = planner.project.plans("micro")
    stage = plans["scaffold"].shared
    rounds, drawn = training.rounds("micro", "1", "coverage_first"), training.drawn("micro", "1", "coverage_first")
    assert rounds != drawn
    last: dict[str, str] = {}
    for number, cohort in enumerate(rounds):
        for job in training.jobs(training.round_step(run, number)):
            (client,) = training.job_clients(job)
            assert training.kept_endpoints(job) == cohort
            assert training.previous_endpoints(job) == [last[name] for name in (client,) if name in last]
        last |= {client: training.endpoint(run, client, number) for client in cohort}
    # What stays of it is in the record of the boundary; its equations are in the code of its own jobs alone.
    packs = {each.method: each.packs for each in planner.records.record_boundary_settings(run).runs}
    assert sorted(packs["scaffold"]) == sorted(last.values())
    assert packs["fedavg"] == []
    job = Key(experiment="micro", seed="1", track=stage.track, round="0", batch="0")
    assert training.state_code(job) == ["favor.federation.methods.scaffold:STATE"]
    assert training.state_code(Key(**{**vars(job), "track": plans["fedavg"].shared.track})) == []
    # Twice an adapter up; down once in round 0, then twice, and once to everybody who generates.
    sizes, everybody = [len(cohort) for cohort in rounds], len(training.clients("micro"))

    def account(other) -> Account:
        def without(config) -> None:
            change(config)
            del config["experiments"]["micro"]["methods"][other]

        return Account(plan(change=without), "micro")

    assert account("fedavg").up == 2 * sum(sizes)
    assert account("fedavg").down == sizes[0] + 2 * sum(sizes[1:]) + everybody
    assert account("scaffold").up == sum(sizes)


@pytest.mark.parametrize("kept", [True, False])
def test_traffic_and_disk_count_ranks_and_rounded_uploads(plan, kept) -> None:
    def change(config) -> None:
        section = config["experiments"]["micro"]
        section["methods"], section["tables"] = {"fedavg": {}}, []
        del section["studies"]
        config["keep_uploads"] = kept
        section["lora"] |= {"rank": 4}
        section["federation"] |= {"upload_bits": 8, "ranks": [1, 4], "rounds": 3, "clients_per_round": 2}

    planner = plan(change=change)
    training, account = planner.training, Account(planner, "micro")
    everybody = training.clients("micro")
    size = {client: rank_of([1, 4], 1, client) / 4 for client in everybody}
    assert set(size.values()) == {0.25, 1.0}
    rounds = [sum(map(size.get, cohort)) for cohort in training.rounds("micro", "1", "coverage_first")]
    sent = sum(rounds)
    # Up in a quarter of the bits; down at every participation, and once to everybody who generates.
    assert account.up == sent / 4
    # All uploads stay, or those of the largest round are there at once.
    assert (account.uploads, account.temporary) == ((sent / 4, 0) if kept else (0, max(rounds) / 4))
    assert account.down == sent + sum(size.values())


def test_uploads_on_disk_are_counted_with_sums_combinations_and_false_ones(plan) -> None:
    planner = plan(("tests/data/micro.yaml", "tests/data/micro_studies.yaml"))
    sizes = {name: Account(planner, name).uploads for name in ("even", "third", "federation", "hijacked")}
    # Two tracks of three; these and a combination each, of 64 bits; two and their sum; four of a job with an attacker,
    # which are written once more.
    assert sizes == {"even": 2 * 3, "third": 2 * (3 + 2), "federation": 2 + 2, "hijacked": 2 * 4}


def test_a_personal_factor_is_there_at_the_next_participation(plan) -> None:
    planner = plan(("config/config.yaml", "config/demo/rivals.yaml"))
    training = planner.training
    track = planner.project.plans("rivals")["fedsa_lora"].shared.track
    first, second = training.rounds("rivals", "2026", "coverage_first")
    job = Key(experiment="rivals", seed="2026", track=track, round="1", batch="0")
    assert set(training.kept_endpoints(job)) == set(second)
    found = training.previous_endpoints(job)
    assert bool(found) == bool(set(first) & set(second))
    assert all("/clients/round0/" in path for path in found)
    plain = Key(**{**vars(job), "track": planner.project.plans("rivals")["ffa_lora"].shared.track})
    assert training.previous_endpoints(plain) == training.kept_endpoints(plain) == []


def test_a_server_of_members_reads_every_clients_last_adapter(plan) -> None:
    planner = plan(("config/config.yaml", "config/demo/rivals.yaml"))
    training, paths = planner.training, planner.paths
    track = planner.project.plans("rivals")["fedalt"].shared.track
    first, second = training.rounds("rivals", "2026", "coverage_first")
    key = Key(experiment="rivals", seed="2026", track=track, next_round="2")
    files = training.uploads(key)
    assert paths.upload.of(key, round=1, batch=0) in files
    # The first round's upload is read too, for the clients that the second one leaves out.
    assert set(first) - set(second)
    assert paths.upload.of(key, round=0, batch=0) in files
    assert training.uploads(Key(**{**vars(key), "next_round": "1"})) == training.round_uploads(key, 0)
    # A client's first participation begins at the initial adapter, later ones at its own, which is kept.
    job = Key(experiment="rivals", seed="2026", track=track, round="1", batch="0")
    assert training.warm_start(job) == [training.server_adapter(job, 0)]
    assert set(training.kept_endpoints(job)) == set(second)
    plain = Key(**{**vars(job), "track": planner.project.plans("rivals")["fedavg"].shared.track})
    assert training.warm_start(plain) == []
    with pytest.raises(UserError, match="fedalt: its gate looks at every token"):
        planner.exports.adapters(run_key("rivals", "2026", "fedalt"))
    assert planner.exports.adapters(run_key("rivals", "2026", "apfl"))


@pytest.mark.parametrize(("keep", "kept", "left"), [("all", "2026|2027", "none"), ("first_seed", "2026", "2027")])
def test_adapters_are_targets_only_of_the_seeds_that_keep_them(plan, keep, kept, left) -> None:
    planner = plan(PLANNED, {"keep_adapters": keep})
    assert (planner.evaluation.seeds(kept=True), planner.evaluation.seeds(kept=False)) == (kept, left)
    packs = [path for path in planner.targets.everything() if "/clients/last/" in path and "shared" not in path]
    assert {path.split("/seed")[1][:4] for path in packs if path.endswith(".safetensors")} == set(kept.split("|"))


def test_the_earlier_participations_of_a_chain_are_named_apart(plan) -> None:
    """Ditto's second participation starts where its first one, which is then replaced, ended."""
    training = plan(PLANNED).training
    run = run_key("demo", "2026", "ditto")
    keys = [Key(**vars(run), phase=f"round{number}", batch="0") for number in range(3)]
    # Coverage first: two rounds reach all twelve clients, and those of the third take part again.
    first, second, third = (set(training.job_clients(key)) for key in keys)
    again = [set(training.train_personal_settings(key).again) for key in keys]
    assert again == [third & first, third & second, set()]
    starts = training.personal_starts(keys[2])
    assert starts
    assert all(path.endswith(".passing.safetensors") for path in starts)
    assert not any("passing" in path for path in training.adapters(run))
    assert training.behind(run) == []


def test_a_release_holds_aggregates_alone(plan) -> None:
    publication = plan(PLANNED).publication
    public = publication.public_files()
    assert not [path for path in public if "/clients/" in path or "/seed" in path or path.endswith(".pdf")]
    assert not [path for path in public if "qualitative" in path or path.startswith("results/corpora")]
    assert "results/report.html" in public
    assert len(publication.private_generations()) == 8


def test_the_release_holds_the_sweeps(plan) -> None:
    public = plan(("tests/data/micro.yaml", "tests/data/micro_studies.yaml")).publication.public_files()
    assert {"results/sweeps/volume/scores.parquet", "results/sweeps/volume/figures/points.svg"} <= set(public)
    assert "results/unseen/statistics/cold-start-nested-k.parquet" in public


def test_a_row_that_is_another_method_at_one_point_keeps_its_name_in_the_sweep(plan) -> None:
    files = ("tests/data/micro.yaml", "tests/data/micro_studies.yaml")

    def frozen(config) -> None:
        first, second = (point["experiment"] for point in config["sweeps"]["volume"]["points"][:2])
        config["experiments"][first]["methods"] = {"fedavg": {}, "favor": {"title": "Ours"}}
        config["experiments"][second]["methods"] = {"fedavg": {"method": "ffa_lora"}, "favor": {"title": "Ours"}}

    sweeps, key = plan(files, change=frozen).sweeps, SimpleNamespace(sweep="volume")
    for shown in (sweeps.draw_sweep_settings(key).display, sweeps.report_settings()["volume"].display):
        assert "fedavg" not in shown  # so it is printed as FedAvg, not as FFA-LoRA
        assert shown["favor"] == "Ours"


def test_the_report_prints_no_path_of_this_machine(plan, tmp_path) -> None:
    settings = plan("config/blogtext.yaml").publication.report_settings(None, ())
    assert str(tmp_path) not in str(settings)
    assert settings["order"] == ["blogtext"]
    # Coverage first: the 72 places of a seed reach all of the 50 clients.
    assert set(settings["experiments"]["blogtext"]["never_sampled"].values()) == {0}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("checkk", "no rule has this name or makes such a file; did you mean 'check'"),
        ("results/report.htm", "did you mean 'results/report.html'"),
        ("zz/qq", "snakemake --list-rules"),
        ("results/micro/seed1/favr/generations.parquet", "experiment 'micro' has no row 'favr'; did you mean 'favor'"),
        ("results/micro/seed999/favor/generations.parquet", "experiment 'micro' has no seed 999; its seeds are "),
    ],
)
def test_a_target_that_nothing_makes_is_refused_with_the_nearest(plan, target, message) -> None:
    planner = plan()

    def find(path) -> dict[str, str] | None:
        parts = path.split("/")
        run = path.startswith("results/micro/seed")
        return {"experiment": "micro", "seed": parts[2][4:], "method": parts[3]} if run else None

    planner.targets.check(["check", __file__, "results/micro/seed1/favor/generations.parquet"], ["check"], find)
    with pytest.raises(UserError, match=message):
        planner.targets.check([target], ["check", "score"], find)
