"""A private Slurm cluster on this machine.

A controller and three nodes on loopback, each with two GPUs that are character devices, no accounting database, all in
one folder. Nothing else is written.

``python tests/slurm/cluster.py COMMAND...`` starts one, runs the command in it, stops it and removes its folder; with
``--install`` in the place of the command it only installs what is missing, where the user may.
"""

import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
PACKAGES = "slurmctld slurmd slurm-client munge"  # of Debian and Ubuntu
NODES = ("node1", "node2", "node3")
GPUS = "/dev/null,/dev/zero"  # of every node: devices that always exist
GPU_MODEL = "h200"
_PATH = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))

# No daemon counts as gone for being slow: jobs take all of the processor. Finished jobs stay visible for MinJobAge.
_SLURM_CONF = """
ClusterName=favor
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobs.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=600
SlurmctldTimeout=10
MessageTimeout=60
BatchStartTimeout=300
InactiveLimit=0
KillWait=2
MinJobAge=3600
DefMemPerCPU=200
{nodes}
PartitionName=cpu Nodes=ALL Default=YES MaxTime=24:00:00 State=UP
PartitionName=gpu Nodes=ALL MaxTime=24:00:00 State=UP
"""


def missing_programs() -> list[str]:
    return [name for name in (*DAEMONS, *CLIENTS) if shutil.which(name, path=_PATH) is None]


def wait_until(condition, what, seconds=60.0, pause=0.1) -> None:
    """Return once ``condition`` holds, asked every ``pause`` seconds. Raises ``TimeoutError`` naming ``what``."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)


class Cluster:
    """A running cluster in ``folder``, whose path is short: Unix sockets hold 108 characters."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.configuration = folder / "slurm.conf"
        for name in ("munge", "run", "log", "state", "spool", "bin"):
            (folder / name).mkdir(mode=0o755, parents=True)
        self._write_configuration()
        # The job step of Snakemake's plugin removes SLURM_CONF before it calls srun, which must find its cluster.
        srun = folder / "bin" / "srun"
        real = shutil.which("srun", path=_PATH)
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.configuration} exec {real} "$@"\n')
        srun.chmod(0o755)
        # The plugin asks the accounting database for a user's accounts before it names one; here is none to ask.
        accounts = folder / "bin" / "sacctmgr"
        accounts.write_text("#!/bin/sh\necho research\n")
        accounts.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.folder / "bin"), _PATH))
        return {**os.environ, "PATH": path, "SLURM_CONF": str(self.configuration)}

    def call(self, *command, check=True) -> str:
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done.stdout

    def start(self) -> None:
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        munge = self.folder / "munge"
        self.call(
            "munged",
            "--force",
            f"--socket={munge / 'socket'}",
            f"--key-file={key}",
            f"--seed-file={munge / 'seed'}",
            f"--pid-file={self.folder / 'run' / 'munged.pid'}",
            f"--log-file={self.folder / 'log' / 'munged.log'}",
        )
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        wait_until(lambda: set(self.node_states().values()) == {"idle"}, "idle nodes")

    def start_controller(self) -> None:
        self.call("slurmctld", "-f", str(self.configuration))
        wait_until(lambda: " is UP" in self.call("scontrol", "ping", check=False), "controller")

    def kill_controller(self) -> None:
        self._kill("slurmctld")

    def start_node(self, node) -> None:
        self.call("slurmd", "-f", str(self.configuration), "-N", node)

    def kill_node(self, node) -> list[str]:
        """End a node and its jobs' processes with no chance to say so, as a power cut does. Returns the jobs' ids.

        The controller is told, as by whoever watches the machines; by itself it would wait for SlurmdTimeout.
        """
        jobs = self.call("squeue", "--noheader", "--nodelist", node, "--states=R", "--format=%A").split()
        doomed = self._processes(jobs)
        self._kill(node)
        for process in doomed:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")
        return jobs

    def hang(self, number) -> None:
        for process in self._processes([number]):
            if _job_of(process) is None:
                process.suspend()

    def shorten(self, number) -> None:
        self.call("scontrol", "update", f"JobId={number}", "TimeLimit=1")

    def wake(self, number) -> None:
        for process in self._processes([number]):
            process.resume()

    def node_states(self) -> dict[str, str]:
        lines = self.call(
            "sinfo", "--noheader", "--Node", "--partition=cpu", "--format=%N %T", check=False
        ).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self, *states) -> dict[str, str]:
        """Jobs (id to comment, which names rule and wildcards) in the states, oldest first; no state: all of them."""
        wanted = ",".join(states) or "all"
        lines = self.call("squeue", "--noheader", f"--states={wanted}", "--format=%A %k", "--sort=i").splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    def job(self, number) -> dict[str, str]:
        return dict(re.findall(r"(\S+?)=(\S*)", self.call("scontrol", "show", "job", number)))

    def stop(self) -> None:
        """End every daemon and what their jobs left: all that was started with this cluster's configuration."""
        ours = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("SLURM_CONF") == str(self.configuration):
                    process.terminate()
                    ours.append(process)
        for process in psutil.wait_procs(ours, timeout=10)[1]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def _processes(self, jobs) -> list[psutil.Process]:
        """This cluster's step daemons of jobs, which work in its log folder, and everything they started."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if _job_of(process) in jobs and Path(process.cwd()) == self.folder / "log":
                    found += [process, *process.children(recursive=True)]
        return found

    def _kill(self, name) -> None:
        file = self.folder / "run" / f"{name}.pid"
        process = psutil.Process(int(file.read_text()))
        process.kill()
        process.wait(timeout=10)
        file.unlink(missing_ok=True)

    def _write_configuration(self) -> None:
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        first, *ports = _free_ports(1 + len(NODES))
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=8000 "
            f"Gres=gpu:{GPU_MODEL}:2 State=UNKNOWN"
            for node, port in zip(NODES, ports, strict=True)
        )
        text = _SLURM_CONF.format(host=host, user=user, port=first, folder=self.folder, nodes=nodes)
        self.configuration.write_text(text)
        gres = [f"NodeName={node} Name=gpu Type={GPU_MODEL} File={GPUS} Flags=nvidia_gpu_env" for node in NODES]
        (self.folder / "gres.conf").write_text("\n".join(["AutoDetect=off", *gres, ""]))


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="slurm.", dir="/tmp"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _job_of(process) -> str | None:
    match = re.match(r"slurmstepd: \[(\d+)\.", " ".join(process.cmdline()))
    return match and match[1]


def _free_ports(count) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def install() -> str:
    """Install what is missing where this user may; return why it is not there, in one line, or nothing."""
    absent = missing_programs()
    if absent and os.getuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = PACKAGES.split()
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", *command], env=environment, stdout=subprocess.DEVNULL, check=False)
        absent = missing_programs()
    return f"no Slurm here: {', '.join(absent)} missing; install with: apt-get install {PACKAGES}" if absent else ""


def main() -> int:
    missing = install()
    if missing:
        print(missing, file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--install"]:
        return 0
    with running_cluster() as cluster:
        return subprocess.run(sys.argv[1:], env=cluster.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
