#!/usr/bin/env python3
"""What a user meets at the command line: bad input, exit statuses, messages, progress, locale, threads, memory.

    cli_test.py CONVOY [--only TEXT]

Every error is one line on standard error, with nothing on standard output and nothing left behind.
"""
import argparse
import json
import locale
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

TAPS = ["--lowpass", "100", "--numtaps", "31"]


def write_signal(path, samples, time_axis=0, rate=1000.0):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=samples)
        data.attrs["sampling_rate"] = rate
        if samples.ndim == 2:
            data.dims[time_axis].label, data.dims[1 - time_axis].label = "time", "channel"


def read(path, name="data"):
    with h5py.File(path, "r") as file:
        return file[name][...]


class Test:
    def __init__(self, convoy, folder):
        self.convoy, self.folder = Path(convoy).resolve(), Path(folder)
        self.noise = np.random.default_rng(4)
        self.signal = self.folder / "signal.h5"
        write_signal(self.signal, self.noise.standard_normal((20_000, 3), dtype="f4"))
        self.count = 0

    def place(self):
        """A folder of its own for an output."""
        self.count += 1
        folder = self.folder / f"out{self.count}"
        folder.mkdir()
        return folder

    def run(self, *words, status=0, **options):
        done = subprocess.run([str(self.convoy), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, **options)
        assert done.returncode == status, f"status {done.returncode}, not {status}: {words} {done.stderr}"
        return done

    def refuse(self, *words, status, said, folder=None, left=(), **options):
        """The call ends with `status` and one line that has all of `said`; `folder` holds `left` only."""
        done = self.run(*words, status=status, **options)
        lines = done.stderr.splitlines()
        errors = [line for line in lines if line.startswith("convoy: error: ")]
        assert len(errors) == 1 and all(line.startswith("convoy: warning: ") for line in lines if line not in errors), done.stderr
        assert not done.stdout, f"on standard output: {done.stdout}"
        for text in said:
            assert text in errors[0], f"no '{text}' in: {errors[0]}"
        if folder is not None:
            there = sorted(p.name for p in folder.iterdir())
            assert there == sorted(left), f"left: {there}"

    def filter(self, *words, **options):
        return self.run("filter", *words, **options)

    # --- bad input

    def test_no_space(self):
        """Too little room is said before the work, a limit that is met midway leaves nothing."""
        folder = self.place()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        self.refuse("filter", self.signal, "-o", folder / "o.h5", *TAPS, status=1, said=["o.h5"], folder=folder,
                    preexec_fn=limit)
        self.refuse("filter", self.signal, "-o", folder / "o.wav", "--channels", "0,1", *TAPS, status=1, said=["o.wav"],
                    folder=folder, preexec_fn=limit)
        vast = self.folder / "vast.h5"
        with h5py.File(vast, "w") as file:      # 2 PiB that nobody has, of which nothing is stored
            file.create_dataset("data", shape=(1 << 48,), dtype="f8", chunks=(1 << 20,))
            file["data"].attrs["sampling_rate"] = 1.0
        self.refuse("filter", vast, "-o", folder / "o.h5", "--lowpass", "0.1", "--numtaps", "3", status=1,
                    said=["o.h5", "free"], folder=folder)

    def test_missing_and_unreadable(self):
        folder = self.place()
        self.refuse("filter", self.folder / "none.h5", "-o", folder / "o.h5", *TAPS, status=1,
                    said=["none.h5", "no such file"], folder=folder)
        self.refuse("filter", self.folder, "-o", folder / "o.h5", *TAPS, status=1, said=["is a folder"], folder=folder)
        empty = self.folder / "empty.h5"
        empty.write_bytes(b"")
        self.refuse("filter", empty, "-o", folder / "o.h5", *TAPS, status=1, said=["empty.h5", "empty"], folder=folder)
        if os.geteuid() != 0:
            locked = self.folder / "locked.h5"
            shutil.copy(self.signal, locked)
            locked.chmod(0)
            self.refuse("filter", locked, "-o", folder / "o.h5", *TAPS, status=1, said=["locked.h5"], folder=folder)

    def test_vanishing(self):
        """A file that is cut while it is read is an error that names it, never zeros."""
        folder, source = self.place(), self.folder / "vanishing.h5"
        write_signal(source, self.noise.standard_normal((2_000_000, 4), dtype="f4"))
        process = subprocess.Popen([str(self.convoy), "filter", str(source), "-o", str(folder / "o.h5"), *TAPS, "--strategy",
                                    "reference", "--threads", "1", "--chunk", "1000"], stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (folder / "o.h5.part").exists():
            time.sleep(0.002)
        os.truncate(source, 1 << 20)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1 and said.count("\n") == 1 and "vanishing.h5" in said, (process.returncode, said)
        assert not list(folder.iterdir()), list(folder.iterdir())

    def test_output_is_input(self):
        folder = self.place()
        source = folder / "in.h5"
        shutil.copy(self.signal, source)
        (folder / "link.h5").symlink_to(source)
        before = source.read_bytes()
        for out in ("in.h5", "link.h5", "../" + folder.name + "/in.h5"):
            done = self.run("filter", source, "-o", folder / out, "--overwrite", *TAPS, status=1)
            assert "input" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert source.read_bytes() == before and len(list(folder.iterdir())) == 2

    def test_output_place(self):
        folder = self.place()
        self.refuse("filter", self.signal, "-o", folder / "none" / "o.h5", *TAPS, status=1, said=["none", "not there"],
                    folder=folder)
        self.refuse("filter", self.signal, "-o", folder / "o.mp3", *TAPS, status=2, said=["o.mp3"], folder=folder)
        (folder / "o.h5").write_text("mine")
        self.refuse("filter", self.signal, "-o", folder / "o.h5", *TAPS, status=1, said=["o.h5", "exists", "--overwrite"],
                    folder=folder, left=["o.h5"])
        assert (folder / "o.h5").read_text() == "mine"
        self.filter(self.signal, "-o", folder / "o.h5", "--overwrite", *TAPS)
        assert len(read(folder / "o.h5")) == 20_000

    def test_taps(self):
        folder = self.place()
        for name, text, said in (("empty.txt", "", "empty"), ("comments.txt", "# nothing\n", "taps"),
                                 ("nan.txt", "1\nnan\n", "nan"), ("word.txt", "1\nword\n", "word")):
            taps = self.folder / name
            taps.write_text(text)
            done = self.run("filter", self.signal, "-o", folder / "o.h5", "--taps", taps, status=1)
            assert name in done.stderr and said in done.stderr.lower() and done.stderr.count("\n") == 1, done.stderr
            assert not done.stdout and not list(folder.iterdir())
        self.refuse("filter", self.signal, "-o", folder / "o.h5", "--taps", self.folder / "none.txt", status=1,
                    said=["none.txt"], folder=folder)
        self.refuse("filter", self.signal, "-o", folder / "o.h5", status=2, said=["--taps"], folder=folder)

    def test_wrong_requests(self):
        folder = self.place()
        for words, said in ((["--channels", "7", *TAPS], "7"), (["--channels", "x", *TAPS], "channels"),
                            (["--lowpass", "600"], "600"), (["--lowpass", "-1"], "-1"), (["--bandpass", "300,100"], "300"),
                            (["--lowpass", "100", "--numtaps", "0"], "0"), ([*TAPS, "--chunk", "0"], "chunk"),
                            ([*TAPS, "--mode", "sam"], "sam"), ([*TAPS, "--strategy", "dirct"], "direct"),
                            ([*TAPS, "--device", "cuda:99"], "cuda"), ([*TAPS, "--start", "1h"], "start"),
                            ([*TAPS, "--compression", "zip"], "zip"), ([*TAPS, "--threads", "0"], "threads"),
                            ([*TAPS, "--memory", "sideways"], "sideways"), ([*TAPS, "--decimate", "0"], "decimate"),
                            ([*TAPS, "--rate", "0"], "rate"), (["--corners", "4", "--lowpass", "5"], "FIR"),
                            ([*TAPS, "--padding", "wrap"], "wrap"), ([*TAPS, "--time-axis", "5"], "5"),
                            ([*TAPS, "--dataset", "/none"], "/none"), ([*TAPS, "--output-dtype", "int9"], "int9"),
                            ([*TAPS, "--nonsense"], "nonsense")):
            done = subprocess.run([str(self.convoy), "filter", str(self.signal), "-o", str(folder / "o.h5"), *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode in {1, 2}, f"{words}: status {done.returncode} {done.stderr}"
            assert done.stderr.count("\n") == 1 and done.stderr.startswith("convoy: error: "), f"{words}: {done.stderr}"
            assert said in done.stderr and not done.stdout, f"{words}: {done.stderr}"
            assert not list(folder.iterdir()), words
        self.refuse("filter", "-o", folder / "o.h5", *TAPS, status=2, said=["input"], folder=folder)
        self.refuse("filter", self.signal, *TAPS, status=2, said=["-o"], folder=folder)
        self.refuse("filtr", self.signal, status=2, said=["filtr"])
        self.refuse("filter", "nothing*.wav", "-o", folder / "o", *TAPS, status=2, said=["nothing"], folder=folder)

    def test_two_runs_to_one_output(self):
        folder = self.place()
        source = self.folder / "long.h5"
        write_signal(source, self.noise.standard_normal((1_000_000, 2), dtype="f4"))
        # Long enough for this process to be held up meanwhile.
        words = [str(self.convoy), "filter", str(source), "-o", str(folder / "o.h5"), "--lowpass", "100", "--numtaps", "401",
                 "--strategy", "reference", "--threads", "1", "--chunk", "1000"]
        first = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        part = folder / "o.h5.part"
        while first.poll() is None and not (part.exists() and part.stat().st_size > 0):  # it is locked before it grows
            time.sleep(0.002)
        first.send_signal(signal.SIGSTOP)
        self.refuse(*words[1:], status=1, said=["o.h5", "another run"], folder=folder, left=["o.h5.part"])
        first.send_signal(signal.SIGCONT)
        _, said = first.communicate(timeout=60)
        assert first.returncode == 0, said
        assert [p.name for p in folder.iterdir()] == ["o.h5"] and len(read(folder / "o.h5")) == 1_000_000

    # --- what simply works

    def test_extremes(self):
        folder = self.place()
        short = self.folder / "short.h5"
        write_signal(short, np.float32([1, 2, 3]))
        self.filter(short, "-o", folder / "long-taps.h5", "--lowpass", "100", "--numtaps", "1001")
        assert len(read(folder / "long-taps.h5")) == 3
        some = self.folder / "some.h5"
        write_signal(some, self.noise.standard_normal((500, 2), dtype="f4"))
        self.filter(some, "-o", folder / "one.h5", *TAPS, "--chunk", "1")
        self.filter(some, "-o", folder / "all.h5", *TAPS)
        assert read(folder / "one.h5").tobytes() == read(folder / "all.h5").tobytes()
        many = self.folder / "many.h5"
        write_signal(many, self.noise.standard_normal((2000, 300), dtype="f4"))
        self.filter(many, "-o", folder / "many.h5", *TAPS)
        assert read(folder / "many.h5").shape == (2000, 300)

    def test_same_bits(self):
        """Threads, chunks and the memory they leave do not matter."""
        folder = self.place()
        rows = self.folder / "rows.h5"
        write_signal(rows, self.noise.standard_normal((7, 30_000), dtype="f4"), 1)
        for source in (self.signal, rows):
            for strategy in ("reference", "direct", "fft"):
                results = set()
                for threads, chunk in (("1", "8MiB"), ("2", "8MiB"), ("2", "997"), ("1", "12345n"), ("2", "64KiB")):
                    self.filter(source, "-o", folder / "o.h5", "--overwrite", *TAPS, "--strategy", strategy, "--threads",
                                threads, "--chunk", chunk, "--padding", "reflect")
                    results.add(read(folder / "o.h5").tobytes())
                assert len(results) == 1, (source.name, strategy)

    def test_memory(self):
        """At most 256 MiB resident for a file that is larger."""
        source, folder = self.folder / "large.h5", self.place()
        for shape, axis in (((25 << 20, 4), 0), ((64, 100 << 14), 1)):
            with h5py.File(source, "w") as file:
                data = file.create_dataset("data", shape=shape, dtype="f4")     # 400 MiB
                data.attrs["sampling_rate"] = 1000.0
                data.dims[axis].label, data.dims[1 - axis].label = "time", "channel"
                data[0, 0] = 1      # stores it; what is not written is a hole
            peak = self.peak("filter", source, "-o", folder / "o.h5", "--overwrite", *TAPS)
            assert peak <= 256 << 10, f"{peak / 1024:.0f} MiB"
        source.unlink()
        (folder / "o.h5").unlink()

    def peak(self, *words):
        """Largest resident size in KiB."""
        pid = os.posix_spawn(str(self.convoy), [str(self.convoy), *map(str, words)], os.environ)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0, status
        return usage.ru_maxrss

    # --- manners

    def test_quiet_and_progress(self):
        """Progress on a terminal only; --quiet hides it, never warnings."""
        folder = self.place()
        done = self.filter(self.signal, "-o", folder / "a.h5", *TAPS)
        assert done.stdout == "" and done.stderr == "", done
        spoiled = self.folder / "spoiled.h5"
        samples = np.ones((1_500_000, 2), "f4")
        samples[100, 1] = np.nan
        write_signal(spoiled, samples)
        done = self.filter(spoiled, "-o", folder / "b.h5", *TAPS, "--quiet")
        assert done.stderr.startswith("convoy: warning: ") and "NaN" in done.stderr and done.stderr.count("\n") == 1
        slow = ["--numtaps", "501", "--strategy", "reference", "--threads", "1", "--chunk", "1000"]
        shown = self.on_terminal("filter", spoiled, "-o", folder / "c.h5", *TAPS, *slow)
        assert "%" in shown and "left" in shown, shown
        shown = self.on_terminal("filter", spoiled, "-o", folder / "d.h5", *TAPS, *slow, "--quiet")
        assert "%" not in shown and "warning" in shown, shown

    def on_terminal(self, *words):
        """What appears on a terminal as standard error."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([str(self.convoy), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:
            pass    # the terminal's other end is closed
        os.close(ours)
        assert process.wait() == 0, text
        return text.decode()

    def test_report(self):
        folder = self.place()
        done = self.filter(self.signal, "-o", folder / "o.h5", *TAPS, "--report", "-")
        report = json.loads(done.stdout)
        assert report["schema"] == "convoy.report/1" and report["ending"] == "done"
        assert report["input"]["path"] == str(self.signal) and report["output"]["path"] == str(folder / "o.h5")
        assert report["output"]["hash"] and len(report["output_levels"]) == 3 and report["steps"][0]["strategy"]
        assert report["memory"]["in_effect"] and report["seconds"]["total"] > 0 and report["samples_per_second"] > 0
        again = self.filter(self.signal, "-o", folder / "o2.h5", *TAPS, "--chunk", "777", "--report", "-")
        assert json.loads(again.stdout)["output"]["hash"] == report["output"]["hash"]
        self.refuse("filter", self.signal, "-o", folder / "o3.h5", "--lowpass", "900", "--report", "-", status=2, said=["900"])
        self.refuse("filter", self.signal, "-o", folder / "o4.h5", *TAPS, "--report", folder / "no" / "r.json", status=1,
                    said=["r.json"])

    def test_batch(self):
        """One bad file does not stop the rest: status 3, one line each, the list at the end."""
        folder, inputs = self.place(), self.place()
        shutil.copy(self.signal, inputs / "a.h5")
        (inputs / "b.h5").write_text("this is no HDF5 file")
        shutil.copy(self.signal, inputs / "c.h5")
        failed = folder / "failed.txt"
        done = self.filter(inputs / "*.h5", "-o", folder / "out", *TAPS, "--failed-to", failed, status=3)
        errors = [line for line in done.stderr.splitlines() if line.startswith("convoy: error: ")]
        assert len(errors) == 1 and "b.h5" in errors[0], done.stderr
        assert failed.read_text() == f"{inputs / 'b.h5'}\n"
        assert sorted(p.name for p in (folder / "out").iterdir()) == ["a.h5", "c.h5"]

    def test_locale(self):
        """A comma for a decimal point changes nothing."""
        folder = self.place()
        name = next((n for n in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8") if self.has_locale(n)), None)
        german = {**os.environ, "LC_ALL": name or "de_DE.UTF-8", "LANG": name or "de_DE.UTF-8"}
        taps = self.folder / "taps.txt"
        taps.write_text("0.25\n0.5\n0.25\n")
        for number, words in enumerate((["--lowpass", "0.1k", "--transition", "12.5"], ["--taps", taps])):
            here, there = folder / f"h{number}.h5", folder / f"t{number}.h5"
            one = self.filter(self.signal, "-o", here, *words, "--report", "-")
            other = self.filter(self.signal, "-o", there, *words, "--report", "-", env=german)
            assert read(here).tobytes() == read(there).tobytes()
            assert json.loads(one.stdout)["steps"] == json.loads(other.stdout)["steps"]

    def has_locale(self, name):
        try:
            locale.setlocale(locale.LC_ALL, name)
            return True
        except locale.Error:
            return False
        finally:
            locale.setlocale(locale.LC_ALL, "C")

    def test_signals(self):
        source = self.folder / "long2.h5"
        write_signal(source, self.noise.standard_normal((2_000_000, 2), dtype="f4"))
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGUSR1, 138), (signal.SIGHUP, 129),
                               (signal.SIGUSR2, 140), (signal.SIGXCPU, 152)):
            folder = self.place()
            process = subprocess.Popen([str(self.convoy), "filter", str(source), "-o", str(folder / "o.h5"), *TAPS,
                                        "--strategy", "reference", "--threads", "1", "--chunk", "1000"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not (folder / "o.h5.part").exists():
                time.sleep(0.002)
            process.send_signal(number)
            out, said = process.communicate(timeout=10)
            assert process.returncode == status, (number, process.returncode, said)
            assert not out and said.count("\n") == 1 and "signal" in said, said
            assert not list(folder.iterdir()), list(folder.iterdir())

    def test_nohup(self):
        """A terminal that goes away does not stop what nohup started."""
        source, folder = self.folder / "long3.h5", self.place()
        write_signal(source, self.noise.standard_normal((200_000, 2), dtype="f4"))
        process = subprocess.Popen(["nohup", str(self.convoy), "filter", str(source), "-o", str(folder / "o.h5"), *TAPS,
                                    "--strategy", "reference", "--threads", "1", "--chunk", "1000"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not (folder / "o.h5.part").exists():
            time.sleep(0.002)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        assert process.returncode == 0 and (folder / "o.h5").exists()

    def test_help(self):
        text = self.run("--help").stdout
        commands = [line.split()[0] for line in text.split("Subcommands:")[-1].splitlines() if line.startswith("  ") and line.strip()]
        assert {"filter", "spectrogram", "inspect", "design", "devices", "bench"} <= set(commands), commands
        for command in commands:
            text = self.run(command, "--help").stdout
            assert f"convoy {command}" in text.split("Example")[-1] and "Example" in text, f"{command} has no example"
            assert f"Usage: convoy {command} [OPTIONS]" in text, text
            assert all(f"--{word}" in text for word in ("quiet", "log-level", "report")), command
        assert self.run("--version").stdout.startswith("convoy ")

    def test_closed_output(self):
        """A reader that goes away (convoy ... | head) is no error."""
        done = subprocess.run(["/bin/sh", "-c", f'"{self.convoy}" inspect "{self.signal}" --json | true'], timeout=30,
                              capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(self.convoy), "inspect", str(self.signal)], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "standard output" in done.stderr and done.stderr.count("\n") == 1, done


def main(tests=Test, prefix="cli-"):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy")
    parser.add_argument("--only", default="", help="tests whose name holds this")
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        test = tests(args.convoy, folder)
        for name in [n for n in sorted(vars(tests)) if n.startswith("test_") and args.only in n]:
            begun = time.monotonic()
            try:
                getattr(test, name)()
                print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
            except AssertionError as error:
                wrong += 1
                line = error.__traceback__.tb_next.tb_lineno
                print(f"{name}: FAILED at line {line}: {error}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
