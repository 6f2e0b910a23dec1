#!/usr/bin/env python3
"""The array job script that ships, under Slurm itself: munged, slurmctld and slurmd on the loopback of this machine, in a
folder of their own. An array of 4 tasks over 100 files; one task is killed at work and another one preempted, both are
requeued, and the results are those of one run.

    slurm_daemons_test.py CONVOY ARRAY_SCRIPT

Needs root, and Debian's slurm-wlm and munge; exit status 77 where they are missing.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

TASKS, FILES = 4, 100
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """One node, one partition, all daemons in the foreground; they end with the `with` block."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self):
        f = self.folder
        for name in ("state", "spool", "munge"):
            (f / name).mkdir(mode=0o755)
        (f / "munge" / "key").write_bytes(os.urandom(1024))
        (f / "munge" / "key").chmod(0o600)
        ports = free_ports(2)
        cpus = max(TASKS, os.cpu_count())
        (f / "slurm.conf").write_text(f"""\
ClusterName=loopback
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={f}/munge/socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={f}/state
SlurmdSpoolDir={f}/spool
SlurmctldPidFile={f}/slurmctld.pid
SlurmdPidFile={f}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
MpiDefault=none
JobRequeue=1
KillWait=30
MinJobAge=3600
ReturnToService=2
NodeName=node NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
""")
        (f / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self.start("munged", "--foreground", "--force", f"--key-file={f}/munge/key", f"--socket={f}/munge/socket",
                   f"--pid-file={f}/munge/pid", f"--log-file={f}/munge/log", f"--seed-file={f}/munge/seed")
        self.wait("munged", (f / "munge" / "socket").exists)
        self.start("slurmctld", "-D", "-f", f"{f}/slurm.conf")
        self.start("slurmd", "-D", "-N", "node", "-f", f"{f}/slurm.conf")
        self.wait("slurmd", lambda: "idle" in self.told("sinfo", "--noheader", "--format=%T"))
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def start(self, name, *words):
        with open(self.folder / f"{name}.out", "w") as out:
            self.daemons.append(subprocess.Popen([shutil.which(name), *words], stdout=out, stderr=out, env=self.environment))

    def told(self, *words):
        return subprocess.run(words, capture_output=True, text=True, env=self.environment, cwd=self.folder).stdout

    def wait(self, what, condition, seconds=60):
        limit = time.monotonic() + seconds
        while not condition():
            for daemon in self.daemons:
                assert daemon.poll() is None, f"{daemon.args[0]} ended:\n{self.logs()}"
            assert time.monotonic() < limit, f"waited {seconds} s for {what}:\n{self.logs()}"
            time.sleep(0.05)

    def logs(self):
        return "\n".join(p.name + ":\n" + p.read_text()[-3000:] for p in self.folder.glob("*.out"))

    def state(self, job):
        """RUNNING, COMPLETED, ... of job ID_TASK."""
        words = self.told("scontrol", "show", "job", job).split()
        return next((w.split("=")[1] for w in words if w.startswith("JobState=")), "")

    def processes(self, job, task, program):
        """Those of a task that run `program`."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if (f"SLURM_ARRAY_JOB_ID={job}".encode() in variables and f"SLURM_ARRAY_TASK_ID={task}".encode() in variables
                    and f"SLURM_CONF={self.folder}/slurm.conf".encode() in variables and words[0] == program.encode()):
                found.append(int(entry.name))
        return found


def make(folder):
    noise = np.random.default_rng(2)
    (folder / "in").mkdir()
    for i in range(FILES):
        with h5py.File(folder / "in" / f"{i:03}.h5", "w") as file:  # the first file of each task is long
            file["data"] = noise.standard_normal(40_000 * (60 if i % (FILES // TASKS) == 0 else 1), dtype="f4")
            file["data"].attrs["sampling_rate"] = 1000.0
    for name in ("one", "parts"):
        (folder / f"{name}.yaml").write_text(
            f"inputs: in/*.h5\noutput: {name}/{{stem}}.h5\nsteps:\n  - filter: {{lowpass: 100, numtaps: 301}}\n"
            "execution: {strategy: reference, chunk: '2000'}\n")


def check(cluster, convoy, script, folder):
    job = cluster.told("sbatch", "--parsable", f"--array=1-{TASKS}", f"--export=ALL,CONVOY={convoy}", f"--chdir={folder}", script,
                       "parts.yaml").strip()
    assert job.isdigit(), cluster.logs()
    held = {}  # processes of a task, stopped at work, so that they still are when their turn comes

    def holds(task):
        processes = [] if task in held else cluster.processes(job, task, convoy)
        if processes and list((folder / "parts").glob("*.journal")):
            held[task] = processes
            for process in processes:
                os.kill(process, signal.SIGSTOP)
        return task in held

    # As when a node dies: no signal that could be handled, and nobody is told.
    cluster.wait("the work of two tasks", lambda: all([holds(1), holds(TASKS)]))
    for process in held[1]:
        os.kill(process, signal.SIGKILL)
    cluster.wait("Slurm to notice", lambda: cluster.state(f"{job}_1") == "FAILED")
    left = list((folder / "parts").glob("*.part.journal"))
    assert left, "the killed task left nothing to go on from"
    assert "FAILED" in cluster.state(f"{job}_1")
    time.sleep(2)  # Slurm takes what starts in the second of a job's death for the dead one
    cluster.told("scontrol", "requeue", f"{job}_1")
    # As when a job of more importance comes: the task is told to stop, and is back in the queue.
    for process in held[TASKS]:
        os.kill(process, signal.SIGCONT)
    cluster.told("scontrol", "requeue", f"{job}_{TASKS}")
    for task in range(1, TASKS + 1):  # requeued tasks wait two minutes by default: let them begin at once
        cluster.told("scontrol", "update", f"JobId={job}_{task}", "StartTime=now")

    def all_done():
        for task in (1, TASKS):
            if cluster.state(f"{job}_{task}") == "PENDING":
                cluster.told("scontrol", "update", f"JobId={job}_{task}", "StartTime=now")
        return all(cluster.state(f"{job}_{task}") == "COMPLETED" for task in range(1, TASKS + 1))

    cluster.wait("all tasks", all_done, 240)
    for task in (1, TASKS):
        assert "Restarts=1" in cluster.told("scontrol", "show", "job", f"{job}_{task}"), f"task {task} was not requeued"
    return job


def main(convoy, script):
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if os.geteuid() != 0 or missing:
        print("SKIPPED: Slurm itself is not tested here: " +
              (f"{', '.join(missing)} not installed (Debian: slurm-wlm, munge)" if missing else "its daemons need root"))
        return 77
    with tempfile.TemporaryDirectory(prefix="slurm-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        make(folder)
        subprocess.run([convoy, "run", "one.yaml"], cwd=folder, check=True)
        (folder / "cluster").mkdir(mode=0o755)
        with Cluster(folder / "cluster") as cluster:
            job = check(cluster, convoy, script, folder)
        assert len(list((folder / "parts").iterdir())) == FILES, sorted((folder / "parts").iterdir())
        for i in range(FILES):
            with h5py.File(folder / "one" / f"{i:03}.h5") as a, h5py.File(folder / "parts" / f"{i:03}.h5") as b:
                assert a["data"][...].tobytes() == b["data"][...].tobytes(), i
        reports = sorted(map(str, (folder / "convoy-reports").glob(f"{job}-*.json")))
        assert len(reports) == TASKS, reports
        merged = subprocess.run([convoy, "run", "--merge-reports", *reports], check=True, capture_output=True, text=True).stdout
        assert merged.count('"output"') >= FILES, merged[:500]
    print(f"Slurm: an array of {TASKS} tasks, {FILES} files, one killed and one preempted: as one run")
    return 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())))
