"""What the tests of pipelines share: the program run and judged, inputs, and the tests of a file one by one."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
from scipy.io import wavfile

CONVOY = ""
RATE = 8000
RNG = np.random.default_rng(6)


def convoy(*words, env=None):
    done = subprocess.run([CONVOY, *map(str, words)], capture_output=True, text=True, env={**os.environ, **(env or {})},
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def ok(*words, **more):
    status, out, err = convoy(*words, **more)
    assert status == 0, f"{words}: {status}\n{err}"
    return out


def refused(status, said, *words, **more):
    got, _, err = convoy(*words, **more)
    assert got == status, f"{words}: status {got}, not {status}\n{err}"
    for part in [said] if isinstance(said, str) else said:
        assert part in err, f"{part!r} is not said in: {err}"
    assert len([line for line in err.splitlines() if line.startswith("convoy: error")]) >= 1, err


def script(name, text):
    Path(name).write_text(text)
    return name


def wav(name, samples, rate=RATE):
    wavfile.write(name, rate, samples.astype(np.float32))
    return samples.astype(np.float32).astype(float)


def result(path, dataset="audio"):
    with h5py.File(path) as file:
        return file[dataset][()].astype(float)


def near(a, b, tolerance):
    assert a.shape == b.shape, (a.shape, b.shape)
    worst = np.abs(a - b).max() if a.size else 0
    assert worst <= tolerance, f"the largest difference is {worst}"


def steps_run(x, steps, *options):
    """The result of a list of steps (YAML, one a line) on x."""
    wav("x.wav", x)
    script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps:\n" + "".join(f"  - {s}\n" for s in steps))
    ok("run", "p.yaml", "--overwrite", *options)
    return result("y.h5")


def noise(frames=5000, channels=2):
    return (0.3 * RNG.standard_normal((frames, channels))).astype(np.float32).astype(float)


def main(module):
    """Runs the tests of a file, each in a folder of its own: FILE CONVOY [NAME OF A TEST ...]."""
    global CONVOY
    if len(sys.argv) < 2:
        sys.exit(module["__doc__"])
    CONVOY = str(Path(sys.argv[1]).resolve())
    names = sys.argv[2:]
    tests = [(n, f) for n, f in module.items() if n.startswith("test_") and (not names or n in names)]
    failures = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory(prefix="run-test-") as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok    {name}")
            except Exception as error:  # the next test may still tell something
                failures += 1
                print(f"FAIL  {name}: {type(error).__name__}: {error}")
            os.chdir("/")
    print(f"{len(tests)} tests, {failures} failed")
    sys.exit(1 if failures or not tests else 0)
