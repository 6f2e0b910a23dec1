#!/usr/bin/env python3
"""convoy run, end to end: every step against SciPy or NumPy, one pass against step by step, and what is refused.

    run_test.py CONVOY_BINARY [NAME OF A TEST ...]
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
from scipy import signal
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


# ---------------------------------------------------------------- steps
def test_decimate_is_scipys():
    x = noise()
    near(steps_run(x, ["decimate: 4"]), signal.decimate(x, 4, ftype="fir", axis=0), 1e-6)


def test_keep_every_only_drops():
    x = noise()
    near(steps_run(x, ["keep_every: 3"]), x[::3], 0)


def test_gain():
    x = noise()
    near(steps_run(x, ["gain: -6"]), x * 10 ** (-6 / 20), 1e-7)
    near(steps_run(x, ["gain: {factor: 2}"]), x * 2, 0)
    for step in ("gain: -7000", "gain: 7000", "normalize: {db: -7000}", "normalize: {db: 7000}"):
        script("p.yaml", f"inputs: x.wav\noutput: z.h5\nsteps:\n  - {step}\n")
        refused(2, "no number is as large or small as", "run", "p.yaml")
    script("p.yaml", "inputs: x.wav\noutput: z.h5\nsteps:\n  - gain: 6000\n")
    status, _, err = convoy("run", "p.yaml")
    assert status == 0 and "beyond the range of float32" in err, err


def test_resample_is_scipys():
    x = noise(3001)
    for up, down in ((3, 2), (2, 3), (1, 5), (7, 1), (160, 147)):
        near(steps_run(x, [f"resample: {{up: {up}, down: {down}}}"]), signal.resample_poly(x, up, down, axis=0), 2e-6)
    near(steps_run(x, ["resample: 12000"]), signal.resample_poly(x, 3, 2, axis=0), 2e-6)
    near(steps_run(x, ["resample: {up: 3, down: 2, padding: edge}"]),
         signal.resample_poly(x, 3, 2, axis=0, padtype="edge"), 2e-6)
    with h5py.File("y.h5") as file:
        assert file["audio"].attrs["sampling_rate"] == 12000
        near(file["time"][:3], np.arange(3) / 12000, 1e-12)


def test_resample_changes_audio_files():
    wav("x.wav", noise(8000))
    script("p.yaml", "inputs: x.wav\noutput: y.wav\nsteps: [resample: 6000]\n")
    ok("run", "p.yaml", "--overwrite")
    rate, y = wavfile.read("y.wav")
    assert rate == 6000 and y.shape == (6000, 2), (rate, y.shape)


def test_detrend_is_scipys():
    x = noise() + np.linspace(-2, 3, 5000)[:, None] * [1, -0.5]
    for kind in ("linear", "constant"):
        near(steps_run(x, [f"detrend: {kind}"], "--chunk", "700"), signal.detrend(np.float32(x).astype(float), 0, kind), 1e-6)


def test_detrend_behind_a_filter_sees_the_filters_result():
    x = noise() + 0.5
    h = signal.firwin(101, 1000, fs=RATE)
    y = signal.oaconvolve(x, h[:, None], "same", 0)
    steps = ["filter: {lowpass: 1000, numtaps: 101, window: hamming}", "detrend: constant"]
    near(steps_run(x, steps, "--chunk", "700"), y - y.mean(0), 1e-6)


def test_normalize():
    x = noise()
    near(steps_run(x, ["normalize"]), x / np.abs(x).max(0), 1e-6)
    near(steps_run(x, ["normalize: {to: rms, level: 0.1, together: true}"]), x * 0.1 / np.sqrt((x ** 2).mean()), 1e-7)
    near(steps_run(np.zeros((100, 2)), ["normalize"]), np.zeros((100, 2)), 0)


def test_envelope_is_that_of_a_tone():
    t = np.arange(6000) / RATE
    level = 0.3 + 0.2 * np.sin(2 * np.pi * 5 * t)
    x = np.stack([level * np.sin(2 * np.pi * 900 * t), level * np.cos(2 * np.pi * 1500 * t)], 1)
    y = steps_run(x, ["envelope"], "--chunk", "500")
    near(y[200:-200], np.stack([level, level], 1)[200:-200], 2e-3)
    k = np.arange(255) - 127
    h = signal.get_window("hamming", 255, fftbins=False) * np.where(k % 2, 2 / (np.pi * np.where(k == 0, 1, k)), 0)
    near(y, np.hypot(x, signal.convolve(x, h[:, None], "same")), 1e-6)


def test_select():
    x = noise(5000, 4)
    near(steps_run(x, ["select: '3,0-1'"]), x[:, [3, 0, 1]], 0)
    near(steps_run(x, ["select: {start: 0.1, duration: 1000n}"]), x[800:1800], 0)
    with h5py.File("y.h5") as file:
        near(file["time"][:2], np.array([0.1, 0.1 + 1 / RATE]), 1e-12)
    near(steps_run(x, ["select: [2]", "decimate: 2"]), signal.decimate(x[:, [2]], 2, ftype="fir", axis=0), 1e-6)


def test_mix():
    x = noise(3000, 3)
    near(steps_run(x, ["mix: mean"]), x.mean(1, keepdims=True), 1e-7)
    near(steps_run(x, ["mix: {matrix: [[1, -1, 0], [0.5, 0, 2]]}"]), x @ np.array([[1, -1, 0], [0.5, 0, 2]]).T, 1e-6)
    x[100, 2] = np.nan
    y = steps_run(x, ["mix: {matrix: [[1, -1, 0], [0.5, 0, 2]]}"])
    assert np.flatnonzero(np.isnan(y)).tolist() == [201], "a channel that is not used spoils nothing"


def test_channels_that_are_rows():
    x = noise(2000, 5)
    with h5py.File("x.h5", "w") as file:
        data = file.create_dataset("data", data=x.T.astype("f4"))
        data.attrs["sampling_rate"] = float(RATE)
        data.dims[0].label, data.dims[1].label = "channel", "time"
    script("p.yaml", "inputs: x.h5\noutput: y.h5\nsteps:\n  - detrend: constant\n  - select: '4,1'\n  - mix: mean\n  - resample: 4000\n")
    ok("run", "p.yaml", "--overwrite", "--chunk", "300")
    y = signal.resample_poly((x - x.mean(0))[:, [4, 1]].mean(1), 1, 2)
    near(result("y.h5", "data"), y[None], 2e-6)


def test_one_channel_becomes_several():
    x = noise(2000, 1)[:, 0].astype("f4")
    weights = np.array([[2], [-3], [0.5]])
    for axis, data in ((1, x[None]), (0, x[:, None])):
        with h5py.File("x.h5", "w") as file:
            file["data"] = data
            file["data"].attrs["sampling_rate"] = float(RATE)
        for steps, expected in ((["mix: {matrix: [[2], [-3], [0.5]]}"], weights * x),
                                (["select: '0,0'"], np.stack([x, x])),
                                (["mix: mean", "mix: {matrix: [[2], [-3], [0.5]]}", "keep_every: 2"],
                                 (weights * x)[:, ::2]),
                                (["mix: {matrix: [[2], [-3], [0.5]]}", "spectrogram: {nfft: 64, scaling: power}"],
                                 None)):
            script("p.yaml", f"inputs: {{files: x.h5, time_axis: {axis}}}\noutput: y.h5\nsteps:\n" +
                   "".join(f"  - {step}\n" for step in steps))
            for chunk in ("300", "64MiB"):
                ok("run", "p.yaml", "--overwrite", "--chunk", chunk)
                if expected is None:
                    y = result("y.h5", "spectrogram")
                    near(y, weights[:, :, None] ** 2 / 4 * y[0], 1e-6 * y.max())
                else:
                    near(result("y.h5", "data"), expected if axis else expected.T, 1e-6)
    with h5py.File("x.h5", "w") as file:
        file["data"] = x
        file["data"].attrs["sampling_rate"] = float(RATE)
    script("p.yaml", "inputs: x.h5\noutput: y.h5\nsteps:\n  - select: '0,0'\n")
    refused(2, "no axis for them", "run", "p.yaml", "--overwrite")


# ---------------------------------------------------------------- one pass
PIPELINE = ["filter: {bandpass: [300, 2000], transition: 200}", "decimate: 2", "gain: -3", "resample: 3000",
            "envelope: {numtaps: 31}", "spectrogram: {nfft: 128, hop: 32, db: true}"]


def test_one_pass_has_the_bits_of_step_by_step():
    x = noise(20000)
    wav("x.wav", x)
    script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps:\n" + "".join(f"  - {s}\n" for s in PIPELINE))
    hashes = set()
    for chunk in ("100000", "997", "64", "1s"):
        ok("run", "p.yaml", "--overwrite", "--chunk", chunk, "--report", "r.json")
        hashes.add(json.loads(Path("r.json").read_text())["output"]["hash"])
    assert len(hashes) == 1, hashes
    whole = result("y.h5", "spectrogram")
    before = "x.wav"
    for number, step in enumerate(PIPELINE):
        script("one.yaml", f"inputs: {before}\noutput: step{number}.h5\nsteps:\n  - {step}\n")
        ok("run", "one.yaml", "--overwrite")
        before = f"step{number}.h5"
    assert np.array_equal(result(before, "spectrogram"), whole), "the bits differ"


def test_save_writes_what_the_step_alone_gives():
    x = noise(20000)
    steps_run(x, ["filter: {lowpass: 500, transition: 100}", "save: between.h5", "keep_every: 7", "select: {start: 0.5}"],
              "--chunk", "500")
    between = result("between.h5")
    assert np.array_equal(between, steps_run(x, ["filter: {lowpass: 500, transition: 100}"]))


def test_saved_results_are_whole_whatever_the_steps_behind_use_of_them():
    x = noise(20000)
    low, image = "filter: {lowpass: 500, transition: 100}", "spectrogram: {nfft: 128, hop: 100}"
    for steps, chunk, more in (
            ([low, "save: b.h5"], "700", []),
            ([low, "save: b.h5", "decimate: 4"], "300", []),
            ([low, "save: b.h5", "keep_every: 1000"], "3000", []),       # frames are left out between chunks
            ([low, "save: b.h5", "select: {start: 1, end: 1.5}"], "900", []),
            ([low, "save: b.wav", "select: {start: 1, end: 1.5}"], "900", []),
            ([low, "save: b.h5", image], "600", []),
            ([low, "save: b.h5", "normalize: peak", "save: c.h5", "decimate: 2"], "500", []),
            ([low, "save: b.h5", "decimate: 4"], "300", ["--start", "0.7", "--end", "2"]),
            ([low, "save: b.h5", "decimate: 4"], "300", ["--resume"])):
        wav("x.wav", x)
        script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps:\n" + "".join(f"  - {s}\n" for s in steps))
        ok("run", "p.yaml", "--overwrite", "--chunk", chunk, "--report", "r.json", *more)
        told = json.load(open("r.json"))
        saved = wavfile.read("b.wav")[1].astype(float) if "b.wav" in steps[1] else result("b.h5")
        alone = steps_run(x, [low], "--report", "alone.json", *[m for m in more if m != "--resume"])
        assert np.array_equal(saved, alone), (steps, more)
        assert told["output"]["saved"][0]["hash"] == json.load(open("alone.json"))["output"]["hash"], steps
        for name in ("b.h5", "b.wav", "c.h5"):
            Path(name).unlink(missing_ok=True)


def test_saved_audio_has_all_channels_of_a_frame():
    """Channels that are rows of a dataset go through in groups, and audio is written frame by frame."""
    x = np.random.default_rng(3).standard_normal((8, 100_000), dtype="f4") * 0.1
    with h5py.File("rows.h5", "w") as file:
        file["data"] = x
        file["data"].attrs["sampling_rate"] = 1000.0
        file["data"].dims[0].label, file["data"].dims[1].label = "channel", "time"
    steps = "steps:\n  - gain: -6\n  - save: %s\n  - filter: {lowpass: 100, numtaps: 31}\n"
    for name in ("s.wav", "s.flac", "s.aiff"):
        script("rows.yaml", "inputs: rows.h5\noutput: y.h5\n" + steps % name)
        ok("run", "rows.yaml", "--overwrite", "--chunk", "64KiB")
        script("read.yaml", f"inputs: {name}\noutput: s.h5\nsteps:\n  - gain: 0\n")
        ok("run", "read.yaml", "--overwrite")
        assert np.abs(result("s.h5").T - x * 10 ** (-6 / 20)).max() < 1e-4, name


def test_part_of_a_pipeline_is_that_part():
    x = noise(20000)
    whole = steps_run(x, ["resample: {up: 3, down: 2}", "decimate: 3"])
    part = steps_run(x, ["resample: {up: 3, down: 2}", "decimate: 3"], "--start", "0.5", "--duration", "1")
    assert np.array_equal(part, whole[2000:6000])


# ---------------------------------------------------------------- files
def test_many_files_globs_templates_and_environment():
    Path("in/a").mkdir(parents=True)
    x = noise(1000)
    for name in ("in/1.wav", "in/a/2.wav", "in/a/3.wav"):
        wav(name, x)
    script("in/p.yaml", "inputs: '**/*.wav'\noutput: '${WHERE}/{reldir}/{stem}_x.h5'\nsteps: [gain: 6]\nexecution: {jobs: 2}\n")
    ok("run", "in/p.yaml", env={"WHERE": "out"})
    near(result("out/a/3_x.h5"), x * 10 ** 0.3, 1e-6)
    assert sorted(str(p) for p in Path("out").rglob("*.h5")) == ["out/1_x.h5", "out/a/2_x.h5", "out/a/3_x.h5"]
    refused(2, ["in/p.yaml:2", "no variable WHERE"], "run", "in/p.yaml")


def test_an_output_for_each_channel():
    x, y = noise(1000, 3), noise(900, 1)
    wav("x.wav", x), wav("y.wav", y)
    script("p.yaml", "inputs: [x.wav, y.wav]\noutput: 'out/{stem}-{channel}.h5'\nsteps: [gain: 6, save: 'mid/{channel}/{stem}.h5']\n")
    ok("run", "p.yaml")
    assert sorted(os.listdir("out")) == ["x-0.h5", "x-1.h5", "x-2.h5", "y-0.h5"]
    near(result("out/x-2.h5"), x[:, 2:] * 10 ** 0.3, 1e-6)
    near(result("mid/1/x.h5"), x[:, 1:2] * 10 ** 0.3, 1e-6)
    with h5py.File("out/x-2.h5") as file:
        assert file["channel"][()].tolist() == [2]
    ok("filter", "x.wav", "--lowpass", 900, "--channels", "2,0", "-o", "some/{channel}.wav")
    assert sorted(os.listdir("some")) == ["0.wav", "2.wav"]
    shards = [ok("run", "p.yaml", "-o", "parts/{stem}-{channel}.h5", "--shard", f"{i}/2", "--set", "steps.1.save=null/{stem}{channel}.h5")
              for i in (1, 2)]
    assert len(shards) == 2 and sorted(os.listdir("parts")) == sorted(os.listdir("out"))
    refused(2, "{channel}", "filter", "x.wav", "y.wav", "--lowpass", 900, "-o", "j/{channel}.h5", "--join")
    script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps: [gain: 6, save: 'mid/{channel}.h5']\n")
    refused(2, ["p.yaml:3", "{channel}"], "run", "p.yaml")
    script("p.yaml", "inputs: x.wav\noutput: 'out/{channel}.h5'\nsteps: [gain: 6, save: mid.h5]\n")
    refused(2, ["p.yaml:3", "mid.h5"], "run", "p.yaml")


def test_one_bad_file_does_not_stop_the_rest():
    wav("good.wav", noise(500))
    Path("bad.wav").write_bytes(b"no audio at all")
    script("p.yaml", "inputs: [bad.wav, good.wav]\noutput: out/{stem}.h5\nsteps: [gain: 1]\n")
    refused(3, "bad.wav", "run", "p.yaml", "--failed-to", "failed.txt")
    assert Path("failed.txt").read_text() == "bad.wav\n" and Path("out/good.h5").exists()
    status, out, _ = convoy("run", "p.yaml", "--plan", "--overwrite")
    assert status == 3 and "good.wav" in out


def test_a_second_run_skips_what_is_finished_and_extends_what_has_grown():
    x = noise(6000)
    for steps, grown in (("  - filter: {lowpass: 1000}\n  - save: between.h5\n  - decimate: 4\n", "done"),
                         ("  - detrend: constant\n", "done"), ("  - filter: {lowpass: 1000}\n  - decimate: 4\nexecution: {strategy: direct}\n", "extended"),
                         ("  - select: {channels: [1, 0]}\n  - filter: {lowpass: 1000}\nexecution: {strategy: direct}\n", "extended"),
                         ("  - spectrogram: {nfft: 120, hop: 7, scaling: complex}\n", "extended"),
                         ("  - decimate: 2\n  - spectrogram: {nfft: 128, center: true, padding: reflect, db: true, average: 50ms}\n", "extended"),
                         ("  - spectrogram: {nfft: 64, frequency_scale: mel, bins: 20}\n  - conv2d: {kernel: 'gaussian:1'}\n", "extended")):
        wav("x.wav", x[:4000])
        script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps:\n" + steps)
        ok("run", "p.yaml", "--overwrite")
        before = Path("y.h5").stat().st_mtime_ns
        assert "finished already" in ok("run", "p.yaml", "--plan")
        ok("run", "p.yaml")
        assert Path("y.h5").stat().st_mtime_ns == before
        wav("x.wav", x)
        ok("run", "p.yaml", "--report", "r.json")
        assert json.loads(Path("r.json").read_text())["ending"] == grown, steps
        (name,) = {"audio", "spectrogram", "conv2d"} & set(h5py.File("y.h5"))
        y, times = (h5py.File("y.h5")[n][()] for n in (name, "time"))
        ok("run", "p.yaml", "--overwrite")
        assert np.array_equal(h5py.File("y.h5")[name], y), steps
        assert np.array_equal(h5py.File("y.h5")["time"], times), steps
    # Reports tell of what stayed too, also where it is stored in another type than it was computed in.
    for dtype, ending in (("float64", "extended"), ("float32", "extended"), ("int16", "done")):
        script("p.yaml", f"inputs: x.wav\noutput: {{path: y.h5, output_dtype: {dtype}}}\nexecution: {{strategy: direct}}\nsteps:\n  - filter: {{lowpass: 1000}}\n")
        told = []
        for part in (x[:4000], x[:5000], x):
            wav("x.wav", part)
            told.append(json.loads(ok("run", "p.yaml", "--report", "-", *(["--overwrite"] if not told else []))))
        anew = json.loads(ok("run", "p.yaml", "--report", "-", "--overwrite"))
        assert told[2]["ending"] == ending and told[2]["output"]["hash"] == anew["output"]["hash"], dtype
        for one, other in zip(told[2]["output_levels"], anew["output_levels"]):
            assert one["peak"] == other["peak"] and abs(one["rms"] - other["rms"]) < 1e-9 * other["rms"], dtype
    Path("y.h5").write_bytes(b"mine")
    refused(1, "exists already", "run", "p.yaml", "--plan")
    refused(1, "exists already", "run", "p.yaml")


def test_plan_touches_nothing_and_settings_change_it():
    wav("x.wav", noise(4000))
    script("p.yaml", "inputs: x.wav\noutput: made/{stem}.h5\nsteps:\n  - filter: {lowpass: 1000}\n  - decimate: 4\n")
    before = sorted(os.listdir("."))
    out = ok("run", "p.yaml", "--plan", "--set", "steps.1.decimate=2", "--set", "steps.filter.numtaps=31")
    assert "4000 x 2 at 8000 Hz" in out and "2000 x 2 at 4000 Hz" in out and "halo 30" in out, out
    plan = json.loads(ok("run", "p.yaml", "--plan", "--report", "-"))
    assert plan["status"] == 0 and plan["files"][0]["output_dims"] == [1000, 2]
    assert sorted(os.listdir(".")) == before


def test_schema_follows_the_declarations():
    schema = json.loads(ok("run", "--schema"))
    steps = {name for s in schema["properties"]["steps"]["items"]["anyOf"] for name in s.get("properties", {})}
    assert {"filter", "decimate", "resample", "spectrogram", "save"} <= steps, steps
    assert "memory" in schema["properties"]["execution"]["properties"]


def test_the_pipelines_that_ship():
    data = Path(__file__).resolve().parents[2] / "data"
    for path in sorted(data.glob("*.yaml")):
        ok("run", path, "--plan")
        assert not Path("out").exists() or not list(Path("out").glob(f"{path.stem}*"))
        ok("run", path, "--report", "r.json")
        report = json.loads(Path("r.json").read_text())
        assert Path(report["output"]["path"]).exists() and report["output"]["hash"], path
        assert all(level["nan"] == 0 and level["rms"] > 0 for level in report["output_levels"] if level["rms"] is not None), path
    assert len(list(data.glob("*.yaml"))) >= 5
    with h5py.File("out/strain_chirp.h5") as file:
        y = file["strain/Strain"][()]
        rate = file["strain/Strain"].attrs["sampling_rate"]
    assert rate == 1024 and y.size == 3 * 1024
    loudest = np.argmax(signal.convolve(y ** 2, np.ones(100), "same")) / rate + 9
    assert 9.5 < loudest < 11.1, loudest
    with h5py.File("out/vibration_envelope.h5") as file:
        spectrum, hz = file["spectrogram"][1].mean(1), file["frequency"][()]
    assert abs(hz[np.argmax(np.where((hz > 50) & (hz < 250), spectrum, 0))] - 104.6) < 4


def test_pieces_between_gaps_are_filtered_on_their_own():
    x = noise(3000, 1)[:, 0]
    stamps = np.arange(3000) / 100.0 + np.where(np.arange(3000) >= 1200, 5.0, 0) + np.where(np.arange(3000) >= 2001, 7.0, 0)
    with h5py.File("x.h5", "w") as file:
        file["data"] = x.astype("f4")
        file["timestamps"] = stamps
    pieces = [x[:1200], x[1200:2001], x[2001:]]
    h = signal.firwin(41, 20, fs=100)
    words = ["x.h5", "-o", "y.h5", "--overwrite", "--lowpass", "20", "--numtaps", "41", "--window", "hamming", "--rate", "100"]
    refused(1, "gap", "filter", *words)
    ok("filter", *words, "--gaps", "split", "--chunk", "300")
    near(result("y.h5", "data"), np.concatenate([signal.convolve(p, h, "same") for p in pieces]), 1e-6)
    ok("filter", *words, "--gaps", "ignore")
    near(result("y.h5", "data"), signal.convolve(x, h, "same"), 1e-6)
    ok("filter", *words, "--gaps", "split", "--decimate", "2")
    near(result("y.h5", "data"), np.concatenate([signal.convolve(p, h, "same")[::2] for p in pieces]), 1e-6)
    ok("filter", *words, "--gaps", "split", "--start", "15", "--duration", "1000n")
    near(result("y.h5", "data"), np.concatenate([signal.convolve(p, h, "same") for p in pieces])[1500:2500], 1e-6)


def test_joined_inputs_are_one_signal():
    x = noise(9000)
    cuts = [0, 2500, 2503, 6001, 9000]
    for k in range(4):
        wav(f"part{k}.wav", x[cuts[k]:cuts[k + 1]])
    wav("whole.wav", x)
    words = ["--lowpass", "700", "--overwrite"]
    ok("filter", "whole.wav", "-o", "whole.h5", *words)
    ok("filter", "part?.wav", "--join", "-o", "joined.h5", *words, "--chunk", "333")
    assert np.array_equal(result("whole.h5"), result("joined.h5"))
    ok("filter", "part?.wav", "--join", "--split", "input", "-o", "out", *words)
    for k in range(4):
        assert np.array_equal(result(f"out/part{k}.h5"), result("whole.h5")[cuts[k]:cuts[k + 1]]), k
        with h5py.File(f"out/part{k}.h5") as file:
            assert file["time"][0] == 0
    ok("filter", "whole.wav", "--split", "0.5", "-o", "cut.h5", *words, "--report", "r.json")
    files = json.loads(Path("r.json").read_text())["output"]["files"]
    assert files == [f"cut_000{k}.h5" for k in (1, 2, 3)]
    assert np.array_equal(np.concatenate([result(f) for f in files]), result("whole.h5"))
    with h5py.File("cut_0002.h5") as file:
        near(file["time"][:1], np.array([0.5]), 1e-9)
    ok("filter", "part?.wav", "--join", "--split", "input", "-o", "down", *words, "--decimate", "3")
    ok("filter", "whole.wav", "-o", "down.h5", *words, "--decimate", "3")
    down = [result(f"down/part{k}.h5") for k in range(4) if Path(f"down/part{k}.h5").exists()]
    assert np.array_equal(np.concatenate(down), result("down.h5"))
    refused(2, "--split input goes with --join", "filter", "whole.wav", "--split", "input", "-o", "z.h5", *words)
    wav("mono.wav", x[:100, 0])
    refused(3, "number of channels", "filter", "part0.wav", "mono.wav", "--join", "-o", "z.h5", *words)


def test_files_are_joined_by_their_times():
    x = noise(20000)
    words = ["--filename-time", "_%H%M%S", "--overwrite", "--lowpass", "700"]
    for k, name in enumerate(("a9_000009", "a0_000010", "a1_000011")):  # the first by time is the last by name
        wav(f"{name}.wav", x[8000 * k:8000 * (k + 1)])
    wav("whole.wav", x)
    ok("filter", "whole.wav", "-o", "whole.h5", "--lowpass", "700", "--overwrite")
    ok("filter", "a?_0000*.wav", "--join", "-o", "joined.h5", *words)
    assert np.array_equal(result("joined.h5"), result("whole.h5")), "not in order of time"
    for name in ("a0_000010.wav", "a9_000009.wav"):  # the second begins half a second before the first ends
        os.rename(name, "b" + name[1:])
    wav("b9_000009.wav", x[:12000])
    status, _, err = convoy("filter", "b*.wav", "--join", "-o", "two.h5", *words)
    assert status == 0 and sorted(os.listdir("two.h5")) == ["b0_000010.h5", "b9_000009.h5"]
    assert "two.h5: is made a folder of 2 results: b0_000010.wav starts 0.5 s before the end of b9_000009.wav" in err, err
    status, _, err = convoy("filter", "b*.wav", "--join", "-o", "one.h5", *words, "--gaps", "ignore")
    assert status == 0 and "joined to it all the same" in err and result("one.h5").shape == (20000, 2)
    ok("filter", "b*.wav", "--join", "-o", "one.h5", *words, "--gap-tolerance", "4000")
    refused(1, ["b0_000010.wav: starts 0.5 s before", "--gaps ignore"], "filter", "b*.wav", "--join", "-o", "z.h5", *words, "--gaps", "error")
    assert not Path("z.h5").exists()
    # Jumps of less than a sample and a half add up.
    for k in range(4):
        with h5py.File(f"d{k}.h5", "w") as file:
            file["x"] = x[:1000, 0]
            file["x"].attrs["sampling_rate"] = 1000.0
            file["x"].attrs["start_time"] = f"2024-01-01T00:00:0{k}.00{k}Z"
    status, _, err = convoy("filter", "d?.h5", "--join", "-o", "drift.h5", "--lowpass", "100")
    assert status == 0 and "d3.h5:/x: starts 3 samples after the end of the files joined before it" in err, err
    # A folder that is named is made, whatever is cut where.
    ok("filter", "d?.h5", "--join", "--split", "1.5s", "-o", "made/", "--lowpass", "100")
    assert len(os.listdir("made")) == 3


def test_guard_keeps_what_fits_and_clips_nothing():
    x = noise(4000)
    wav("loud.wav", x * 3 / np.abs(x).max())
    wav("unit.wav", x / x.max())
    wavfile.write("int.wav", RATE, np.int16(np.round(x / np.abs(x).max() * 20000)))
    for name in ("loud", "unit"):
        for bits in ("16", "24"):
            out = ok("filter", f"{name}.wav", "-o", "y.wav", "--taps", script("one.txt", "1\n"), "--bits", bits, "--guard", "--overwrite",
                     "--report", "-")
            assert json.loads(out)["output"]["clipped"] == 0, (name, bits)
            y = wavfile.read("y.wav")[1].astype(float)
            shape = np.abs(y / np.abs(y).max() - x / np.abs(x).max()).max()
            assert shape < 1e-4 and np.abs(y).max() > 0.9999 * 2**(15 if bits == "16" else 31), (name, bits, shape)
    script("p.yaml", "inputs: int.wav\noutput: {path: y.wav, guard: true}\nsteps:\n  - select: {start: 0.1}\n")
    ok("run", "p.yaml", "--overwrite")  # integers that only travel are left as they are
    assert np.array_equal(wavfile.read("y.wav")[1], wavfile.read("int.wav")[1][800:])


def test_what_is_only_picked_has_its_values():
    """Steps that leave samples as they are stored do not lose what scale factors make of them."""
    x = RNG.integers(-30000, 30000, (1000, 3)).astype("i2")
    wavfile.write("x.wav", RATE, x)
    with h5py.File("x.h5", "w") as file:
        for name, attributes in (("one", {"scale_factor": 0.5, "add_offset": 3.0}), ("packed", {"scale_factor": 0.25, "_FillValue": x[7, 1]}),
                                 ("nwb", {"conversion": 0.125, "offset": 1.0})):
            file[name + "/data"] = x
            file[name + "/data"].attrs.update({"sampling_rate": 1000.0, **attributes})
        file["nwb/channel_conversion"] = np.array([1.0, 2.0, 4.0])
    packed = x * 0.25
    packed[x == x[7, 1]] = np.nan
    for source, name, values in (("x.wav", "audio", x / 32768), ("x.h5:/one/data", "one/data", x * 0.5 + 3), ("x.h5:/packed/data", "packed/data", packed),
                                 ("x.h5:/nwb/data", "nwb/data", x * 0.125 * np.array([1, 2, 4]) + 1)):
        for dtype in ("", "float64", "int16"):
            script("p.yaml", f"inputs: '{source}'\noutput: {{path: y.h5{', output_dtype: ' + dtype if dtype else ''}}}\n"
                             "steps:\n  - select: {start: 100n, channels: [2, 1]}\n  - save: s.h5\n  - select: {channels: [1, 0]}\n")
            ok("run", "p.yaml", "--overwrite", "--time-axis", "0")
            for path, channels in (("s.h5", [2, 1]), ("y.h5", [1, 2])):
                with h5py.File(path) as file:
                    y, scale = file[name][()], file[name].attrs.get("scale_factor", 1.0)
                wanted = values[100:, channels]
                y = np.where(y == -32768, np.nan, y * scale) if y.dtype == np.int16 else y
                assert y.shape == wanted.shape and np.array_equal(np.isnan(y), np.isnan(wanted)), (source, dtype, path)
                assert np.nanmax(np.abs(y - wanted)) <= (0.51 * scale if dtype == "int16" and path == "y.h5" else 0), (source, dtype, path)
    script("p.yaml", "inputs: x.wav\noutput: y.wav\nsteps:\n  - select: {start: 100n}\n")
    ok("run", "p.yaml", "--overwrite")
    assert np.array_equal(wavfile.read("y.wav")[1], x[100:])


def test_missing_floats_are_nan():
    x = noise(1000)[:, 0].astype("f4")
    gappy = x.copy()
    gappy[500:503] = np.float32(-999.9)
    with h5py.File("x.h5", "w") as file:
        for name, fill in (("attribute", -999.9), ("zero", 0.0), ("nan", np.nan)):
            file[name] = gappy
            file[name].attrs["_FillValue"] = fill
    script("one.txt", "1\n")
    for name, missing in (("attribute", 3), ("zero", 0), ("nan", 0)):
        ok("filter", f"x.h5:/{name}", "-o", "y.h5", "--taps", "one.txt", "--overwrite")
        with h5py.File("y.h5") as file:
            assert np.isnan(file[name]).sum() == missing and ("source__FillValue" in file[name].attrs) == (missing > 0), name
    ok("filter", "x.h5:/attribute", "-o", "y.h5", "--taps", "one.txt", "--overwrite", "--raw")
    assert np.array_equal(result("y.h5", "attribute"), gappy)
    with h5py.File("y.h5") as file:
        assert "_FillValue" in file["attribute"].attrs


def test_what_is_told_and_left():
    """Folders that are no files, rates that are no rates; nothing told twice, no empty folder left."""
    wav("x.wav", noise(4000))
    os.mkdir("folder")
    script("p.yaml", "inputs: x.wav\noutput: out/{stem}.h5\nsteps:\n  - gain: 1\n")
    refused(1, "folder: is a folder, and no pipeline file", "run", "folder")
    refused(1, "folder: is a folder, and no report", "run", "--replay", "folder")
    refused(1, "folder: is a folder, and no report", "run", "--merge-reports", "folder")
    refused(1, "folder: is a folder, and no table of regions", "run", "p.yaml", "--regions", "folder")
    Path("bad.wav").write_bytes(b"nothing")
    for words in (("run", "p.yaml", "bad.wav", "-o", "none/{stem}.h5"), ("filter", "bad.wav", "folder", "-o", "none/", "--lowpass", 9),
                  ("spectrogram", "x.wav", "-o", "none/x.wav")):
        assert convoy(*words)[0] in (1, 2, 3) and not Path("none").exists(), words
    with h5py.File("x.h5", "w") as file:
        file["x"] = np.zeros((900, 2))
        file["x"].attrs["sampling_rate"] = 0.0
    out = ok("inspect", "x.h5")
    assert "sampling_rate of /x (which is there, but is not one positive number)" in out, out
    _, _, err = convoy("run", "p.yaml", "x.h5")
    assert err.count("nothing says which of its axes") == 1, err
    with h5py.File("gap.h5", "w") as file:
        file["x"] = np.zeros((900, 4))
        file["timestamps"] = np.arange(900) / 100 + 5 * (np.arange(900) > 400)
    status, _, err = convoy("filter", "gap.h5", "-o", "{stem}_{channel}.h5", "--lowpass", 9, "--gaps", "split", "--split", "2s",
                            "--failed-to", "failed.txt")
    assert status == 3 and err.count("error") == 1 and err.count("gap.h5\n") == 1, err
    assert Path("failed.txt").read_text() == "gap.h5\n"
    for table, said in (("-1\t1\tx\n", "begins 1 s before the recording"), ("3\t1\tx\n", "begins at 3 s and ends at 1 s"),
                        ("7\t8\tx\n", "start in t.txt:1 (7s) is not within")):
        Path("t.txt").write_text(table)
        assert said in convoy("run", "p.yaml", "--regions", "t.txt")[2], table
    refused(2, "did you mean --lowpass?", "filter", "x.wav", "-o", "z.h5", "--low", "9")
    for words in (("--shard", "5/4"), ("--split", "input")):
        refused(2, f"convoy: error: {words[0]}", "run", "p.yaml", *words)
    script("mix.yaml", "inputs: x.wav\noutput: z.h5\nsteps:\n  - mix: mean\n  - mix: {matrix: [[1, 2]]}\n")
    refused(2, "a row has 2 weights, and there is one channel", "run", "mix.yaml")
    # One column for more than there is is centred on what there is.
    ok("spectrogram", "x.wav", "-o", "long.h5", "--nfft", "64", "--hop", "32", "--average", "10s")
    with h5py.File("long.h5") as file:
        assert np.isclose(file["time"][0], (32 + 0.5 * 32 * 123) / RATE) and file["time"].shape == (1,)
    with h5py.File("stored.h5", "w") as file:
        file.create_dataset("x", data=np.zeros((900, 4)), chunks=(100, 3), compression="gzip", shuffle=True, fletcher32=True)
        layout = h5py.VirtualLayout((1800, 4), "f8")
        layout[:900] = layout[900:] = h5py.VirtualSource(file["x"])
        file.create_virtual_dataset("both", layout)
    assert "chunks of 100 x 3, shuffle, gzip, fletcher32" in ok("inspect", "stored.h5:/x")
    assert "virtual" in ok("inspect", "stored.h5:/both") and "contiguous" not in ok("inspect", "x.wav")
    with h5py.File("frame.h5", "w") as file:
        file["x"] = np.zeros((1, 12))
        file["timestamps"] = [5.0]
    assert "as long as the time stamps" in ok("inspect", "frame.h5")


def test_replay_and_merged_reports():
    x = noise(4000)
    for name in ("a", "b"):
        wav(f"{name}.wav", x)
    script("p.yaml", "inputs: '*.wav'\noutput: out/{stem}.h5\nsteps:\n  - filter: {lowpass: 500}\n  - save: out/{stem}_s.h5\n"
                     "  - detrend: linear\n  - resample: 3000\nexecution: {chunk: 500}\n")
    ok("run", "p.yaml", "--report", "r.json")
    out = ok("run", "--replay", "r.json")
    assert out.count("the same") == 2, out
    ok("spectrogram", "a.wav", "-o", "s.h5", "--png", "s.png", "--png-reduce", "mean", "--report", "s.json")
    assert "the same" in ok("run", "--replay", "s.json"), "pictures are not drawn again"
    wav("b.wav", x * 0.5)
    status, out, _ = convoy("run", "--replay", "r.json")
    assert status == 1 and out.count("the same") == 1 and "b.wav: differs" in out, out
    for part in ("1/2", "2/2"):
        ok("run", "p.yaml", "--overwrite", "--shard", part, "--report", f"r{part[0]}.json")
    merged = json.loads(ok("run", "--merge-reports", "r1.json", "r2.json"))
    assert merged["schema"] == "convoy.batch/1" and [f["input"]["path"] for f in merged["files"]] == ["a.wav", "b.wav"]
    Path("none.json").write_text("{}")
    refused(1, "no report of a run", "run", "--merge-reports", "none.json")
    refused(1, "no report of a run", "run", "--replay", "none.json")


def test_the_page_tells_what_was_done():
    wav("<a>.wav", noise(20000))
    Path("bad.wav").write_bytes(b"nothing")
    script("p.yaml", "inputs: '*.wav'\noutput: out/{stem}.h5\nsteps:\n  - filter: {lowpass: 900}\n  - spectrogram: {nfft: 128}\n")
    status, _, _ = convoy("run", "p.yaml", "--html", "r.html")
    assert status == 3
    page = Path("r.html").read_text()
    assert "&lt;a&gt;.wav" in page and "<a>" not in page and "bad.wav" in page and "class=\"bad\"" in page
    assert page.count("data:image/png;base64,iVBORw0KGgo") == 2 and page.count("<svg") == 1
    assert "http" not in page, "nothing is loaded from elsewhere"
    assert page.count("<table>") == page.count("</table>") and page.rstrip().endswith("</html>")


def test_clips_from_tables():
    x = noise(16000)
    wav("a.wav", x)
    wav("b.wav", x[::-1].copy())
    script("p.yaml", "inputs: a.wav\noutput: clips/{stem}.h5\nsteps:\n  - filter: {lowpass: 900, numtaps: 101}\n")
    ok("run", "p.yaml", "-o", "whole.h5")
    Path("labels.txt").write_text("0.25\t0.5\tsong\n\\\t100\t900\n1\t1\tmoment\n1.5\t1.75\tcall\n")
    ok("run", "p.yaml", "--regions", "labels.txt")
    whole = result("whole.h5")
    assert np.array_equal(result("clips/a_0001.h5"), whole[2000:4000])
    assert np.array_equal(result("clips/a_0002.h5"), whole[12000:14000]) and len(os.listdir("clips")) == 2
    head = "Selection\tView\tBegin Time (s)\tEnd Time (s)\tBegin File\tFile Offset (s)\n"
    Path("raven.txt").write_text(head + "1\tWaveform 1\t0.5\t1\ta.wav\t0.5\n1\tSpectrogram 1\t0.5\t1\ta.wav\t0.5\n"
                                 "2\tWaveform 1\t2.25\t2.5\tb.wav\t0.25\n")
    ok("run", "p.yaml", "a.wav", "b.wav", "-o", "raven", "--regions", "raven.txt")
    assert sorted(os.listdir("raven")) == ["a_0001.h5", "b_0001.h5"]
    assert np.array_equal(result("raven/a_0001.h5"), whole[4000:8000]) and result("raven/b_0001.h5").shape == (2000, 2)
    refused(2, ["raven.txt:3", "b.wav"], "run", "p.yaml", "--regions", "raven.txt")
    refused(2, "does not tell which", "run", "p.yaml", "a.wav", "b.wav", "-o", "z", "--regions", "labels.txt")
    for k in range(2):
        wav(f"half{k}.wav", x[8000 * k:8000 * (k + 1)])
    Path("halves.txt").write_text(head + "1\tWaveform 1\t0.5\t1.1\thalf0.wav\t0.5\n2\tWaveform 1\t1.25\t1.5\thalf1.wav\t0.25\n")
    ok("run", "p.yaml", "half?.wav", "--join", "-o", "halves/{stem}.h5", "--regions", "halves.txt")
    for clip, first, end in ((1, 4000, 8800), (2, 10000, 12000)):
        assert np.array_equal(result(f"halves/half0_000{clip}.h5"), whole[first:end]), clip
    Path("bad.txt").write_text("0.1\tnever\n")
    refused(1, "bad.txt:1", "run", "p.yaml", "--regions", "bad.txt")


HEAD = "inputs: x.wav\noutput: y.h5\n"
BROKEN = [  # text, and what is said
    ("steps:\n  - fitler: {lowpass: 100}\n", ["p.yaml:4", "did you mean 'filter'"]),
    ("steps:\n  - filter: {lowpas: 100}\n", ["p.yaml:4", "did you mean 'lowpass'"]),
    ("steps:\n  - filter: {lowpass: low}\n", ["p.yaml:4", "is not a number"]),
    ("steps:\n  - filter: {lowpass: [1, 2], numtaps: 3.5}\n", ["p.yaml:4", "not a list"]),
    ("steps:\n  - filter: {lowpass: 100, zero_phase: maybe}\n", ["p.yaml:4", "true or false"]),
    ("steps:\n  - filter:\n      lowpass: 100\n      numtaps: 3.5\n", ["p.yaml:6", "whole number"]),
    ("steps:\n  - filter: voice\n", ["p.yaml:4", "no filter is called 'voice'"]),
    ("filters: {voice: {lowpass: 100}}\nsteps:\n  - filter: voiec\n", ["p.yaml:5", "did you mean 'voice'"]),
    ("stpes: []\n", ["p.yaml:3", "did you mean 'steps'"]),
    ("steps: []\n", ["p.yaml:3", "steps is a list"]),
    ("steps:\n  - decimate: 0\n", ["p.yaml:4", "1 or more"]),
    ("steps:\n  - gain: 3\nexecution: {devcie: cpu}\n", ["p.yaml:5", "did you mean 'device'"]),
    ("steps:\n  - gain: 3\n  - gain: 3\n    decimate: 4\n", ["p.yaml:5", "one name"]),
    ("steps:\n  - spectrogram: {nfft: 64}\n  - spectrogram: {nfft: 64}\n", ["p.yaml:5", "image already"]),
    ("steps:\n  - spectrogram: {nfft: 64}\n  - select: [0]\n", ["p.yaml:5", "no axis of channels"]),
    ("steps:\n  - save: z.h5\n  - gain: 1\n", ["would copy the input"]),
    ("steps:\n  - gain: 1\n  - save: y.h5\n", ["p.yaml:5", "two results would go to y.h5"]),
    ("steps:\n  - gain: [\n", ["p.yaml:", "no YAML"]),
    ("steps: [gain: 1]\nsteps: [gain: 2]\n", ["p.yaml:4", "twice"]),
    ("steps: [filter: {lowpass: 9000}]\n", ["p.yaml:3", "9000"]),
    ("steps: &a\n  - gain: *a\n", ["p.yaml:"]),
]


def test_compare_runs_a_pipeline_under_every_memory_mode():
    wav("x.wav", noise(20000))
    script("p.yaml", "inputs: [x.wav, y.wav]\noutput: out/{stem}.h5\nsteps:\n  - filter: {lowpass: 900, numtaps: 301}\n"
           "  - save: between.h5\n  - normalize: peak\n")
    wav("y.wav", noise(100))
    before = sorted(os.listdir("."))
    done = convoy("compare", "p.yaml", "--repeat", 2, "--warmup", 1, "--json", "--set", "steps.filter.numtaps=31")
    assert done[0] == 0 and "the first of 2 inputs" in done[2], done
    told = json.loads(done[1])
    assert told["schema"] == "convoy.compare/1"
    rows = {mode: [r for r in told["rows"] if r["mode"] == mode]
            for mode in ("managed", "managed-prefetch", "managed-fault", "pinned", "pageable", "mapped", "host")}
    for scope in ("link", "memory", "file"):
        assert [r["phase"] for r in rows["host"] if r["scope"] == scope] == ["warm-up", "steady", "steady"], scope
    assert all(r["taps"] == 31 and r["e2e_s"] > 0 and r["limit"] and 0 < r["limit_busy"] for r in rows["host"])
    for mode, lines in rows.items():  # normalize has no stage for a GPU, so that no other mode runs anywhere
        assert mode == "host" or (len(lines) == 1 and lines[0]["e2e_s"] is None and lines[0]["note"]), lines
    hashes = {scope: {r["output_hash"] for r in rows["host"] if r["scope"] == scope} for scope in ("link", "memory", "file")}
    assert hashes["link"] == {None} and len(hashes["file"]) == 1 and hashes["memory"] == hashes["file"], hashes
    assert told["machine"]["kernel"] and told["machine"]["ceilings"]["host_copy_threads_1"] > 0, told["machine"]
    assert sorted(os.listdir(".")) == sorted([*before, "out"]) and not os.listdir("out"), os.listdir(".")
    out = ok("compare", "p.yaml", "y.wav", "-o", "null", "--repeat", 1, "--warmup", 0, "--modes", "mapped", "--quiet")
    assert [line.split()[:2] for line in out.splitlines()] == [["scope", "mode"], ["-", "mapped"], ["link", "host"],
                                                               ["memory", "host"], ["file", "host"]], out
    out = ok("compare", "p.yaml", "-o", "null", "--repeat", 1, "--warmup", 0, "--modes", "host", "--csv", "--quiet",
             "--scope", "file", "--chunk", "1KiB,2KiB")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [r["scope"] for r in rows] == ["file", "file"] and len({r["chunk_bytes"] for r in rows}) == 2, rows
    done = convoy("compare", "x.wav", "-o", "null", "--lowpass", 100, "--repeat", 1, "--warmup", 0, "--modes", "host",
                  "--profile", "--json")
    told = json.loads(done[1])  # the CPU has no managed memory: at most the want of a GPU is told
    assert done[0] == 0 and all(r["phase"] == "steady" and r["gpu_page_faults"] is None for r in told["rows"]), done
    assert told.get("no_profile", "") in done[2] and (told.get("no_profile") or "no profile" not in done[2]), done
    refused(2, "disk", "compare", "x.wav", "-o", "null", "--lowpass", 100, "--scope", "file,disk")
    refused(2, "--lowpass", "compare", "p.yaml", "--lowpass", 100)
    refused(2, "pinnt", "compare", "x.wav", "-o", "null", "--lowpass", 100,
            "--modes", "pinnt")


def test_broken_pipelines_are_refused_before_anything_is_written():
    wav("x.wav", noise(1000))
    before = None
    for text, said in BROKEN:
        script("p.yaml", HEAD + text)
        before = before or sorted(os.listdir("."))
        refused(2, said, "run", "p.yaml")
        assert sorted(os.listdir(".")) == before, text
    script("p.yaml", "inputs: nowhere.wav\noutput: y.h5\nsteps: [gain: 1]\n")
    refused(2, ["p.yaml:1", "nowhere.wav"], "run", "p.yaml")
    script("p.yaml", "inputs: '*.flac'\noutput: y.h5\nsteps: [gain: 1]\n")
    refused(2, ["p.yaml:1", "nothing matches"], "run", "p.yaml")
    script("p.yaml", "inputs: [x.wav, ./x.wav]\noutput: out/{stem}.h5\nsteps: [gain: 1]\n")
    refused(2, ["p.yaml:2", "would both write"], "run", "p.yaml")
    script("p.yaml", HEAD + "steps: [gain: 1]\n")
    refused(2, ["--set execution.devcie=cpu", "did you mean 'device'"], "run", "p.yaml", "--set", "execution.devcie=cpu")
    refused(2, "there is no step", "run", "p.yaml", "--set", "steps.3.gain=1")


def main(names):
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_") and (not names or n in names)]
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
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    CONVOY = str(Path(sys.argv[1]).resolve())
    sys.exit(main(sys.argv[2:]))
