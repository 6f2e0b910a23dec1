#!/usr/bin/env python3
"""What a user meets with images: bad requests of spectrogram and conv2d, layouts, long averages.

    images_test.py CONVOY [--only TEXT]
"""
import os
import resource
import sys
import time

import h5py
import numpy as np
from scipy import signal

from cli_test import Test, main, read


class Images(Test):
    def __init__(self, convoy, folder):
        super().__init__(convoy, folder)
        self.image = self.folder / "image.h5"
        self.plane = self.noise.standard_normal((3, 20, 300), dtype="f4")
        with h5py.File(self.image, "w") as file:
            file["image"] = self.plane
            file["line"] = self.plane[0, 0]

    def kernel(self, name, array):
        path = self.folder / name
        np.save(path, np.asarray(array, dtype="f8"))
        return path

    def wrong(self, *words, said, status=2):
        folder = self.place()
        self.refuse(*words, "-o", folder / "out.h5", status=status, said=said, folder=folder)

    # --- bad requests

    def test_kernels_that_do_not_go_with_the_image(self):
        image = f"{self.image}:/image"
        for rank in (1, 3, 5):
            kernel = self.kernel(f"rank{rank}.npy", np.ones((3,) * rank))
            self.wrong("conv2d", image, "--kernel", kernel, status=1, said=[kernel.name, "2 axes", f"has {rank}", "reshape"])
        kernel = self.kernel("four.npy", np.ones((4, 1, 3, 3)))
        self.wrong("conv2d", image, "--kernel", kernel, "--groups", 2, said=["image.h5", "2 groups do not divide", "3 channels"])
        self.wrong("conv2d", image, "--kernel", kernel, "--groups", 3, said=["3 groups do not divide", "4 filters"])
        self.wrong("conv2d", image, "--kernel", kernel, said=["kernel has 1 channels", "3"])
        large = self.kernel("large.npy", np.ones((21, 3)))
        self.wrong("conv2d", image, "--kernel", large, "--padding", "valid", said=["output would be empty", "21 x 3", "20 x 300"])
        self.wrong("conv2d", image, "--kernel", "box:3", "--stride", 0, said=["stride"])
        self.wrong("conv2d", image, "--kernel", "box:3", "--dilation", 2**40, said=["dilation", "from 1 to"])
        self.wrong("conv2d", image, "--kernel", self.kernel("nan.npy", [[1, np.nan]]), status=1,
                   said=["nan.npy", "not finite"])
        self.wrong("conv2d", image, "--kernel", "laplace:3", said=["laplace:3", "neither", "gaussian:SIGMA"])
        text = self.folder / "kernel.txt"
        text.write_text("1 2 1\n0 0 0\n")
        self.wrong("conv2d", image, "--kernel", text, status=1, said=["kernel.txt", "text", ".npy"])

    def test_kernels_of_one_column(self):
        folder = self.place()
        for shape in ((7, 1), (1, 7), (1, 1)):
            kernel = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
            with h5py.File(self.folder / "column.h5", "w") as file:
                file["k"] = kernel
            done = self.run("conv2d", f"{self.image}:/image", "-o", folder / "y.h5", "--overwrite", "--kernel",
                            f"{self.folder}/column.h5:/k")
            assert done.returncode == 0, done.stderr
            judge = np.stack([signal.convolve2d(plane.astype("f8"), kernel, "same") for plane in self.plane])
            assert np.abs(read(folder / "y.h5", "conv2d") - judge).max() < 1e-4

    def test_images_that_are_none(self):
        self.wrong("conv2d", f"{self.image}:/line", "--kernel", "box:3", said=["2 to 4 axes", "1 axis", "convoy spectrogram"])
        self.wrong("conv2d", f"{self.image}:/nothing", "--kernel", "box:3", status=1, said=["image.h5", "nothing"])
        self.wrong("conv2d", f"{self.image}:/line", "--kernel", "box:3", "--layout", "nhwc", said=["axes"])

    def test_spectrograms_that_make_no_sense(self):
        for words, said in ((["--window-length", 2048, "--nfft", 1024], ["2048", "--nfft 1024"]),
                            (["--hop", 0], ["--hop 0"]),
                            (["--nfft", 65536], ["shorter than one frame", "65536"]),
                            (["--scaling", "complex", "--db"], ["decibels of complex values"]),
                            (["--scaling", "complex", "--average", "1s"], ["averages of complex values"]),
                            (["--average", "0s"], ["average"])):
            self.wrong("spectrogram", self.signal, *words, said=said)

    # --- layouts

    def test_channels_last(self):
        kernel = self.kernel("sum.npy", self.noise.standard_normal((5, 3, 3, 4)))
        last = self.folder / "last.h5"
        with h5py.File(last, "w") as file:
            file["image"] = np.ascontiguousarray(np.moveaxis(self.plane, 0, -1))
        folder = self.place()
        self.run("conv2d", f"{self.image}:/image", "--kernel", kernel, "-o", folder / "first.h5", "--stride", "1,2")
        self.run("conv2d", f"{last}:/image", "--kernel", kernel, "-o", folder / "last.h5", "--stride", "1,2", "--layout", "nhwc",
                 "--chunk", 40)
        first, after = read(folder / "first.h5", "conv2d"), read(folder / "last.h5", "conv2d")
        assert after.shape == (20, 150, 5), after.shape
        assert np.array_equal(np.moveaxis(first, 0, -1), after)
        with h5py.File(folder / "last.h5") as file:
            assert [d.label or d.keys()[0] for d in file["conv2d"].dims][-1] == "filter"

    # --- many planes

    def test_more_planes_than_memory(self):
        """Pictures by the thousand, one that is a million rows high, and thousands of filters: the memory of a few columns."""
        folder, taps = self.place(), self.noise.standard_normal((5, 4))
        many = self.kernel("many.npy", self.noise.standard_normal((3000, 1, 3, 3)))
        with h5py.File(self.folder / "planes.h5", "w") as file:
            for name, part, times in (("pictures", (100, 96, 96), 60), ("tall", (1000, 40), 1000)):
                samples = self.noise.standard_normal(part, dtype="f4")
                data = file.create_dataset(name, (times * part[0], *part[1:]), dtype="f4")
                for i in range(times):  # not all at once: what is resident here would count below
                    data[i * part[0]:(i + 1) * part[0]] = samples
            file["one"] = self.noise.standard_normal((200, 50), dtype="f4")
        for name, kernel in (("pictures", self.kernel("taps.npy", taps)), ("tall", self.kernel("taps.npy", taps)), ("one", many)):
            words = ["conv2d", self.folder / f"planes.h5:/{name}", "-o", folder / f"{name}.h5", "--kernel", kernel, "--device", "cpu"]
            peak = self.peak(*words)
            sanitized = "ASAN_OPTIONS" in os.environ    # has a shadow of its own of what is used
            assert peak < (400 if sanitized else 200) << 10, f"{name}: {peak} KiB resident"
            assert 2 * os.path.getsize(folder / f"{name}.h5") > 200 << 20 or name == "one"
        pictures, tall, one = (read(self.folder / "planes.h5", name) for name in ("pictures", "tall", "one"))
        right = lambda got, image, kernel: np.allclose(got, signal.convolve2d(image, kernel, "same"), atol=1e-4)
        got = read(folder / "pictures.h5", "conv2d")
        assert all(right(got[i], pictures[i], taps) for i in (0, 1, 3333, 5999))
        assert right(read(folder / "tall.h5", "conv2d"), tall, taps)
        got, kernels = read(folder / "one.h5", "conv2d"), np.load(many)
        assert got.shape == (3000, 200, 50) and all(right(got[k], one, kernels[k, 0]) for k in (0, 1311, 1312, 2999))

    def test_a_plan_of_many_pictures_tries_some(self):
        path = self.folder / "album.h5"
        with h5py.File(path, "w") as file:
            data = file.create_dataset("data", (20_000, 64, 64), dtype="f4")
            for i in range(0, 20_000, 1000):
                data[i:i + 1000] = i / 20_000
        script = self.folder / "album.yaml"
        script.write_text(f"inputs: {path}\noutput: {self.folder}/album_out.h5\nsteps:\n  - conv2d: {{kernel: box:31}}\n")
        slow = ["run", script, "--set", "execution.device=cpu", "--set", "execution.strategy=reference", "--set", "execution.threads=1"]
        started = time.monotonic()
        told = self.run(*slow, "--plan").stdout
        assert time.monotonic() - started < 60, told      # the work takes minutes
        assert "passes" in told and "time" in told, told

    # --- long averages

    def test_average_over_an_hour(self):
        """An hour of eight channels: 230 MB that are not in memory at once."""
        rate, seconds = 2000, 2 * 3600
        path = self.folder / "hours.h5"
        minute = self.noise.integers(-2000, 2000, (8, rate * 60), dtype="i2")
        with h5py.File(path, "w") as file:
            data = file.create_dataset("data", (8, rate * seconds), dtype="i2")
            for i in range(seconds // 60):
                data[:, i * rate * 60:(i + 1) * rate * 60] = minute
            data.attrs["sampling_rate"] = float(rate)
            data.dims[1].label, data.dims[0].label = "time", "channel"
        folder = self.place()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        words = ["spectrogram", path, "--nfft", 1024, "--hop", 1000, "--device", "cpu"]
        self.run(*words, "--average", "1h", "-o", folder / "mean.h5")
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        assert after == before or after < 256 << 10, f"{after} KiB resident"
        mean = read(folder / "mean.h5", "spectrogram")
        assert mean.shape == (8, 513, 2), mean.shape
        _, _, each = signal.spectrogram(np.tile(minute[3].astype("f8"), 3), rate, "hann", 1024, 24, detrend=False)
        expected = each[:, :120].mean(axis=1)  # every minute is the same
        assert np.allclose(mean[3], expected[:, None], rtol=1e-3), np.abs(mean[3] / expected[:, None] - 1).max()
        self.refuse("spectrogram", path, "--hop", 16, "--average", "1h", "--average-kind", "median", "-o", folder / "median.h5", status=2,
                    said=["median", "would hold", "at most 512 MiB"], folder=folder, left=["mean.h5"])


if __name__ == "__main__":
    sys.exit(main(Images, "images-"))
