#!/usr/bin/env python3
"""`convoy run --emit-scipy` and `--check-scipy`: every step beside SciPy, and the scripts on whole files.

    scipy_test.py CONVOY
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.io.wavfile

CHAINS = {
    "wave.wav": [
        "[{filter: {bandpass: [300, 3000], transition: 200}}, {decimate: 4}]",
        "[{filter: {lowpass: 900, numtaps: 64, mode: full, padding: reflect}}]",
        "[{filter: {highpass: 900, numtaps: 65, mode: valid, window: hamming}}]",
        "[{filter: {bandstop: [900, 1200], numtaps: 101, zero_phase: true}}, {keep_every: 3}]",
        "[{filter: {lowpass: 500, numtaps: 51, zero_phase: true, padding: edge, decimate: 2}}]",
        "[{filter: {taps: taps.txt, padding: odd}}, {gain: -6}]",
        "[{filter: {taps: taps.npy}}, {gain: {factor: 2.5}}]",
        "[{filter: {taps: 'taps.h5:/taps'}}]",
        "[{filter: {decimate: 5}}, {filter: {decimate: 2, no_antialias: true}}]",
        "[{resample: 3000}, {resample: {up: 2, down: 5, window: hann, padding: edge}}]",
        "[{resample: {up: 3, down: 2, padding: odd}}, {resample: {up: 1, down: 2, padding: reflect}}]",
        "[{detrend: linear}, {normalize: {to: rms, level: 0.1}}]",
        "[{detrend: constant}, {normalize: {to: peak, db: -1, together: true}}]",
        "[{envelope: {numtaps: 101, padding: reflect}}, {save: between.h5}, {mix: {matrix: [[0.5, 0.5], [1, -1]]}}]",
        "[{select: {channels: '1,0', start: 0.5, duration: 1s}}, {mix: mean}]",
        "[{spectrogram: {nfft: 256, hop: 100, db: true}}]",
        "[{spectrogram: {nfft: 300, hop: 77, window_length: 200, window: 'kaiser,6', scaling: spectrum, detrend: constant}}]",
        "[{spectrogram: {nfft: 255, center: true, padding: reflect, scaling: magnitude, db: 0.1, db_floor: -90}}]",
        "[{spectrogram: {nfft: 256, window_length: 100, center: true, scaling: complex}}]",
        "[{spectrogram: {nfft: 128, scaling: power, fmin: 500, fmax: 2000, calibration: 120}}]",
        "[{spectrogram: {nfft: 240, hop: 120, scaling: complex}}]",
        "[{spectrogram: {nfft: 240, hop: 120, fmax: 3300}}]",
        "[{select: {start: 0.5}}]",
        "[{spectrogram: {nfft: 128}}, {conv2d: {kernel: sobel-x}}]",
        "[{spectrogram: {nfft: 128}}, {conv2d: {kernel: edges.npy, correlate: true, padding: full}}]",
        "[{spectrogram: {nfft: 64}}, {conv2d: {kernel: filters.npy, stride: [2, 3], dilation: [1, 2], padding: 5, relu: true, bias: bias.txt}}]",
    ],
    "planes.h5:/x": [
        "[{filter: {lowpass: 100, numtaps: 31, padding: reflect}}, {select: {channels: '5,1-3'}}, {decimate: 2}]",
        "[{mix: mean}, {spectrogram: {nfft: 64, hop: 16}}]",
    ],
    "planes.h5:/z": ["[{filter: {lowpass: 100, numtaps: 31}}]", "[{spectrogram: {nfft: 64, fmin: -200, fmax: 100}}]",
                     "[{normalize: {to: peak, together: true}}]"],
    "planes.h5:/counts": ["[{filter: {lowpass: 100, numtaps: 31}}, {detrend: linear}]"],
    "planes.h5:/image": ["[{conv2d: {kernel: grouped.npy, groups: 2, padding: valid}}]"],
}


def make(folder):
    random = np.random.default_rng(8)
    noise = random.standard_normal
    scipy.io.wavfile.write(folder / "wave.wav", 8000, (noise((24000, 2)) * 5000).astype("i2"))
    np.savetxt(folder / "taps.txt", noise(17), header="taps")
    np.save(folder / "taps.npy", noise(18))
    np.save(folder / "edges.npy", noise((4, 3)))
    np.save(folder / "filters.npy", noise((3, 2, 3, 3)))
    np.save(folder / "grouped.npy", noise((4, 2, 3, 2)))
    np.savetxt(folder / "bias.txt", noise(3))
    with h5py.File(folder / "taps.h5", "w") as f:
        f["taps"] = noise(9)
    with h5py.File(folder / "planes.h5", "w") as f:
        f["x"] = noise((8, 6000))
        f["z"] = (noise(6000) + 1j * noise(6000)).astype("c8")
        f["counts"] = random.integers(-9, 9, (5000, 3)).astype("i2")
        f["counts"].attrs["scale_factor"] = 0.25
        f["counts"].attrs["add_offset"] = 3.0
        f["image"] = noise((2, 4, 20, 50)).astype("f4")
        for name in ("x", "z", "counts"):
            f[name].attrs["sampling_rate"] = 500.0


def run(convoy, folder, *words, **more):
    return subprocess.run([convoy, "run", *words], cwd=folder, capture_output=True, text=True, **more)


def pipeline(folder, source, steps):
    (folder / "p.yaml").write_text(f"inputs: '{source}'\noutput: out.h5\nsteps: {steps}\n")


def check_all(convoy, folder):
    worst = 0
    for source, chains in CHAINS.items():
        for steps in chains:
            pipeline(folder, source, steps)
            done = run(convoy, folder, "p.yaml", "--check-scipy")
            assert done.returncode == 0, (source, steps, done.stdout, done.stderr)
            relative = float(re.search(r": (\S+) of it", done.stdout)[1])
            assert relative < 3e-6, (source, steps, done.stdout)
            worst = max(worst, relative)
            assert not list(folder.glob("out*")) and not list(folder.glob("between*")), "the check wrote an output"
    return worst


def check_script(convoy, folder):
    """A script by itself, on whole files, with channels picked and a part of the time."""
    for source, steps, more in (
            ("wave.wav", CHAINS["wave.wav"][0], ["--start", "0.5", "--end", "1.25", "--channels", "1"]),
            ("planes.h5:/counts", CHAINS["planes.h5:/counts"][0], ["--channels", "2,0"]),
            ("planes.h5:/z", CHAINS["planes.h5:/z"][0], [])):
        pipeline(folder, source, steps)
        assert run(convoy, folder, "p.yaml", "--emit-scipy", "p.py", *more).returncode == 0
        subprocess.run([sys.executable, "p.py"], cwd=folder, check=True, capture_output=True)
        assert run(convoy, folder, "p.yaml", *more).returncode == 0
        theirs = np.load(folder / (source.split(".")[0] + ".npy"))
        with h5py.File(folder / "out.h5") as f:
            ours = f["audio" if source.endswith("wav") else source.split(":/")[1]][...]
        assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
        assert np.max(np.abs(ours - theirs)) < 3e-6 * np.max(np.abs(theirs)), source
        (folder / "out.h5").unlink()


def check_refusals(convoy, folder):
    pipeline(folder, "wave.wav", "[{gain: -6}, {spectrogram: {nfft: 128, frequency_scale: mel, bins: 20}}]")
    done = run(convoy, folder, "p.yaml", "--emit-scipy", "-", "--check-scipy")
    assert done.returncode == 0 and "mel" in done.stderr and "p.yaml:3" in done.stderr, done.stderr
    assert "# spectrogram" in done.stdout and "largest difference" in done.stdout
    pipeline(folder, "wave.wav", "[{spectrogram: {nfft: 128, average: 1s}}]")
    done = run(convoy, folder, "p.yaml", "--check-scipy")
    assert done.returncode == 1 and "averages" in done.stderr, done.stderr
    pipeline(folder, "wave.wav", "[{gain: -6}]")
    done = run(convoy, folder, "p.yaml", "--check-scipy", env={**os.environ, "PYTHON": "/no/such/python"})
    assert done.returncode == 1 and "python3-scipy" in done.stderr and "/no/such/python" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    # A Python whose SciPy answers otherwise is found out: the second result is halved on its way.
    (folder / "bent.sh").write_text(
        f"#!/bin/sh\n[ $# -gt 2 ] || exec {sys.executable} \"$@\"\nsed -i 's/    return x, rate/    return x * 1.001, rate/' \"$3\"\n"
        f"exec {sys.executable} \"$@\"\n")
    (folder / "bent.sh").chmod(0o755)
    done = run(convoy, folder, "p.yaml", "--check-scipy", env={**os.environ, "PYTHON": str(folder / "bent.sh")})
    assert done.returncode == 1 and "more than rounding" in done.stdout, (done.stdout, done.stderr)


def main(convoy):
    with tempfile.TemporaryDirectory(prefix="scipy-") as temporary:
        folder = Path(temporary)
        make(folder)
        worst = check_all(convoy, folder)
        check_script(convoy, folder)
        check_refusals(convoy, folder)
    print(f"{sum(map(len, CHAINS.values()))} pipelines as SciPy has them, at most {worst:.1e} of the largest value apart")


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
