#!/usr/bin/env python3
"""Parts of recordings keep their place in time: cut, read again, cut once more, made images of, split at gaps and joined.

    parts_test.py CONVOY [--only TEXT]
"""
import json
import sys

import h5py
import numpy as np

from cli_test import TAPS, Test, main, read, write_signal


def times(path, name="data"):
    with h5py.File(path) as file:
        axis = [d.label for d in file[name].dims].index("time")
        return file[name].dims[axis][0][...]


class Parts(Test):
    def start(self, path):
        told = json.loads(self.run("inspect", path, "--json").stdout)["files"][0]
        return told["start_time"], told["time_first"]

    def recording(self):
        path = self.folder / "recording.h5"
        if not path.exists():
            write_signal(path, self.noise.standard_normal((20_000, 2), dtype="f4"))
            with h5py.File(path, "a") as file:
                file["data"].attrs["start_time"] = "2020-06-15T12:00:00Z"
        return path

    def test_a_part_is_read_again(self):
        folder, source = self.place(), self.recording()
        part, again, image, full = (folder / f"{name}.h5" for name in ("part", "again", "image", "full"))
        self.filter(source, "-o", part, *TAPS, "--start", "5s", "--duration", "2s")
        assert self.start(part) == ("2020-06-15T12:00:05Z", 5)
        self.filter(part, "-o", again, *TAPS, "--start", "2020-06-15T12:00:06Z", "--end", "2020-06-15T12:00:06.5Z")
        assert np.allclose(times(again), 6 + np.arange(500) / 1000) and self.start(again) == ("2020-06-15T12:00:06Z", 6)
        whole = folder / "whole.h5"
        self.filter(part, "-o", whole, *TAPS)
        assert read(again).tobytes() == read(whole)[1000:1500].tobytes()
        self.filter(part, "-o", full, *TAPS, "--mode", "full")
        assert np.allclose(times(full), 5 + (np.arange(2030) - 15) / 1000)
        self.run("spectrogram", part, "-o", image, "--nfft", "64", "--hop", "16")
        assert np.allclose(times(image, "spectrogram"), 5.032 + 0.016 * np.arange(122))
        with h5py.File(image) as file:
            assert file["spectrogram"].attrs["start_time"] == "2020-06-15T12:00:00Z"
        edges = folder / "edges.h5"
        self.run("conv2d", image, "-o", edges, "--kernel", "sobel-x", "--padding", "valid")
        assert np.allclose(times(edges, "conv2d"), 5.048 + 0.016 * np.arange(120))

    def test_parts_are_joined(self):
        """Parts of one recording, joined and cut again at the inputs, each on its own scale."""
        folder, source = self.place(), self.recording()
        for number, (first, last) in enumerate(((3, 5), (5, 9))):
            self.filter(source, "-o", folder / f"{number}.h5", "--taps", self.impulse(), "--start", f"{first}s", "--end", f"{last}s")
        done = self.filter(folder / "0.h5", folder / "1.h5", "-o", folder / "out", *TAPS, "--join", "--split", "input")
        assert not done.stderr, done.stderr
        assert np.allclose(times(folder / "out" / "0.h5"), 3 + np.arange(2000) / 1000)
        assert np.allclose(times(folder / "out" / "1.h5"), 5 + np.arange(4000) / 1000)
        assert self.start(folder / "out" / "1.h5") == ("2020-06-15T12:00:05Z", 5)

    def impulse(self):
        path = self.folder / "impulse.txt"
        path.write_text("1\n")
        return path

    def test_pieces_between_gaps(self):
        """Each sample keeps the time that its stamp gives it, whatever the piece became."""
        folder = self.place()
        stamps = 3 + np.arange(3000) / 500
        stamps[1000:] += 2
        stamps[2000:] += 0.5
        for number, (attached, axis) in enumerate(((True, 0), (False, 0), (True, 1))):
            source = folder / f"{number}.h5"
            samples = self.noise.standard_normal((3000, 2), dtype="f4")
            write_signal(source, samples if axis == 0 else samples.T, axis, 500.0)
            with h5py.File(source, "a") as file:
                file["t" if attached else "timestamps"] = stamps
                if attached:
                    file["t"].attrs["units"] = "s"
                    file["t"].make_scale("time")
                    file["data"].dims[axis].attach_scale(file["t"])
            pieces = np.split(stamps, [1000, 2000])
            for words, expected in (([], pieces), (["--mode", "valid"], [p[15:-15] for p in pieces]),
                                    (["--decimate", "4"], [p[::4] for p in pieces]),
                                    (["--start", "1s", "--end", "3500n"], [stamps[500:1000], *pieces[1:]])):
                self.filter(source, "-o", folder / "o.h5", "--overwrite", "--lowpass", "50", "--numtaps", "31", *words,
                            "--gaps", "split")
                assert np.allclose(times(folder / "o.h5"), np.concatenate(expected), atol=1e-9), (number, words)
            done = self.run("filter", source, "-o", folder / f"{number}.wav", "--lowpass", "50", "--numtaps", "31", "--gaps", "split")
            assert "convoy: warning: " in done.stderr and "2 gaps" in done.stderr, done.stderr
            self.run("spectrogram", source, "-o", folder / "o.h5", "--overwrite", "--nfft", "64", "--hop", "32", "--gaps", "split")
            expected = np.concatenate([p[0] + (32 + 32 * np.arange(30)) / 500 for p in pieces])
            assert np.allclose(times(folder / "o.h5", "spectrogram"), expected, atol=1e-9), number

    def test_a_filtered_image_has_the_rate_of_its_columns(self):
        folder, source = self.place(), self.recording()
        self.run("spectrogram", source, "-o", folder / "image.h5", "--nfft", "64", "--hop", "16")
        told = json.loads(self.run("inspect", folder / "image.h5", "--json").stdout)["files"][0]
        assert told["sampling_rate"] == 62.5 and abs(told["duration"] - 1247 / 62.5) < 1e-9
        self.filter(folder / "image.h5", "-o", folder / "smooth.h5", "--lowpass", "5", "--numtaps", "31")
        self.refuse("filter", folder / "image.h5", "-o", folder / "o.h5", "--lowpass", "40", status=2, said=["31.25"])


if __name__ == "__main__":
    sys.exit(main(Parts, "parts-"))
