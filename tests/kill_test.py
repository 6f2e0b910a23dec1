#!/usr/bin/env python3
"""Stop the program in the middle of its work, again and again, and look at what is left.

    kill_test.py CONVOY [--rounds 30] [--seed N]

SIGINT and SIGTERM: exit status 128 + signal within 10 seconds, nothing left. SIGKILL: at most OUT.part. In each case an
output that was there before is as it was, and the next run gives the same samples as an undisturbed one.
"""
import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

LIMIT = 10      # seconds from the signal to the end


def make_input(path, channels=16, frames=1 << 20):
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=rng.standard_normal((frames, channels), dtype="f4"))
        data.attrs["sampling_rate"] = 1000.0
        data.dims[0].label, data.dims[1].label = "time", "channel"


def samples(path):
    with h5py.File(path, "r") as file:
        return file["data"][...].tobytes()


def stopped(words, number, seconds):
    """Starts the program and sends the signal after some seconds: the exit status, None where it did not end."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def complaint(status, out, number, before, right):
    """What is wrong with what a signal left, or None; `before`: the output's bytes before the run, None if none."""
    if status is None:
        return f"not ended {LIMIT} s after the signal"
    # subprocess gives -N for a process that the signal itself ended: so it does before the program has begun.
    if status not in {0, -number, 128 + number}:
        return f"exit status {status}"
    left = {p.name for p in out.parent.iterdir()} - {out.name}
    if left - ({out.name + ".part", out.name + ".part.journal"} if number == signal.SIGKILL else set()):
        return f"left {', '.join(sorted(left))}"
    if status == 0 or not out.exists():
        return None if out.exists() or before is None else "the output that was there is gone"
    if out.read_bytes() != before and samples(out) != right:    # the signal may come just after the rename
        return "the output is neither what was there nor a complete one"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, wrong, interrupted = random.Random(args.seed), [], 0
    with tempfile.TemporaryDirectory(prefix="kill-") as temporary:
        source, taps, out = Path(temporary, "input.h5"), Path(temporary, "taps.txt"), Path(temporary, "out", "out.h5")
        make_input(source)
        taps.write_text("0.01\n" * 101)
        out.parent.mkdir()
        words = [args.convoy, "filter", str(source), "-o", str(out), "--taps", str(taps)]
        started = time.monotonic()
        subprocess.run(words, check=True)
        whole, right = time.monotonic() - started, samples(out)
        for turn in range(args.rounds):
            number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
            if rng.random() < 0.5:
                out.unlink(missing_ok=True)
            before = out.read_bytes() if out.exists() else None
            seconds = rng.uniform(0.02, 1.0) * whole
            status = stopped([*words, "--overwrite"], number, seconds)
            interrupted += status != 0
            if said := complaint(status, out, number, before, right):
                wrong.append(f"round {turn}, {number.name} after {seconds:.3f} s: {said}")
            subprocess.run([*words, "--overwrite"], check=True)
            if samples(out) != right or len(list(out.parent.iterdir())) != 1:
                wrong.append(f"round {turn}: the run after {number.name} is not as an undisturbed one")
    if interrupted < args.rounds // 4:
        wrong.append(f"only {interrupted} of {args.rounds} runs were caught at work")
    print(f"{args.rounds} signals, {interrupted} at work, {whole:.2f} s a run: {len(wrong)} complaints", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
