"""Jobs forked from a process with their libraries imported run, end and are measured as jobs of their own."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from snakemake.benchmark import BenchmarkRecord
from snakemake.script import PythonScript

from favor.running.jobs import forked

pytestmark = pytest.mark.slow(30)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    name = f"favor-{secrets.token_hex(16)}"
    process = forked.start(name)
    end = time.monotonic() + 600
    while (connection := forked.ForkServer(name).connect(0)) is None:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    connection.close()
    yield name
    process.communicate()
    assert process.returncode == 0
    assert forked.ForkServer(name).connect(0) is None


@pytest.fixture
def run(server, tmp_path, monkeypatch) -> Callable[..., None]:
    """Run lines of Python as a job's script; returns its exit status (0) or raises as Snakemake does."""
    monkeypatch.chdir(tmp_path)

    def run_lines(lines, record=None, threads=1) -> None:
        (tmp_path / "script.py").write_text(lines)
        script = SimpleNamespace(
            rulename="train_shared", threads=threads, resources={"tmpdir": str(tmp_path)}, bench_record=record
        )
        connection = forked.ForkServer(server).connect(0)
        assert connection is not None
        assert forked._run(script, str(tmp_path / "script.py"), connection)

    return run_lines


def test_a_job_has_the_callers_folder_environment_and_output(run, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.setenv("FAVOR_CHOSEN", "this")
    run(
        "import os, sys, tempfile\n"
        "assert __name__ == '__main__' and 'favor' not in sys.modules and 'torch' in sys.modules\n"
        "print(os.getcwd(), os.environ['FAVOR_CHOSEN'], sys.argv, tempfile.gettempdir())\n"
        "print(open('/proc/self/comm').read(), end='', file=sys.stderr)\n"
    )
    printed = capfd.readouterr()
    assert printed.out == f"{tmp_path} this {[str(tmp_path / 'script.py')]} {tmp_path}\n"
    assert printed.err == "train_shared\n"


def test_a_job_computes_with_its_own_number_of_threads(run, capfd) -> None:
    lines = "import threadpoolctl\nprint({pool['num_threads'] for pool in threadpoolctl.threadpool_info()})"
    run(lines, threads=2)
    run(lines, threads=1)
    assert capfd.readouterr().out == "{2}\n{1}\n"


def test_python_s_start_is_repeated_for_a_job(run, tmp_path, monkeypatch, capfd) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text("import sys\nprint('hooked', sys.orig_argv[-1])")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hook"))
    run("import atexit\natexit.register(print, 'the end')")
    assert capfd.readouterr().out == f"hooked {tmp_path / 'script.py'}\nthe end\n"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('one line')", 1),
        ("1 / 0", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_the_status_of_a_job_is_its_own_and_a_failed_one_is_measured_too(run, capfd, line, status) -> None:
    record = BenchmarkRecord()
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(line, record)
    assert failed.value.returncode == status
    assert record.running_time > 0
    printed = capfd.readouterr().err
    assert ("ZeroDivisionError" in printed) == (line == "1 / 0")
    assert ("one line" in printed) == ("one line" in line)


def test_ctrl_c_reaches_a_job_and_not_the_server(run, capfd) -> None:
    with pytest.raises(subprocess.CalledProcessError) as ended:
        run("import os\nos.kill(os.getpid(), 2)\nprint('goes on')")
    assert ended.value.returncode == -signal.SIGINT
    run("import os\nfrom types import SimpleNamespace\nfrom favor.running.jobs.job_log import logged\n"
        "with logged(SimpleNamespace(log=['log'], rule='train', params={})):\n"
        "    try:\n        os.kill(os.getpid(), 2)\n    except KeyboardInterrupt:\n        print('ended')")  # fmt: skip
    assert capfd.readouterr() == ("ended\n", "")


def test_a_job_s_memory_and_time_are_measured_as_its_own(run) -> None:
    record, short = BenchmarkRecord(), BenchmarkRecord()
    run("import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass", short)
    run("import time\nheld = bytearray(b'x') * (400 << 20)\nend = time.process_time() + 1.2\n"
        "while time.process_time() < end: pass\ndel held", record)  # fmt: skip
    assert record.running_time >= 1.2
    assert 1.2 <= record.cpu_time <= record.running_time + 0.1
    assert 0.3 <= short.cpu_time < 1
    assert record.max_rss - short.max_rss == pytest.approx(400, abs=20)  # what the server imported is in both
    written = dict(zip(record.get_header(), record.to_tsv(False).split("\t"), strict=True))
    assert written["mean_load"] == f"{100 * record.cpu_time / record.running_time:.2f}"
    assert written["max_uss"] == "-"


def test_a_job_goes_on_after_its_caller(server, repository, tmp_path) -> None:
    """As the jobs of a Snakemake that is killed do; the watching process does not stay behind."""
    script = tmp_path / "script.py"
    script.write_text(
        "import time\nfrom pathlib import Path\n"
        "while not Path('go').exists():\n    time.sleep(0.02)\n"
        "Path('made').touch()"
    )
    code = (
        "import sys\nfrom types import SimpleNamespace\nfrom favor.running.jobs import forked\n"
        "script = SimpleNamespace(rulename='slow', threads=1, resources={}, bench_record=None)\n"
        "forked._run(script, sys.argv[2], forked.ForkServer(sys.argv[1]).connect(0))"
    )
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    caller = subprocess.Popen([sys.executable, "-c", code, server, str(script)], cwd=tmp_path, env=environment)

    def jobs() -> list[psutil.Process]:
        return [process for process in psutil.process_iter(["name"]) if process.info["name"] == "slow"]

    while not jobs():
        assert caller.poll() is None
        time.sleep(0.02)
    (job,) = jobs()
    watcher = job.parent()
    caller.kill()
    caller.wait()
    (tmp_path / "go").touch()
    psutil.wait_procs([job, watcher], timeout=60)
    assert (tmp_path / "made").exists()
    assert not watcher.is_running()


def test_only_jobs_beside_snakemake_are_forked(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    executed, dag = [], SimpleNamespace(needrun_jobs=lambda: range(3))

    def execute(self, fname, edit=False) -> None:
        executed.append(fname)

    def start(name, **changed) -> None:
        Path(name).write_text("import os\nos.kill(os.getpid(), 2)")
        PythonScript.execute_script(SimpleNamespace(**{**plain, **changed}), name)

    monkeypatch.setattr(PythonScript, "execute_script", execute)
    monkeypatch.setattr(forked.ForkServer, "connect", lambda self, jobs: "connected")
    monkeypatch.setattr(forked, "_run", lambda script, path, connection: True)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    forked.fork_local_jobs(SimpleNamespace(dag=dag))
    plain = {"conda_env": None, "container_img": None, "env_modules": None, "resources": {}}
    for change in ({}, {"conda_env": "e"}, {"container_img": "i"}, {"env_modules": "m"}, {"resources": {"gpu": 1}}):
        start("-".join(change) or "beside", **change)
    assert len(executed) == 4
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    start("forked", resources={"gpu": 1})
    assert len(executed) == 4
    PythonScript.execute_script = execute
    forked.fork_local_jobs(SimpleNamespace(dag=dag), wanted=False)
    start("alone")
    assert executed[4:] == ["alone"]
    # Ctrl-C while it imports.
    ended = subprocess.run([sys.executable, "alone"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")
