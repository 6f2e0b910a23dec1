#!/usr/bin/env python3
"""Compare whole commands, from file to file: convoy beside SoX, FFmpeg, SciPy and cp.

    tests/peers/run.py [CONVOY] [--jobs wav,hdf5,copy,spectrogram,conv2d] [--repeat 5] [--json FILE] ...

Every tool does the same job on the same file; equal outputs are checked first. Each is given its best options (several
are tried, the fastest kept), then all run in turns, and medians count. Without CONVOY the peers run alone. Inputs are
made in a temporary folder and removed. Needs the packages in app/packages.sh (peer_packages) and SciPy.
"""
import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Command, check_equal, fastest, measure, own_peak_bytes, table

HERE = Path(__file__).resolve().parent


def numbers(text):
    return [int(part) for part in text.split(",")]


def size(text):
    for suffix, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if text.endswith(suffix):
            return int(float(text.removesuffix(suffix)) * factor)
    return int(text)


class Bench:
    """One run: the folder, what was asked for, and the results so far."""

    def __init__(self, args, folder):
        self.args, self.folder, self.results = args, folder, []

    def make(self, *words):
        subprocess.run([self.args.python, HERE / "make_input.py", *map(str, words)], check=True)

    def convoy(self, command, source, *words):
        if not self.args.convoy:
            return []
        out = self.folder / f"convoy_{command}.h5"
        return [Command("convoy", [self.args.convoy, command, source, "-o", out, *words, "--quiet", *self.args.extra], out)]

    def scipy(self, job, source, words, methods):
        """The fastest of SciPy's ways."""
        out = self.folder / "scipy.h5"
        script = [self.args.python, HERE / "with_scipy.py", job, source, out, *words]
        return fastest([Command(f"SciPy {m}".strip(), [*script, *([m] if m else [])], out) for m in methods])

    def compare(self, title, job, commands, baseline, unchecked=(), **sizes):
        check_equal(commands, self.args.python)
        results = measure([*commands, *unchecked], self.args.repeat)
        for command in [*commands, *unchecked]:
            command.output.unlink(missing_ok=True)
        self.results.append({"job": job, "title": title, **sizes, "results": results})
        print("\n".join(["", *table(title, results, baseline)]), flush=True)
        return {r["name"]: r["median_s"] for r in results}


def sox(folder, source, taps):
    out = folder / "sox.wav"
    tail = [source, "-e", "floating-point", "-b", "32", out, "fir", taps]
    return fastest([Command("SoX fir", ["sox", "-D", *options, *tail], out)
                    for options in ([], ["--multi-threaded", "--buffer", "131072"])])


def ffmpeg(folder, source, taps, count):
    """afir is causal: the input is made longer and the head cut, for an output as the others have it."""
    out, head = folder / "ffmpeg.wav", (count - 1) // 2

    def way(options):
        graph = f"[0]apad=pad_len={head}[a];[a][1]afir=gtype=none{options},atrim=start_sample={head}"
        words = ["ffmpeg", "-v", "error", "-y", "-i", source, "-i", taps, "-filter_complex", graph, "-c:a", "pcm_f32le"]
        return Command("FFmpeg afir", [*words, out], out, {"--any-gain": "yes"})
    return fastest([way(""), way(":minp=32768:maxp=32768")])


def job_wav(bench):
    args, folder = bench.args, bench.folder
    source, channels = folder / "input.wav", 2
    bench.make("wav", source, round(60 * args.minutes), channels)
    for count in args.wav_taps:
        text, audio = folder / "taps.txt", folder / "taps.wav"
        bench.make("taps", text, audio, count, channels)
        methods = ["oaconvolve", "upfirdn", "convolve1d"] if count <= 101 else ["oaconvolve", "fftconvolve"]
        peers = [bench.scipy("filter", source, [text], methods), sox(folder, source, text), ffmpeg(folder, source, audio, count)]
        medians = bench.compare(f"{args.minutes:g} min of stereo 48 kHz 16-bit WAV, {count} taps", "wav",
                                [*bench.convoy("filter", source, "--taps", text), *peers], "convoy",
                                taps=count, minutes=args.minutes)
        if "convoy" in medians:
            best = min((s, name) for name, s in medians.items() if name != "convoy")
            print(f"convoy is {best[0] / medians['convoy']:.2f} times as fast as the best of the others ({best[1]})\n")
    source.unlink()


def copy_of(source):
    out = source.with_name("copy.h5")
    return Command("cp", ["cp", source, out], out)


def job_hdf5(bench):
    args, folder = bench.args, bench.folder
    source = folder / "input.h5"
    bench.make("hdf5", source, args.channels, args.frames)
    for count in args.hdf5_taps:
        text = folder / "taps.txt"
        bench.make("taps", text, folder / "taps.wav", count, 1)
        methods = ["oaconvolve", "upfirdn", "convolve1d"] if count <= 101 else ["oaconvolve"]
        bench.compare(f"HDF5 {args.channels} x {args.frames} float32, {count} taps", "hdf5",
                      [*bench.convoy("filter", source, "--taps", text), bench.scipy("filter", source, [text], methods)],
                      "cp", [copy_of(source)], taps=count, channels=args.channels, frames=args.frames)
    source.unlink()


def job_copy(bench):
    """The ratio to cp over file sizes: a stream keeps it."""
    folder, text, ratios = bench.folder, bench.folder / "taps.txt", {}
    bench.make("taps", text, folder / "taps.wav", 25, 1)
    for size_bytes in bench.args.sizes:
        source = folder / "input.h5"
        bench.make("hdf5", source, 64, size_bytes // 256)
        medians = bench.compare(f"HDF5 64 x {size_bytes // 256} float32 ({size_bytes / 2**20:g} MiB), 25 taps", "copy",
                                bench.convoy("filter", source, "--taps", text), "cp", [copy_of(source)], bytes=size_bytes)
        if "convoy" in medians:
            ratios[size_bytes] = medians["convoy"] / medians["cp"]
        source.unlink()
    if ratios:
        print("ratio to cp: " + ", ".join(f"{s / 2**20:g} MiB {r:.2f}" for s, r in ratios.items())
              + f"; largest over smallest {max(ratios.values()) / min(ratios.values()):.2f}\n")


def job_spectrogram(bench):
    source = bench.folder / "input.wav"
    bench.make("wav", source, round(60 * bench.args.minutes), 2)
    for nfft, hop in ((1024, 256), (1000, 500)):
        words = ["--window", "hann", "--nfft", nfft, "--hop", hop]
        bench.compare(f"spectrogram of {bench.args.minutes:g} min of stereo 48 kHz WAV, {nfft} points every {hop}", "spectrogram",
                      [*bench.convoy("spectrogram", source, *words), bench.scipy("spectrogram", source, [nfft, hop], [""])],
                      "convoy", nfft=nfft, hop=hop, minutes=bench.args.minutes)
    source.unlink()


def job_conv2d(bench):
    source, kernel = bench.folder / "image.h5", bench.folder / "kernel.npy"
    bench.make("image", source, bench.args.image, bench.args.image)
    for rows in bench.args.kernels:
        bench.make("kernel", kernel, rows, rows)
        methods = ["convolve2d", "fftconvolve", "convolve"]
        bench.compare(f"conv2d of {bench.args.image} x {bench.args.image} float32, {rows} x {rows}", "conv2d",
                      [*bench.convoy("conv2d", source, "--kernel", kernel), bench.scipy("conv2d", source, [kernel], methods)],
                      "convoy", kernel=rows, image=bench.args.image)
    source.unlink()


JOBS = {"wav": job_wav, "hdf5": job_hdf5, "copy": job_copy, "spectrogram": job_spectrogram, "conv2d": job_conv2d}


def machine(args):
    """What the numbers were taken on, and with what."""
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    asked = {"convoy": [args.convoy, "--version"], "sox": ["sox", "--version"], "ffmpeg": ["ffmpeg", "-version"],
             "scipy": [args.python, "-c", "import scipy; print(scipy.__version__)"]}
    versions = {}
    for name, words in asked.items():
        if words[0] and shutil.which(words[0]):
            said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
            versions[name] = said[0] if said else ""
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "versions": versions,
            "smallest_rss_told_bytes": own_peak_bytes()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy", nargs="?", help="the program; without it the peers run alone")
    parser.add_argument("--jobs", default=",".join(JOBS), help="default: %(default)s")
    parser.add_argument("--repeat", type=int, default=5, help="counted runs of each command (default %(default)s)")
    parser.add_argument("--extra", type=shlex.split, default=[], help="further options for convoy")
    parser.add_argument("--minutes", type=float, default=10, help="of audio (default %(default)s)")
    parser.add_argument("--wav-taps", type=numbers, default=[25, 101, 1001, 10001])
    parser.add_argument("--hdf5-taps", type=numbers, default=[25, 101, 1001])
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--frames", type=int, default=1 << 21)
    parser.add_argument("--sizes", type=lambda t: [size(p) for p in t.split(",")], default=[1 << 26, 1 << 28, 1 << 30],
                        help="of files for the ratio to cp (default 64MiB,256MiB,1GiB)")
    parser.add_argument("--image", type=int, default=4096, help="rows and columns (default %(default)s)")
    parser.add_argument("--kernels", type=numbers, default=[3, 7, 15])
    parser.add_argument("--python", default="/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable)
    parser.add_argument("--folder", help="where the temporary folder goes (default: the system's)")
    parser.add_argument("--json", help="write every run here")
    args = parser.parse_args()
    args.jobs = args.jobs.split(",")
    if unknown := set(args.jobs) - set(JOBS):
        parser.error(f"no job {', '.join(unknown)}; there are {', '.join(JOBS)}")
    if args.convoy:
        args.convoy = shutil.which(args.convoy) or parser.error(f"{args.convoy} is not a program")
    return args


def main():
    args = parse()
    with tempfile.TemporaryDirectory(prefix="peers-", dir=args.folder) as folder:
        bench = Bench(args, Path(folder))
        for job in args.jobs:
            JOBS[job](bench)
    if args.json:
        report = {"schema": "convoy.peers/1", "machine": machine(args), "repeat": args.repeat, "jobs": bench.results}
        Path(args.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
