#!/usr/bin/env python3
"""Kill runs with --resume at random moments, fill their disk, change their input: what they go on from gives the same
samples as an undisturbed run, or is refused.

    resume_test.py CONVOY [--kills 10] [--seed N] [--only TEXT]
"""
import argparse
import json
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import h5py
import numpy as np
from scipy.io import wavfile

warnings.simplefilter("ignore", wavfile.WavFileWarning)     # of the chunk that holds the job's identity
TAPS = ["--lowpass", "100", "--numtaps", "101"]
SLOW = ["--strategy", "reference", "--threads", "1"]    # so that a run takes long enough to be caught
RATE = 1000.0


def write_signal(path, samples, time_axis):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=samples)
        data.attrs["sampling_rate"] = RATE
        data.dims[time_axis].label, data.dims[1 - time_axis].label = "time", "channel"


def read(path, name="data"):
    with h5py.File(path, "r") as file:
        return file[name][...]


def journal_of(out):
    return out.with_name(out.name + ".part.journal")


def part_of(out):
    return out.with_name(out.name + ".part")


def items_recorded(out):
    """(items that the journal says are on the disk, its header)"""
    raw = journal_of(out).read_bytes()
    _, length, _ = struct.unpack_from("<3Q", raw)
    header = json.loads(raw[24:24 + length])
    slots = (24 + length + 4095) // 4096 * 4096
    size = (len(raw) - slots) // 2
    records = [struct.unpack_from("<3Qq", raw, slots + i * size) for i in range(2)]
    return max(records, key=lambda r: r[1])[3], header


class Job:
    """A command, and what it gives undisturbed."""

    def __init__(self, test, name, words, dataset="data", suffix=".h5"):
        self.convoy, self.words, self.dataset = test.convoy, words, dataset
        self.out = test.folder / name / f"out{suffix}"
        self.out.parent.mkdir()
        started = time.monotonic()
        self.run("--overwrite")
        self.seconds = time.monotonic() - started
        self.right = self.read()
        self.out.unlink()

    def read(self):
        return wavfile.read(self.out)[1] if self.out.suffix == ".wav" else read(self.out, self.dataset)

    def command(self, *more):
        return [str(self.convoy), *map(str, self.words), "-o", str(self.out), *more]

    def start(self, *more):
        return subprocess.Popen(self.command("--resume", *more), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def run(self, *more, status=0):
        done = subprocess.run(self.command(*more), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == status, f"status {done.returncode}, not {status}: {done.stderr}"
        assert not done.stdout, done.stdout
        return done.stderr

    def resume(self, *more):
        """Resumes; the report."""
        report = self.out.with_name("report.json")
        self.run("--resume", "--report", str(report), *more)
        told = json.loads(report.read_text())
        report.unlink()
        return told

    def check_result(self):
        got = self.read()
        assert got.dtype == self.right.dtype and got.shape == self.right.shape, (got.dtype, got.shape)
        assert got.tobytes() == self.right.tobytes(), "the samples differ"
        left = sorted(p.name for p in self.out.parent.iterdir())
        assert left == [self.out.name], f"left: {left}"

    def caught(self, *more):
        """A run stopped (SIGSTOP) in the middle, when its journal tells of some items."""
        for _ in range(20):
            process = self.start(*more)
            while process.poll() is None:
                process.send_signal(signal.SIGSTOP)
                if self.recorded() > 0 and process.poll() is None:
                    return process
                process.send_signal(signal.SIGCONT)
                time.sleep(0.005)
            process.communicate()
            self.out.unlink(missing_ok=True)
        raise AssertionError("no run could be caught at work")

    def recorded(self):
        try:
            return items_recorded(self.out)[0]
        except (OSError, struct.error, ValueError):
            return 0    # it is being made

    def killed(self, *more):
        """A run is killed in the middle."""
        process = self.caught(*more)
        process.kill()
        process.communicate()


class Test:
    def __init__(self, convoy, folder, kills, seed):
        self.convoy, self.folder, self.kills, self.rng = Path(convoy).resolve(), Path(folder), kills, random.Random(seed)
        noise = np.random.default_rng(seed)
        self.frames = noise.standard_normal((300_000, 8), dtype="f4")
        self.rows = noise.standard_normal((48, 50_000), dtype="f4")
        write_signal(self.folder / "frames.h5", self.frames, 0)
        write_signal(self.folder / "rows.h5", self.rows, 1)

    def frames_job(self, name):
        return Job(self, name, ["filter", self.folder / "frames.h5", *TAPS, *SLOW, "--chunk", "2000"])

    def rows_job(self, name):
        return Job(self, name, ["filter", self.folder / "rows.h5", *TAPS, *SLOW, "--chunk", "64KiB"])

    def image_job(self, name):
        return Job(self, name, ["spectrogram", self.folder / "frames.h5", "--nfft", "256", "--hop", "64", "--threads", "1",
                                "--chunk", "100"], "spectrogram")

    def pictures_job(self, name):
        """More pictures than a chunk holds, in groups."""
        with h5py.File(self.folder / "pictures.h5", "w") as file:
            file["data"] = self.rows.reshape(600, 40, 100)
        return Job(self, name, ["conv2d", self.folder / "pictures.h5", "--kernel", "gaussian:2", *SLOW, "--chunk", "64KiB"],
                   "conv2d")

    def test_kills(self):
        """SIGKILL at random moments, several times before one run comes to its end; what the journal does not claim is
        spoiled, as after a power cut."""
        jobs = [self.frames_job("kill-frames"), self.rows_job("kill-rows"), self.image_job("kill-image"),
                self.pictures_job("kill-pictures")]
        done = caught = resumed = 0
        while done < self.kills:
            job = jobs[done % len(jobs)]
            for _ in range(self.rng.randint(1, 3)):
                if done == self.kills:
                    break
                process, begun = job.start(), time.monotonic()
                try:
                    process.wait(self.rng.uniform(0.05, 1.1) * job.seconds)
                    job.seconds = min(job.seconds, time.monotonic() - begun)  # the machine has more time than it had
                except subprocess.TimeoutExpired:
                    process.kill()
                process.communicate()
                done += 1
                caught += process.returncode == -signal.SIGKILL
                self.spoil(job)
            told = job.resume()
            resumed += told["ending"] == "resumed" and told["output"]["samples_kept"] > 0
            job.check_result()
            job.out.unlink()
        print(f"    {done} kills, {caught} at work, {resumed} taken up")
        assert caught >= done // 3, "hardly a run was caught at work"
        assert resumed > 0, "no run was taken up"

    def spoil(self, job):
        if not journal_of(job.out).exists() or job.dataset != "data" or self.rng.random() < 0.3:
            return
        try:
            items, header = items_recorded(job.out)
        except (struct.error, ValueError):
            return
        if job.right.shape[0] != len(self.frames):
            return
        with h5py.File(part_of(job.out), "r") as file:
            place = file["data"].id.get_offset()
        row = job.right.shape[1] * job.right.itemsize
        claimed = min(items * header["chunk_frames"], len(job.right))
        with open(part_of(job.out), "r+b") as file:
            file.seek(place + claimed * row)
            file.write(b"\xa5" * ((len(job.right) - claimed) * row))

    def test_torn_journal(self):
        """Of a record that was cut short, the one before it counts; a journal that is no such thing counts for nothing."""
        job = self.frames_job("torn")
        for torn in (lambda raw, slots, size: raw[:slots] + raw[slots:slots + size] + bytes(size),
                     lambda raw, slots, size: raw[:slots] + bytes(size) + raw[slots + size:],
                     lambda raw, slots, size: raw[:100], lambda raw, slots, size: b""):
            job.killed()
            raw = journal_of(job.out).read_bytes()
            slots = (24 + struct.unpack_from("<3Q", raw)[1] + 4095) // 4096 * 4096
            journal_of(job.out).write_bytes(torn(raw, slots, (len(raw) - slots) // 2))
            job.run("--resume")
            job.check_result()
            job.out.unlink()

    def test_report_of_resumed(self):
        """Levels and hash cover the whole result, not only what the last run made."""
        job = self.frames_job("report")
        whole = job.resume()
        job.out.unlink()
        job.killed()
        told = job.resume()
        assert told["ending"] == "resumed" and told["output"]["samples_kept"] > 0, told["ending"]
        assert told["output"]["hash"] == whole["output"]["hash"]
        for key in ("input_levels", "output_levels"):
            for a, b in zip(told[key], whole[key]):
                assert a["peak"] == b["peak"] and abs(a["rms"] - b["rms"]) < 1e-9 * b["rms"], (key, a, b)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            job = self.frames_job(f"signal-{number}")
            process = job.caught()
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            begun = time.monotonic()
            _, said = process.communicate(timeout=10)
            assert time.monotonic() - begun < 10
            assert process.returncode == 128 + number and said.count("\n") == 1 and "--resume" in said, said
            assert part_of(job.out).exists() and journal_of(job.out).exists()
            assert job.resume()["output"]["samples_kept"] > 0
            job.check_result()

    def test_plain_run_removes(self):
        job = self.frames_job("plain")
        job.killed()
        job.run()
        job.check_result()

    def test_full_disk(self):
        """A limit of file size stands for a full disk: it can be set while the run is at work."""
        job = self.frames_job("full")
        process = job.caught()
        size = part_of(job.out).stat().st_size
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size // 2, size // 2))
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1 and said.count("\n") == 1 and "--resume" in said, said
        assert part_of(job.out).exists() and journal_of(job.out).exists() and not job.out.exists()
        assert job.resume()["ending"] == "resumed"
        job.check_result()

    def test_refused(self):
        """Another job's part is not taken up, nor one of an input that was changed."""
        source = self.folder / "refused.h5"
        shutil.copy(self.folder / "frames.h5", source)
        job = Job(self, "refused", ["filter", source, *TAPS, *SLOW, "--chunk", "2000"])
        job.killed()
        said = job.run("--resume", "--padding", "edge", status=1)
        assert "another job" in said and "padding" in said and said.count("\n") == 1, said
        with h5py.File(source, "r+") as file:
            file["data"][150_001, 3] = 5
        said = job.run("--resume", status=1)
        assert "changed" in said and "--overwrite" in said and said.count("\n") == 1, said
        assert part_of(job.out).exists()
        assert job.resume("--overwrite")["ending"] == "done"
        changed = job.run("--resume", "--padding", "edge", status=1)
        assert "another job" in changed, changed
        assert not part_of(job.out).exists() and not journal_of(job.out).exists()

    def test_another_chunk(self):
        """How the rest is cut does not matter to what is there."""
        job = self.rows_job("chunk")
        job.killed()
        assert job.resume("--chunk", "7000", "--threads", "2")["output"]["samples_kept"] > 0
        job.check_result()

    def test_finished(self):
        job = self.frames_job("finished")
        job.run("--resume")
        stamp = job.out.stat()
        said = job.run("--resume")
        assert "finished already" in said and said.count("\n") == 1, said
        journal_of(job.out).write_bytes(b"of a run that was killed after it had renamed its part")
        assert job.run("--resume", "--quiet") == ""
        assert (job.out.stat().st_mtime_ns, job.out.stat().st_ino) == (stamp.st_mtime_ns, stamp.st_ino)
        assert "exists already" in job.run(status=1)
        job.check_result()

    def test_appended(self):
        """A longer input with the same beginning: what stays is copied, the tail computed."""
        for time_axis, name in ((0, "frames"), (1, "rows")):
            samples = getattr(self, name)
            longer = np.concatenate([samples, samples[::-1] if time_axis == 0 else samples[:, ::-1]], axis=time_axis)
            for kind, options in {"direct": [], "fft": ["--strategy", "fft"], "gzip": ["--compression", "gzip:1"],
                                  "decimated": ["--decimate", "3", "--padding", "reflect"],
                                  "part": ["--start", "1000n", "--padding", "edge"]}.items():
                source = self.folder / f"appended-{name}-{kind}.h5"
                write_signal(source, longer, time_axis)
                words = ["filter", source, *TAPS, "--chunk", "3000", *options]
                job = Job(self, f"appended-{name}-{kind}", words)
                write_signal(source, samples, time_axis)
                job.run("--resume")
                write_signal(source, longer, time_axis)
                told = job.resume()
                assert told["ending"] == "extended", told["ending"]
                assert told["output"]["samples_kept"] > 0.4 * job.right.size, told["output"]
                job.check_result()
                if kind != "gzip":
                    whole = json.loads(self.whole_report(job))
                    assert told["output"]["hash"] == whole["output"]["hash"]

    def whole_report(self, job):
        report = job.out.with_name("whole.json")
        job.run("--overwrite", "--report", str(report))
        text = report.read_text()
        report.unlink()
        return text

    def test_killed_extension(self):
        source = self.folder / "extension.h5"
        longer = np.concatenate([self.frames, self.frames[::-1]])
        write_signal(source, longer, 0)
        job = Job(self, "extension", ["filter", source, *TAPS, *SLOW, "--chunk", "2000"])
        write_signal(source, self.frames, 0)
        job.run("--resume")
        write_signal(source, longer, 0)
        job.killed()
        kept = job.resume()["output"]["samples_kept"]
        assert kept > job.right.size // 2, kept
        job.check_result()

    def test_audio(self):
        """WAV, whose samples have their places too: taken up, left when finished, made anew when its input has grown."""
        source = self.folder / "audio.wav"
        samples = np.random.default_rng(8).integers(-9000, 9000, (400_000, 2)).astype("<i2")
        wavfile.write(source, 8000, samples)
        job = Job(self, "audio", ["filter", source, *TAPS, *SLOW, "--chunk", "2000"], suffix=".wav")
        job.killed()
        assert job.resume()["output"]["samples_kept"] > 0
        job.check_result()
        assert "finished already" in job.run("--resume")
        wavfile.write(source, 8000, np.concatenate([samples, samples]))
        assert job.resume()["ending"] == "done" and len(job.read()) == 800_000
        job.run("--overwrite")
        assert b"cnvy" not in job.out.read_bytes()[:4096]

    def test_compressed_starts_anew(self):
        job = Job(self, "gzip", ["filter", self.folder / "frames.h5", *TAPS, *SLOW, "--compression", "gzip:1"])
        process = job.start()
        time.sleep(0.5 * job.seconds)
        process.kill()
        process.communicate()
        said = job.run("--resume")
        assert said.count("\n") == 1 and "starts anew" in said, said
        job.check_result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("convoy")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="tests whose name holds this")
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="resume-") as folder:
        test = Test(args.convoy, folder, args.kills, args.seed)
        for name in [n for n in dir(test) if n.startswith("test_") and (args.only or "") in n]:
            begun = time.monotonic()
            print(name, flush=True)
            try:
                getattr(test, name)()
                print(f"    {time.monotonic() - begun:.1f} s", flush=True)
            except AssertionError as error:
                wrong += 1
                print(f"    FAILED: {error or 'assertion in ' + str(error.__traceback__.tb_next.tb_lineno)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
