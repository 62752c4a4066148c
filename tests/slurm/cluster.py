"""A private Slurm cluster on this machine.

A controller and three nodes on loopback, each with two GPUs that are character devices, no accounting database, all in
one folder. Nothing else is written; daemons end by process id.

``python tests/slurm/cluster.py COMMAND...`` starts one, runs the command in it, stops it and removes its folder; with
``--install`` in the place of the command it only installs what is missing, where the user may.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import stat
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
GPUS_PER_NODE = 2
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
    """Programs of Slurm and munge that are not on this machine."""
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
        for name in ("munge", "run", "log", "state", "spool", "dev", "bin"):
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
        """Variables under which Slurm's programs talk to this cluster."""
        path = os.pathsep.join((str(self.folder / "bin"), _PATH))
        return {**os.environ, "PATH": path, "SLURM_CONF": str(self.configuration)}

    def call(self, *command, check=True) -> str:
        """Run one of Slurm's programs and return what it prints."""
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done.stdout

    def start(self) -> None:
        """Start every daemon and wait until all nodes take jobs."""
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
        """End the controller with no chance to say so."""
        self._end("slurmctld", signal.SIGKILL)

    def start_node(self, node) -> None:
        self.call("slurmd", "-f", str(self.configuration), "-N", node)

    def kill_node(self, node) -> list[str]:
        """End a node and its jobs' processes with no chance to say so, as a power cut does. Returns the jobs' ids.

        The controller is told, as by whoever watches the machines; by itself it would wait for SlurmdTimeout.
        """
        jobs = self.call("squeue", "--noheader", "--nodelist", node, "--states=R", "--format=%A").split()
        doomed = self._processes(jobs)
        self._end(node, signal.SIGKILL)
        for process in doomed:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")
        return jobs

    def hang(self, number) -> None:
        """Stop the processes of a job, so that it goes on for ever."""
        for process in self._processes([number]):
            if _job_of(process) is None:
                process.suspend()

    def shorten(self, number) -> None:
        """Lower a job's time limit to the least there is, a minute."""
        self.call("scontrol", "update", f"JobId={number}", "TimeLimit=1")

    def wake(self, number) -> None:
        """Let a job that hangs go on."""
        for process in self._processes([number]):
            process.resume()

    def node_states(self) -> dict[str, str]:
        """State of every node, such as idle, mixed, allocated or down."""
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
        """What the controller knows of a job."""
        return dict(re.findall(r"(\S+?)=(\S*)", self.call("scontrol", "show", "job", number)))

    def stop(self) -> None:
        """Cancel what runs and end every daemon."""
        if self.jobs("R", "PD", "CG"):
            self.call("scancel", "--user", str(os.getuid()), check=False)
        for name in (*NODES, "slurmctld"):  # all at once: each takes seconds to end
            self._signal(name, signal.SIGTERM)
        for name in (*NODES, "slurmctld", "munged"):
            self._end(name, signal.SIGTERM)
        for process in [*self._step_daemons(), *self._left_behind()]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def _left_behind(self) -> list[psutil.Process]:
        """Processes of jobs that outlived them, as Slurm without cgroups lets some: those with its variables."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                variables = process.environ()
                if "SLURM_JOB_ID" in variables and str(self.folder / "bin") in variables.get("PATH", "").split(":"):
                    found.append(process)
        return found

    def _step_daemons(self) -> list[psutil.Process]:
        """This cluster's step daemons: those that work in its log folder."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if _job_of(process) and Path(process.cwd()) == self.folder / "log":
                    found.append(process)
        return found

    def _processes(self, jobs) -> list[psutil.Process]:
        """The step daemons of jobs and everything they started."""
        found = [process for process in self._step_daemons() if _job_of(process) in jobs]
        return found + [child for process in found for child in process.children(recursive=True)]

    def _signal(self, name, number) -> psutil.Process | None:
        """Signal the daemon of a pid file and return its process; None where it is gone."""
        with contextlib.suppress(psutil.NoSuchProcess, ValueError, OSError):
            process = psutil.Process(int((self.folder / "run" / f"{name}.pid").read_text()))
            if any(daemon in process.name() for daemon in DAEMONS):
                process.send_signal(number)
                return process
        return None

    def _end(self, name, number) -> None:
        """Signal a daemon and wait for its end."""
        process = self._signal(name, number)
        if process is not None:
            try:
                process.wait(timeout=10)
            except psutil.TimeoutExpired:
                process.kill()
        (self.folder / "run" / f"{name}.pid").unlink(missing_ok=True)

    def _gpus(self) -> list[str]:
        """Devices that stand for GPUs: new ones where they can be made, else ones that always exist."""
        made = [self.folder / "dev" / f"gpu{number}" for number in range(GPUS_PER_NODE)]
        try:
            for path in made:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except OSError:
            return ["/dev/null", "/dev/zero"]
        return [str(path) for path in made]

    def _write_configuration(self) -> None:
        host, user = socket.gethostname().split(".")[0], _user()
        first, *ports = _free_ports(1 + len(NODES))
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=8000 "
            f"Gres=gpu:{GPU_MODEL}:{GPUS_PER_NODE} State=UNKNOWN"
            for node, port in zip(NODES, ports, strict=True)
        )
        text = _SLURM_CONF.format(host=host, user=user, port=first, folder=self.folder, nodes=nodes)
        self.configuration.write_text(text)
        files = ",".join(self._gpus())
        gres = [f"NodeName={node} Name=gpu Type={GPU_MODEL} File={files} Flags=nvidia_gpu_env" for node in NODES]
        (self.folder / "gres.conf").write_text("\n".join(["AutoDetect=off", *gres, ""]))


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A fresh cluster in a temporary folder, gone with the context."""
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
    """The job that a step daemon serves."""
    with contextlib.suppress(psutil.Error, IndexError):
        match = re.match(r"slurmstepd: \[(\d+)\.", process.cmdline()[0])
        return match.group(1) if match else None
    return None


def _free_ports(count) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _user() -> str:
    return subprocess.run(["id", "-un"], text=True, capture_output=True, check=True).stdout.strip()


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
