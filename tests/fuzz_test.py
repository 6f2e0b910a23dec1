#!/usr/bin/env python3
"""Feed damaged files to the program: whatever comes, it must end in time, with the exit status and the one line that it
promises, and leave nothing behind.

    fuzz_test.py CONVOY CASES_FOLDER [--seconds 60] [--seed N] [--keep FOLDER]

The inputs below CASES_FOLDER are damaged by flipped, zeroed, repeated, cut and swapped bytes. Every damage follows from
the seed and a number, which a failure names, so that it can be had again (--only NUMBER).
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT = 20      # seconds for one run
EXTREMES = [0, 1, 0x7F, 0x80, 0xFF]


def flip(rng, data):
    for _ in range(rng.choice([1, 2, 4, 16])):
        data[near_start(rng, len(data))] ^= 1 << rng.randrange(8)


def extreme(rng, data):
    """A number of 1 to 8 bytes at its limits: sizes, counts and offsets."""
    at, width = near_start(rng, len(data)), rng.choice([1, 2, 4, 8])
    data[at:at + width] = bytes([rng.choice(EXTREMES)]) * len(data[at:at + width])


def cut(rng, data):
    del data[rng.randrange(len(data)):]


def drop(rng, data):
    at = near_start(rng, len(data))
    del data[at:at + rng.choice([1, 2, 4, 100])]


def repeat(rng, data):
    at = near_start(rng, len(data))
    data[at:at] = data[at:at + rng.choice([1, 4, 64, 512])]


def swap(rng, data):
    a, b, width = near_start(rng, len(data)), near_start(rng, len(data)), rng.choice([4, 8, 64])
    piece = bytes(data[a:a + width])
    data[b:b + len(piece)] = piece


def near_start(rng, size):
    """Headers are where the interesting bytes are."""
    return rng.randrange(min(size, rng.choice([64, 512, 4096, size])))


DAMAGES = [flip, extreme, cut, drop, repeat, swap]


def damaged(rng, original):
    data = bytearray(original)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if data:
            rng.choice(DAMAGES)(rng, data)
    return bytes(data)


def calls(rng, source, out, taps):
    """One of the ways to use a file."""
    return rng.choice([
        ["filter", source, "-o", out, "--taps", taps],
        ["filter", source, "-o", out, "--taps", taps, "--chunk", "7"],
        ["filter", source, "-o", out, "--lowpass", "100", "--numtaps", "33"],
        ["inspect", source],
    ])


def complaint(words, folder, given):
    """What is wrong with a run, or None."""
    try:
        run = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT} s"
    said = run.stderr.decode("utf8", "replace")
    errors = [line for line in said.splitlines() if line.startswith("convoy: error:")]
    left = {p.name for p in folder.iterdir()} - given
    if run.returncode not in (0, 1, 2):
        return f"exit status {run.returncode}: {said[-300:]}"
    if "Sanitizer" in said or "runtime error" in said:
        return said[-600:]
    if (run.returncode != 0) != (len(errors) == 1):
        return f"exit status {run.returncode} with {len(errors)} error lines: {said[:300]}"
    if run.returncode != 0 and left:
        return f"failed and left {', '.join(sorted(left))}"
    return None


def attempt(number, args, seeds):
    """Damages one input and runs the program on it: (what is wrong or None)."""
    rng = random.Random(f"{args.seed}:{number}")
    original = rng.choice(seeds)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        folder = Path(temporary)
        source, taps = folder / f"input{original.suffix}", folder / "taps.txt"
        source.write_bytes(damaged(rng, original.read_bytes()))
        taps.write_text("0.25\n0.5\n0.25\n")
        words = calls(rng, str(source), str(folder / "out.h5"), str(taps))
        wrong = complaint([args.convoy, *words], folder, {source.name, taps.name})
        if wrong and args.keep:
            Path(args.keep).mkdir(parents=True, exist_ok=True)
            shutil.copy(source, Path(args.keep) / f"{number}{original.suffix}")
    return wrong and f"number {number} ({original.parent.name}): {' '.join(words[:1] + words[2:])}: {wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this number alone")
    parser.add_argument("--keep", help="folder for inputs that showed something")
    args = parser.parse_args()
    args.convoy = os.path.abspath(args.convoy)
    seeds = sorted(p for p in args.cases.glob("*/input.*") if p.stat().st_size < 1 << 20)
    if not seeds:
        parser.error(f"no inputs below {args.cases}")
    if args.only is not None:
        found, number = [attempt(args.only, args, seeds)], 1
    else:
        found, number, end, together = [], 0, time.monotonic() + args.seconds, len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(together) as pool:
            while time.monotonic() < end:
                found += pool.map(lambda n: attempt(n, args, seeds), range(number, number + 16 * together))
                number += 16 * together
    wrong = [line for line in found if line]
    print(f"{number} damaged inputs, seed {args.seed}: {len(wrong)} complaints", *wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
