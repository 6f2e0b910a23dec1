#!/usr/bin/env python3
"""Compare the samples of two outputs, WAV or HDF5 (the largest dataset), block by block.

    check_equal.py EXPECTED GOT [--tolerance REL] [--any-gain yes]

The largest difference may be REL (default 2e-6) of the largest expected value. --any-gain takes out a constant factor
first: FFmpeg's afir changes it from version to version.
"""
import sys
from pathlib import Path

import h5py
import numpy as np
from scipy.io import wavfile

BLOCK = 1 << 22


def samples(path):
    if path.endswith(".wav"):
        return wavfile.read(path, mmap=True)[1]
    file, found = h5py.File(path, "r"), []
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return max(found, key=lambda dataset: dataset.size)


def blocks(data):
    """Pieces of about BLOCK values, by the leading axes."""
    if data.ndim > 2 or (data.ndim == 2 and data.shape[0] < 1024):
        for row in range(data.shape[0]):
            for start in range(0, data.shape[1], max(1, BLOCK // max(1, int(np.prod(data.shape[2:]))))):
                yield row, slice(start, start + max(1, BLOCK // max(1, int(np.prod(data.shape[2:])))))
    else:
        step = max(1, BLOCK // max(1, int(np.prod(data.shape[1:]))))
        for start in range(0, data.shape[0], step):
            yield slice(start, start + step)


def main(expected_path, got_path, *words):
    options = dict(zip(words[::2], words[1::2]))
    expected, got = samples(expected_path), samples(got_path)
    if expected.shape != got.shape:
        sys.exit(f"shapes differ: {expected.shape} in {expected_path}, {got.shape} in {got_path}")
    gain, peak, worst = 1.0, 0.0, 0.0
    for number, where in enumerate(blocks(expected)):
        a, b = np.asarray(expected[where], "f8"), np.asarray(got[where], "f8")
        if number == 0 and "--any-gain" in options:
            gain = np.vdot(b, a) / np.vdot(b, b)
        peak, worst = max(peak, np.abs(a).max()), max(worst, np.abs(a - gain * b).max())
    tolerance = float(options.get("--tolerance", 2e-6))
    print(f"{Path(got_path).name} beside {Path(expected_path).name}: largest difference {worst / peak:.1e} of the peak"
          + (f", gain {gain:.3f}" if gain != 1 else ""))
    return 0 if worst <= tolerance * peak else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
