#!/usr/bin/env python3
"""convoy run, end to end: every step against SciPy or NumPy, one pass against step by step, and what is refused.

    run_test.py CONVOY [NAME OF A TEST ...]
"""
import json
import os
from pathlib import Path

import h5py
import numpy as np
from scipy import signal
from scipy.io import wavfile

from runner import RATE, RNG, convoy, main, near, noise, ok, refused, result, script, steps_run, wav


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


def test_steps_behind_a_spectrogram_go_by_its_columns():
    wav("x.wav", noise(20000, 1))
    for step, command in (("filter: {lowpass: 10, numtaps: 31}", ["filter", "--lowpass", 10, "--numtaps", 31]),
                          ("filter: {highpass: 20, numtaps: 31, decimate: 3}", ["filter", "--highpass", 20, "--numtaps", 31, "--decimate", 3]),
                          ("resample: 62.5", None), ("decimate: 2", None), ("select: {start: 0.5, duration: 1}", None)):
        script("p.yaml", f"inputs: x.wav\noutput: y.h5\nsteps:\n  - spectrogram: {{nfft: 128, hop: 64}}\n  - {step}\n")
        ok("run", "p.yaml", "--overwrite")
        assert ok("run", "p.yaml", "--check-scipy"), step
        ok("spectrogram", "x.wav", "-o", "s.h5", "--nfft", 128, "--hop", 64, "--overwrite")
        if command:
            ok(command[0], "s.h5", "-o", "z.h5", *command[1:], "--overwrite")
        else:
            script("q.yaml", f"inputs: s.h5\noutput: z.h5\nsteps:\n  - {step}\n")
            ok("run", "q.yaml", "--overwrite")
        assert np.array_equal(result("y.h5", "spectrogram"), result("z.h5", "spectrogram")), step
        with h5py.File("y.h5") as y:
            assert y["spectrogram"].attrs["sampling_rate"] == RATE, step


def test_part_of_a_pipeline_is_that_part():
    x = noise(20000)
    whole = steps_run(x, ["resample: {up: 3, down: 2}", "decimate: 3"])
    part = steps_run(x, ["resample: {up: 3, down: 2}", "decimate: 3"], "--start", "0.5", "--duration", "1")
    assert np.array_equal(part, whole[2000:6000])


def test_plan_touches_nothing_and_settings_change_it():
    wav("x.wav", noise(4000))
    script("p.yaml", "inputs: x.wav\noutput: made/{stem}.h5\nsteps:\n  - filter: {lowpass: 1000}\n  - decimate: 4\n")
    before = sorted(os.listdir("."))
    out = ok("run", "p.yaml", "--plan", "--set", "steps.1.decimate=2", "--set", "steps.filter.numtaps=31")
    assert "4000 x 2 at 8000 Hz" in out and "2000 x 2 at 4000 Hz" in out and "halo 30" in out, out
    refused(2, ["steps.0.decimate=2", "'filter'", "'decimate'"], "run", "p.yaml", "--plan", "--set", "steps.0.decimate=2")
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


if __name__ == "__main__":
    main(globals())
