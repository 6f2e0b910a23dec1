#!/usr/bin/env python3
"""Words that the program cannot follow: options without a say, odd names, pipes, signals while it waits.

    options_test.py CONVOY [--only TEXT]

Each is one line and an exit status, and never passed over in silence.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
from scipy.io import wavfile

from cli_test import TAPS, Test, main, read, write_signal


class Options(Test):
    def __init__(self, convoy, folder):
        super().__init__(convoy, folder)
        self.wav = self.folder / "tone.wav"
        wavfile.write(self.wav, 1000, (self.noise.standard_normal((2000, 2)) * 3000).astype("i2"))
        self.taps = self.folder / "taps.txt"
        self.taps.write_text("0.25\n0.5\n0.25\n")

    def test_options_without_a_say(self):
        folder, taps = self.place(), ["--taps", self.taps]
        idle = [([*taps, "--numtaps", "5"], "--numtaps"), ([*taps, "--window", "hann"], "--window"),
                ([*taps, "--atten-db", "40"], "--atten-db"), (["--decimate", "2", "--transition", "5"], "--transition"),
                ([*taps, "--no-antialias"], "--no-antialias"), ([*TAPS, "--decimate", "2", "--no-antialias"], "--no-antialias"),
                ([*taps, "--mode", "valid", "--padding", "edge"], "--padding"),
                ([*TAPS, "--window", "hann", "--atten-db", "40"], "--atten-db"), ([*taps, "-0"], "-0"),
                ([*taps, "--lowpass", "10"], "--taps")]
        for words, said in idle:
            self.refuse("filter", self.wav, "-o", folder / "o.h5", *words, status=2, said=[said], folder=folder)
        for words, said in ((["--strategy", "fft"], "--strategy"), (["--explain"], "--explain"),
                            (["--png-reduce", "mean"], "--png"), (["--png", folder / "x.jpg"], ".png")):
            self.refuse("spectrogram", self.wav, "-o", folder / "o.h5", "--nfft", "64", *words, status=2, said=[said],
                        folder=folder)
        design = ["design", "--rate", "1000"]
        self.refuse(*design, *taps, "--window", "hann", status=2, said=["--window"])
        self.refuse(*design, *TAPS, "--points", "9", status=2, said=["--points"])
        self.refuse(*design, *TAPS, "--json", "--csv", status=2, said=["--csv"])
        self.refuse(*design, *TAPS, "--png", folder / "x.svg", status=2, said=[".png"], folder=folder)
        self.refuse("inspect", self.wav, "--start", "1", status=2, said=["--start"])
        for words in (["--jobs", "2"], ["--join"], ["--set", "steps.0.decimate=2"]):
            self.refuse("compare", self.signal, "-o", "null", *TAPS, *words, status=2, said=[words[0]])
        self.refuse("inspect", self.wav, "--json", "--csv", status=2, said=["--csv"])

    def test_options_of_other_inputs(self):
        """What only HDF5 knows is told where audio comes, once a run; the work is done."""
        folder, other = self.place(), self.folder / "other.wav"
        other.write_bytes(self.wav.read_bytes())
        done = self.filter(self.wav, other, "-o", folder / "out", "--taps", self.taps, "--raw", "--gaps", "split")
        lines = done.stderr.splitlines()
        assert len(lines) == 2 and all(line.startswith("convoy: warning: ") for line in lines), done.stderr
        assert "--raw" in lines[0] and "--gaps" in lines[1] and len(list((folder / "out").iterdir())) == 2
        done = self.filter(self.signal, "-o", folder / "o.h5", *TAPS, "--raw", "--gaps", "split")
        assert not done.stderr, done.stderr

    def test_datasets_that_cannot_be(self):
        folder = self.place()
        for name in ("", "/", "//", ".", "..", "/a/../b", "a/./b", "/convoy", "convoy/x", "/time", "x/channel"):
            self.refuse("filter", self.signal, "-o", folder / "o.h5", *TAPS, "--out-dataset", name, status=2,
                        said=["--out-dataset", f"'{name}'"], folder=folder)
        for name, path in (("a//b", "/a/b"), ("x/", "/x"), ("with space", "/with space"), ("time_of_day", "/time_of_day")):
            self.filter(self.signal, "-o", folder / "o.h5", *TAPS, "--out-dataset", name, "--overwrite")
            with h5py.File(folder / "o.h5") as file:
                assert file[path].shape == (20_000, 3) and file[path].dims[0].label == "time"
        source = self.folder / "crowded.h5"
        write_signal(source, self.noise.standard_normal(2000, dtype="f4"))
        with h5py.File(source, "a") as file:
            file["notes"] = "mine"
            file["about/by"] = "me"
        for name in ("/notes", "/about", "/notes/x"):
            self.refuse("filter", f"{source}:/data", "-o", folder / "p.h5", *TAPS, "--out-dataset", name, status=2,
                        said=["p.h5", "--out-dataset"], folder=folder, left=["o.h5"])

    def test_outputs_that_cannot_be(self):
        folder = self.place()
        for name, said in (("", "-o OUT.h5"), ("-", "standard output")):
            self.refuse("filter", self.signal, "-o", name, *TAPS, status=2, said=[said], cwd=folder, folder=folder)
        self.refuse("filter", self.signal, "-o", folder / "1.h5", "-o", folder / "2.h5", *TAPS, status=2, said=["1.h5", "2.h5"],
                    folder=folder)
        for name in ("o.png", "o.json", "o.txt"):
            self.refuse("filter", self.signal, "-o", folder / name, *TAPS, status=2, said=[name], folder=folder)
        self.refuse("filter", self.signal, "-o", "/dev/full", *TAPS, status=1, said=["/dev/full", "no regular file"])
        self.filter(self.signal, "-o", f"{folder}/new/", *TAPS)
        self.filter(self.signal, "-o", folder / "made" / "{stem}_low.h5", *TAPS)
        assert read(folder / "new" / "signal.h5").tobytes() == read(folder / "made" / "signal_low.h5").tobytes()

    def test_one_file_for_several_inputs(self):
        folder = self.place()
        for name in ("o.h5", "o.wav", "there"):
            if name == "there":
                (folder / name).write_text("x")
            self.refuse("filter", self.signal, self.wav, "-o", folder / name, *TAPS, "--overwrite", status=2,
                        said=[name, "several inputs", "{stem}.h5"])
            assert os.listdir(folder) == ["there"] * (name == "there"), os.listdir(folder)
        self.filter(self.signal, self.wav, "-o", f"{folder}/o.h5/", *TAPS)
        self.filter(self.signal, self.wav, "-o", folder / "o.h5", *TAPS, "--overwrite")
        assert len(os.listdir(folder / "o.h5")) == 2

    def test_other_names_for_hdf5(self):
        """What is no name of audio is HDF5, with all that goes with it."""
        folder = self.place()
        for name in ("o.he5", "o.H5", "o.dat"):
            done = self.filter(self.signal, "-o", folder / name, *TAPS, "--compression", "gzip", "--report", "-")
            with h5py.File(folder / name) as file:
                assert file["data"].compression == "gzip" and "identity" in file["convoy"].attrs, name
            assert '"dataset": "/data"' in done.stdout

    def test_names_of_files(self):
        """Control characters stay on the line, and cannot steer a terminal."""
        folder = self.place()
        name = "two\nlines\x1b\a.h5"
        self.refuse("filter", folder / name, "-o", folder / "o.h5", *TAPS, status=1, said=["two\\nlines\\x1b\\x07.h5: no such"])
        write_signal(folder / name, np.full(2000, np.nan, "f4"))
        done = self.filter(folder / name, "-o", folder / "o.h5", *TAPS)
        assert done.stderr.count("\n") == 1 and "two\\nlines\\x1b\\x07.h5:/data" in done.stderr, done.stderr
        strange = os.fsdecode("täglich 日 \udcff.h5".encode("utf-8", "surrogateescape"))
        os.rename(folder / name, folder / strange)
        done = self.filter(folder / strange, "-o", folder / f"out {strange}", *TAPS, "--report", "-", errors="surrogateescape")
        assert '"ending": "done"' in done.stdout and (folder / f"out {strange}").exists()

    def test_levels_of_messages(self):
        folder = self.place()
        for number, level in enumerate(("warning", "info")):
            done = self.filter(self.signal, "-o", folder / f"{number}.h5", *TAPS, "--log-level", level)
            told = done.stderr.splitlines()
            assert len(told) == 2 * number and all(line.startswith("convoy: info: ") for line in told), done.stderr
        assert "memory host" in told[0] and "filter by the strategy direct" in told[1], told
        told = self.filter(self.signal, "-o", folder / "d.h5", *TAPS, "--log-level", "debug").stderr.splitlines()
        assert len(told) == 5 and all(line.startswith("convoy: debug: ") for line in told[2:]), told
        assert "chunks" in told[2] and "reading" in told[3] and "filter" in told[4], told

    def test_counts_are_whole(self):
        folder = self.place()
        done = self.filter(self.wav, "-o", folder / "o.h5", "--taps", self.taps, "--end", "100000n")
        assert "sample 100000," in done.stderr, done.stderr
        self.refuse("filter", self.wav, "-o", folder / "p.h5", "--lowpass", "10", "--numtaps", "9999", "--mode", "valid", status=2,
                    said=["tone.wav", "9999", "2000"])

    def test_pipes(self):
        """Inputs are files; taps and lists may come by a pipe, once for all files of a batch."""
        folder = self.place()
        fifo = folder / "pipe"
        os.mkfifo(fifo)
        self.refuse("filter", fifo, "-o", folder / "o.h5", *TAPS, status=1, said=["is a pipe", "to a file first"])
        self.refuse("filter", "-", "-o", folder / "o.h5", *TAPS, status=2, said=["standard input", "to a file first"])
        self.refuse("filter", "/dev/zero", "-o", folder / "o.h5", *TAPS, status=1, said=["is a device"])
        self.filter(self.wav, "-o", folder / "o.h5", "--taps", self.taps)
        expected = read(folder / "o.h5", "audio").tobytes()
        npy = self.folder / "taps.npy"
        np.save(npy, [0.25, 0.5, 0.25])
        (self.folder / "again.wav").write_bytes(self.wav.read_bytes())
        for number, source in enumerate((self.taps, npy)):
            out = folder / str(number)
            command = ["/bin/bash", "-c", 'cat "$0" | "$@"', source, self.convoy, "filter", self.wav, self.folder / "again.wav",
                       "-o", out, "--taps", "-"]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            assert [read(p, "audio").tobytes() for p in out.iterdir()] == [expected] * 2
        command = ["/bin/bash", "-c", '"$0" filter "$1" -o "$2" --taps <(cat "$3")', self.convoy, self.wav, folder / "p.h5", self.taps]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and read(folder / "p.h5", "audio").tobytes() == expected, done.stderr
        command = ["/bin/bash", "-c", '"$0" filter "$1" -o "$2" --taps <(cat "$1")', self.convoy, self.wav, folder / "q.h5"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "to a file first" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        self.refuse("filter", self.wav, "-o", folder / "q.h5", "--taps", self.folder, status=1, said=["is a folder"])

    def test_closed_descriptors(self):
        """What the shell closed is not taken for the first file that is opened."""
        folder = self.place()
        base = f'"{self.convoy}" filter "{self.wav}" -o "{folder}/o.h5"'
        for words, said in (("--taps - <&-", "standard input"), (f'--taps "{self.taps}" --report - >&-', "standard output")):
            done = subprocess.run(["/bin/bash", "-c", f"{base} {words}"], capture_output=True, text=True, timeout=60)
            assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1, done
        assert read(folder / "o.h5", "audio").shape == (2000, 2)    # the report came after it
        done = subprocess.run(["/bin/bash", "-c", f'{base} --taps "{self.taps}" --overwrite 2>&- <&-'], timeout=60)
        assert done.returncode == 0 and read(folder / "o.h5", "audio").shape == (2000, 2)

    def test_signals_while_waiting(self):
        """Taps and lists that do not come do not hold the program."""
        folder = self.place()
        fifo = folder / "pipe"
        os.mkfifo(fifo)
        out = ["-o", folder / "o.h5"]
        for words in (["filter", self.wav, *out, "--taps", fifo], ["filter", self.wav, *out, "--taps", "-"],
                      ["filter", "--files-from", "-", *out, "--taps", self.taps], ["design", "--rate", "1", "--taps", "-"]):
            for number in (signal.SIGTERM, signal.SIGINT):
                process = subprocess.Popen([str(self.convoy), *map(str, words)], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True)
                time.sleep(0.15)
                process.send_signal(number)
                _, said = process.communicate(timeout=5)
                assert process.returncode == 128 + number and said.count("\n") == 1 and "signal" in said, (words, said)

    def test_nan_in_integers(self):
        """int16 has no NaN: in HDF5 one value stands for it, and is read again as NaN; it is not counted as clipped."""
        folder, source = self.place(), self.folder / "spoiled.h5"
        samples = self.noise.standard_normal((2000, 2), dtype="f4")
        samples[100, 0], samples[500, 1] = np.nan, np.inf
        write_signal(source, samples)
        done = self.filter(source, "-o", folder / "o.h5", "--taps", self.taps, "--output-dtype", "int16")
        expected = np.stack([np.convolve(samples[:, c], [0.25, 0.5, 0.25], "same") for c in (0, 1)], 1)
        with h5py.File(folder / "o.h5") as file:
            stored, about = file["data"][...], dict(file["data"].attrs)
        assert about["_FillValue"] == -32768 and about["_FillValue"].dtype == "i2" and stored.dtype == "i2"
        assert np.array_equal(stored == -32768, np.isnan(expected)), "NaN is not marked"
        finite = np.isfinite(expected)
        assert np.max(np.abs(stored[finite] * about["scale_factor"] - expected[finite])) <= 0.51 * about["scale_factor"]
        assert np.all(stored[np.isinf(expected)] == 32767)
        assert "3 samples were beyond" in done.stderr and "_FillValue" in done.stderr, done.stderr
        done = self.filter(folder / "o.h5", "-o", folder / "again.h5", "--taps", self.taps)
        again = read(folder / "again.h5")
        assert np.array_equal(np.isnan(again[:, 0]), np.isnan(np.convolve(expected[:, 0], [1, 1, 1], "same"))) and "3 NaN" in done.stderr
        raw = self.filter(folder / "o.h5", "-o", folder / "raw.h5", "--taps", self.taps, "--raw")
        assert not raw.stderr and read(folder / "raw.h5").min() < -8000
        done = self.filter(source, "-o", folder / "o.wav", "--taps", self.taps, "--bits", "16")
        assert "3 samples are NaN" in done.stderr and "written as 0" in done.stderr
        clean = self.filter(self.signal, "-o", folder / "clean.h5", *TAPS, "--output-dtype", "int16")
        with h5py.File(folder / "clean.h5") as file:
            assert "_FillValue" not in file["data"].attrs and np.abs(file["data"][...].astype("i4")).max() == 32767
        assert not clean.stderr

    def test_the_order_of_words(self):
        """Inputs may stand anywhere: options take one word each, and `--db` none that is no number."""
        folder, taps = self.place(), ["--taps", self.taps]
        self.filter(self.wav, "-o", folder / "1.h5", *taps)
        expected = read(folder / "1.h5", "audio").tobytes()
        self.filter(*taps, self.wav, "-o", folder / "2.h5")
        self.filter("-o", folder / "3.h5", "--threads", "1", self.wav, *taps)
        self.filter(*taps, "-o", folder / "many", self.wav, self.signal)
        (folder / "-dash.wav").write_bytes(self.wav.read_bytes())
        self.filter(*taps, "-o", "4.h5", "--", "-dash.wav", cwd=folder)
        for name in ("2.h5", "3.h5", "4.h5", "many/tone.h5"):
            assert read(folder / name, "audio").tobytes() == expected, name
        assert len(list((folder / "many").iterdir())) == 2
        for number, words in enumerate((["--db", self.wav], [self.wav, "--db"], [self.wav, "--db", "1"])):
            self.run("spectrogram", *words, "-o", folder / f"s{number}.h5", "--nfft", "64")
        assert len({read(folder / f"s{n}.h5", "spectrogram").tobytes() for n in range(3)}) == 1

    def test_reports_replace_nothing(self):
        folder = self.place()
        source = folder / "in.h5"
        source.write_bytes(self.signal.read_bytes())
        before = source.read_bytes()
        for option in ("--report", "--failed-to"):
            for name, said in (("in.h5", "an input"), ("o.h5", "a result")):
                self.refuse("filter", source, "-o", folder / "o.h5", *TAPS, option, folder / "." / name, status=2,
                            said=[option, said], folder=folder, left=["in.h5"])
        assert source.read_bytes() == before
        self.refuse("filter", source, "-o", folder / "o.h5", *TAPS, "--jobs", "0", status=2, said=["--jobs"], folder=folder,
                    left=["in.h5"])

    def test_side_files_are_checked_before_the_work(self):
        folder = self.place()
        (folder / "closed").mkdir()
        for option in ("--report", "--failed-to"):
            for name, said in (("no/r.json", "is not there"), ("closed", "is a folder")):
                self.refuse("filter", self.wav, "-o", folder / "o.h5", *TAPS, option, folder / name, status=1,
                            said=[name, said], folder=folder, left=["closed"])
        here = folder / "here.wav"
        here.write_bytes(self.wav.read_bytes())
        for words, options in ((["inspect", here], ["--report"]), (["compare", here, "-o", "null", *TAPS], ["--report", "--html"])):
            for option in options:
                self.refuse(*words, option, here, status=2, said=[here.name, "would replace an input"])
        assert here.read_bytes() == self.wav.read_bytes()
        # A folder that is made for the results holds a report too.
        self.filter(self.wav, self.signal, "-o", folder / "new" / "of" / "", *TAPS, "--report", folder / "new" / "r.json")
        assert len(json.loads((folder / "new" / "r.json").read_text())["files"]) == 2
        for words in (["devices"], ["inspect", self.wav], ["bench", "stft", "--nfft", "64", "--samples", "1000"],
                      ["compare", self.wav, "-o", "null", *TAPS, "--repeat", "1", "--warmup", "0", "--modes", "host"],
                      ["design", "--rate", "1000", *TAPS]):
            self.refuse(*words, "--report", folder / "no" / "r.json", status=1, said=["no/r.json"])
            self.run(*words, "--report", folder / "r.json")
            told = json.loads((folder / "r.json").read_text())
            assert told["schema"].startswith("convoy." + words[0]), told
            assert all(told.get(part, [0]) for part in ("files", "rows")), told

    def test_designs_replace_nothing_unasked(self):
        folder = self.place()
        design = ["design", "--rate", "1000", *TAPS]
        for option, name in (("-o", "taps.txt"), ("--png", "response.png")):
            self.run(*design, option, folder / name)
            before = (folder / name).read_bytes()
            self.refuse(*design, "--window", "hann", option, folder / name, status=1, said=[name, "exists", "--overwrite"])
            assert (folder / name).read_bytes() == before
            self.run(*design, "--window", "hann", option, folder / name, "--overwrite")
            assert (folder / name).read_bytes() != before
        self.refuse(*design, "-o", folder / "no" / "taps.txt", status=1, said=["no/taps.txt"])
        for name in ("taps.h5", "taps.wav", "taps.mat", "taps.json"):
            self.refuse(*design, "-o", folder / name, status=2, said=[name, ".npy", "text"])
        self.run(*design, "-o", "/dev/null")

    def test_lengths_that_filters_cannot_have(self):
        """A length that becomes another one is told, once a run; taps are never NaN."""
        folder = self.place()
        for band in (["--highpass", "50"], ["--bandstop", "50,90"]):
            done = self.run("design", "--rate", "1000", *band, "--numtaps", "32", "-o", folder / "taps.npy", "--overwrite")
            assert len(np.load(folder / "taps.npy")) == 33 and "--numtaps 32 became 33" in done.stderr, done.stderr
        other = self.folder / "another.wav"
        other.write_bytes(self.wav.read_bytes())
        done = self.filter(self.wav, other, "-o", folder / "out", "--highpass", "50", "--numtaps", "32")
        assert done.stderr.count("became 33") == 1, done.stderr
        done = self.run("design", "--rate", "1000", "--lowpass", "50", "--numtaps", "32")
        assert not done.stderr, done.stderr
        self.refuse("design", "--rate", "1000", "--lowpass", "50", "--numtaps", "2", "--window", "hann", status=2,
                    said=["hann", "--numtaps"])

    def test_results_beyond_their_type(self):
        """Powers of small and large samples are not what float32 holds: that is told, and decibels of them are right."""
        folder, noise = self.place(), self.noise.standard_normal(4000)
        for size, said in ((1e-21, "loses its digits"), (1e-30, "the largest value of the result is"), (1e25, "beyond the range"),
                           (1, "")):
            with h5py.File(folder / "x.h5", "w") as file:
                file["x"] = (noise * size).astype("f4")
                file["x"].attrs["sampling_rate"] = 1000.0
            spectrum = ["spectrogram", folder / "x.h5", "-o", folder / "y.h5", "--nfft", "256", "--overwrite"]
            done = self.run(*spectrum)
            assert said in done.stderr and bool(said) == bool(done.stderr), done.stderr
            assert not self.run(*spectrum, "--dtype", "float64").stderr
            exact = read(folder / "y.h5", "spectrogram").astype("f8")
            done = self.run(*spectrum, "--dtype", "float64", "--output-dtype", "float32")
            assert said in done.stderr and bool(said) == bool(done.stderr), done.stderr
            assert not self.run(*spectrum, "--db").stderr
            assert np.abs(read(folder / "y.h5", "spectrogram") - 10 * np.log10(exact)).max() < 0.01
            assert not self.run(*spectrum, "--scaling", "magnitude").stderr
            for more in (["--average", "1s"], ["--frequency-scale", "decidecade"]):
                done = self.run(*spectrum, "--db", *more)
                assert bool(said) == ("of powers" in done.stderr) == bool(done.stderr), done.stderr
        with h5py.File(folder / "x.h5", "w") as file:
            file["x"] = np.zeros(4000, "f4")
            file["x"].attrs["sampling_rate"] = 1000.0
        for more in ([], ["--db"]):
            assert not self.run(*spectrum, *more).stderr, "silence is no fault"

    def test_dates_of_one_dataset_of_several(self):
        folder = self.place()
        with h5py.File(folder / "two.h5", "w") as file:
            for name, start in (("a", "2024-05-06T07:08:09"), ("b", "2025-06-07T08:09:10")):
                file[name] = self.noise.standard_normal(2000, dtype="f4")
                file[name].attrs["sampling_rate"] = 1000.0
                file[name].attrs["start_time"] = start
        self.filter(folder / "two.h5", "--dataset", "/b", "-o", folder / "{stem}_{date}.h5", *TAPS)
        assert (folder / "two_2025-06-07.h5").exists(), os.listdir(folder)

    def test_benchmarks_take_their_own_options(self):
        folder = self.place()
        for words, said in ((["ceilings", "--taps", "3"], ["--taps", "ceilings", "fir"]), (["fir", "stft"], ["one benchmark"]),
                            (["fir", "--shape", "1,1,8,8,1,3,3"], ["--shape", "conv2d"]),
                            (["stft", "--samples", "1000,2000"], ["--samples", "one number"]),
                            (["fir", "--taps", "1e11"], ["--taps", "from 1 to"]),
                            (["fir", "--png", folder / "b.jpg"], ["b.jpg", ".png"]),
                            (["fir", "--strategy", "foo"], ["foo", "direct"]),
                            (["conv2d", "--device", "cpu", "--precision", "tf32"], ["tf32", "GPU"])):
            self.refuse("bench", *words, status=2, said=said)
        done = self.run("bench", "fir", "--taps", 25, "--samples", 1000, "--repeat", 1, "--png", folder / "b.png", "--csv")
        assert done.returncode == 0 and done.stdout.startswith("strategy,taps,") and (folder / "b.png").exists(), done

    def test_values_that_make_no_sense(self):
        folder = self.place()
        wav = [self.wav, "-o", folder / "o.h5"]
        taps = ["--taps", self.taps]
        for words, said in (([*taps, "--channels", ""], "--channels"), ([*taps, "--gap-tolerance", "-1"], "--gap-tolerance"),
                            (["--decimate", "1000000000"], "--decimate"), ([*taps, "--format", "xyz"], "--format xyz")):
            self.refuse("filter", *wav, *words, status=2, said=[said], folder=folder)

    def test_channels_in_names(self):
        folder, taps = self.place(), ["--taps", self.taps]
        self.refuse("filter", self.wav, self.wav, "-o", folder / "{stem}_{channel}.h5", *taps, "--join", status=2,
                    said=["{channel}", "--join"], folder=folder)
        self.filter(self.wav, "-o", folder / "{stem}_{channel}.h5", *taps, "--channels", "1,0")
        assert sorted(p.name for p in folder.iterdir()) == ["tone_0.h5", "tone_1.h5"]

    def test_texts_of_taps(self):
        folder, path = self.place(), self.folder / "strange.txt"
        def taps(contents):
            path.write_bytes(contents)
            self.filter(self.wav, "-o", folder / "o.h5", "--taps", path, "--overwrite")
            with h5py.File(folder / "o.h5") as file:
                return list(file["convoy/taps"])
        assert taps(b"\xef\xbb\xbf0.5\r\n0.25\r\n") == [0.5, 0.25]
        assert taps(b"1e-400 1\n-1e-320\n") == [0, 1, -1e-320]
        assert taps(b"1,1\n0.5,-2  # two\n") == [1, 1, 0.5, -2]
        assert taps(b"0, 25") == [0, 25]
        for contents, said in ((b"0,25\n0,5\n", "decimal comma"), (b"1e400\n", "not finite"), (b"x" * 5000, "'" + "x" * 40 + "'")):
            path.write_bytes(contents)
            self.refuse("filter", self.wav, "-o", folder / "p.h5", "--taps", path, status=1, said=["strange.txt", said])

    def test_inspect_lists_what_is_there(self):
        folder = self.place()
        with h5py.File(folder / "many.h5", "w") as file:
            for number in range(3):
                file[f"g{number}/x"] = np.zeros(100 + number)
        for name, held in (("flags.h5", np.ones(9, bool)), ("words.h5", np.array([b"a", b"b"])), ("one.h5", 3.0)):
            with h5py.File(folder / name, "w") as file:
                file["data"] = held
        told = json.loads(self.run("inspect", folder / "many.h5", "--json").stdout)["files"]
        assert [(t["dataset"], t["shape"]) for t in told] == [("/g0/x", [100]), ("/g1/x", [101]), ("/g2/x", [102])]
        told = json.loads(self.run("inspect", folder / "m*.h5", self.wav, "--json").stdout)["files"]
        assert len(told) == 4
        with h5py.File(folder / "many.h5", "a") as file:
            for number in (0, 2):
                file[f"g{number}/x"].attrs["scale_factor"] = [1.0, 2.0, 3.0]
        done = self.run("inspect", folder / "many.h5", "--json", status=1)
        assert [t["dataset"] for t in json.loads(done.stdout)["files"]] == ["/g1/x"]
        assert done.stderr.count("convoy: error: ") == 1 and done.stderr.count("convoy: warning: ") == 1, done.stderr
        for name, said in (("flags.h5", "boolean"), ("words.h5", "text"), ("one.h5", "single value")):
            self.refuse("inspect", folder / name, status=1, said=[name, said])

    def test_few_descriptors_and_small_limits(self):
        folder = self.place()
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
        done = subprocess.run([str(self.convoy), "filter", str(self.signal), "-o", str(folder / "o.h5"), *TAPS], capture_output=True,
                              text=True, timeout=60, preexec_fn=limit)
        assert done.returncode in (0, 1) and done.stderr.count("\n") == done.returncode, done


if __name__ == "__main__":
    sys.exit(main(Options, "options-"))
