#!/usr/bin/env python3
"""The array job script that ships, in the environment that Slurm gives its tasks: all parts make what one run makes, and
a task that is told to stop asks to be requeued and then goes on.

    slurm_test.py CONVOY ARRAY_SCRIPT
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

TASKS, FILES = 4, 12


def main(convoy, script):
    with tempfile.TemporaryDirectory(prefix="slurm-") as temporary:
        folder = Path(temporary)
        noise = np.random.default_rng(2)
        (folder / "in").mkdir()
        for i in range(FILES):
            with h5py.File(folder / "in" / f"{i:02}.h5", "w") as file:
                file["data"] = noise.standard_normal(150_000 * (8 if i == 0 else 1), dtype="f4")
                file["data"].attrs["sampling_rate"] = 1000.0
        for name in ("one", "parts"):
            (folder / f"{name}.yaml").write_text(
                f"inputs: in/*.h5\noutput: {name}/{{stem}}.h5\nsteps:\n  - filter: {{lowpass: 100, numtaps: 301}}\n"
                "execution: {strategy: reference, chunk: '2000'}\n")
        tools = folder / "tools"
        tools.mkdir()
        (tools / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> {folder}/requeued\n')
        (tools / "scontrol").chmod(0o755)
        subprocess.run([convoy, "run", "one.yaml"], cwd=folder, check=True)

        def task(number):
            variables = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": number, "SLURM_ARRAY_TASK_MIN": 1,
                         "SLURM_ARRAY_TASK_COUNT": TASKS, "SLURM_CPUS_PER_TASK": 1, "CONVOY": convoy,
                         "PATH": f"{tools}:{os.environ['PATH']}"}
            return subprocess.Popen([script, "parts.yaml"], cwd=folder, env={**os.environ, **{k: str(v) for k, v in variables.items()}})

        first = task(1)
        limit = time.monotonic() + 30
        while not (folder / "parts" / "00.h5.part.journal").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        first.send_signal(signal.SIGUSR1)
        assert first.wait(20) == 138, first.returncode
        assert (folder / "requeued").read_text() == "requeue 7_1\n"
        assert (folder / "parts" / "00.h5.part.journal").exists()
        for number in range(1, TASKS + 1):
            assert task(number).wait(60) == 0, number
        for i in range(FILES):
            with h5py.File(folder / "one" / f"{i:02}.h5") as a, h5py.File(folder / "parts" / f"{i:02}.h5") as b:
                assert a["data"][...].tobytes() == b["data"][...].tobytes(), i
        assert len(list((folder / "parts").iterdir())) == FILES
        reports = sorted(map(str, (folder / "convoy-reports").iterdir()))
        merged = subprocess.run([convoy, "run", "--merge-reports", *reports], check=True, capture_output=True, text=True).stdout
        assert merged.count('"hash"') >= FILES, merged[:500]
    print(f"{TASKS} tasks, {FILES} files: as one run")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve()))
