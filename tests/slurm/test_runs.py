"""The workflow on a real Slurm cluster: the same results as on one machine, whatever fails on the way."""

import time

import snakemake_executor_plugin_slurm as plugin

from favor.running.repairs import slurm_plugin
from tests.slurm.cluster import wait_until
from tests.slurm.conftest import same_results
from tests.workflow.conftest import planned_jobs


def test_a_whole_run_gives_the_results_of_one_machine(fresh, whole_run) -> None:
    fresh.finish(fresh.start(account="research"))
    same_results(fresh.folder, whole_run)
    counts = fresh.counts()
    assert {"pretrain_base", "train_shared", "train_personal", "generate"} <= counts.keys()
    for number, rule in fresh.jobs().items():
        job = fresh.cluster.job(number)
        on_gpu = rule != "pretrain_base"
        assert job["JobState"] == "COMPLETED"
        assert job["Account"] == "research"
        assert job["Partition"] == ("gpu" if on_gpu else "cpu")
        assert job.get("TresPerJob") == ("gres:gpu:h200:1" if on_gpu else None)
        assert job["Requeue"] == "0"


def test_a_cancelled_job_and_one_out_of_memory_are_run_again(half_done, local_run) -> None:
    run = half_done.start(stages={"train_personal": {"memory_mb": 500}})
    cancelled = half_done.running("generate")
    half_done.cluster.call("scancel", cancelled)
    half_done.finish(run)
    same_results(half_done.folder, local_run)
    assert half_done.counts()["generate"] == 2
    training = [half_done.cluster.job(n) for n, rule in half_done.jobs().items() if rule == "train_personal"]
    first, second = training[:2]
    assert (first["MinMemoryNode"], second["MinMemoryNode"]) == ("500M", "1000M")
    assert first["JobState"] != "COMPLETED"
    assert half_done.cluster.job(cancelled)["JobState"] == "CANCELLED"


def test_a_node_dies_with_its_job_and_another_job_exceeds_its_time(half_done, local_run) -> None:
    run = half_done.start(stages={"generate": {"minutes": 10}})
    doomed = half_done.running("train_personal")
    node = half_done.cluster.job(doomed)["NodeList"]
    assert doomed in half_done.cluster.kill_node(node)
    hung = half_done.running("generate")
    half_done.cluster.hang(hung)
    half_done.cluster.shorten(hung)
    half_done.finish(run)
    half_done.cluster.start_node(node)
    same_results(half_done.folder, local_run)
    assert half_done.counts() == {"train_personal": 2, "generate": 2}
    assert half_done.cluster.job(doomed)["JobState"] == "NODE_FAIL"
    assert half_done.cluster.job(hung)["JobState"] == "TIMEOUT"
    again = list(half_done.jobs())[-1]
    assert half_done.cluster.job(again)["TimeLimit"] == "00:20:00"
    wait_until(lambda: half_done.cluster.node_states()[node] == "idle", "the node", 60)


def test_the_controller_dies_and_comes_back(untrained, local_run) -> None:
    run = untrained.start()
    number = untrained.running("train_personal")
    # A controller forgets a job that starts and ends around its death; this one outlives the outage.
    untrained.cluster.hang(number)
    time.sleep(5)
    untrained.cluster.kill_controller()
    wait_until(lambda: "Slurm does not answer; its jobs stay watched" in untrained.output, "a failed query", 120)
    time.sleep(5)
    untrained.cluster.start_controller()
    untrained.cluster.wake(number)
    untrained.finish(run)
    same_results(untrained.folder, local_run)
    assert untrained.counts() == {"train_personal": 1}
    assert untrained.cluster.job(number)["JobState"] == "COMPLETED"


def test_snakemake_is_killed_and_resumed_without_repeating_what_its_jobs_finish(untrained, local_run) -> None:
    number = killed_while_training(untrained)
    # No second copy of the job starts, though the lock that was left is gone.
    assert untrained.start().wait() != 0
    assert f"Slurm jobs {number} of an earlier run still work in this folder" in untrained.output
    assert "Traceback" not in untrained.output
    untrained.cluster.wake(number)
    untrained.finish(untrained.resume())
    same_results(untrained.folder, local_run)
    assert untrained.counts() == {"train_personal": 1}
    # The job recorded its parameters itself, so that a later change of them is not overlooked.
    small = untrained.folder / "small.yaml"
    small.write_text(small.read_text().replace("favor: {}", "favor: { private_epochs: 3 }"))
    assert untrained.start("--dry-run", "--executor", "local").wait() == 0
    assert planned_jobs(untrained.output)["train_personal"] == 1


def test_snakemake_is_killed_and_its_jobs_are_cancelled(untrained, local_run) -> None:
    number = killed_while_training(untrained)
    untrained.finish(untrained.resume("--cancel"))
    same_results(untrained.folder, local_run)
    assert untrained.cluster.job(number)["JobState"] == "CANCELLED"
    assert untrained.counts() == {"train_personal": 2}


def killed_while_training(project) -> str:
    """Kill Snakemake while its job of train_personal works; return the job's id. The job stops until it is woken."""
    run = project.start()
    number = project.running("train_personal")
    project.cluster.hang(number)
    run.kill()
    run.wait()
    return number


def test_another_version_of_the_plugin_is_left_as_it_is(monkeypatch) -> None:
    monkeypatch.setattr(slurm_plugin, "version", lambda package: "2.8.1")
    before = (plugin.query_job_status, plugin.get_min_job_age, plugin.Executor.run_job)
    assert not slurm_plugin.repair(plugin, poll_seconds=1)
    assert (plugin.query_job_status, plugin.get_min_job_age, plugin.Executor.run_job) == before
