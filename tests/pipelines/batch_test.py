#!/usr/bin/env python3
"""convoy run over many files: names, joins, gaps, clips, second runs, reports.

    batch_test.py CONVOY [NAME OF A TEST ...]
"""
import json
import os
import signal as signals
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
from scipy import signal

import runner
from runner import RATE, convoy, main, near, noise, ok, refused, result, script, wav


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


def test_a_second_run_of_joined_inputs():
    x = noise(9000)
    for k in range(3):
        wav(f"part{k}.wav", x[2000 * k:2000 * (k + 1)])
    script("p.yaml", "inputs: 'part?.wav'\noutput: y.h5\nsteps:\n  - filter: {lowpass: 700}\nexecution: {strategy: direct}\n")

    def times(*files):
        return [Path(f).stat().st_mtime_ns for f in files]

    ok("run", "p.yaml", "--join")
    before = times("y.h5")
    assert "finished already" in convoy("run", "p.yaml", "--join")[2]
    assert "finished already" in ok("run", "p.yaml", "--join", "--plan") and times("y.h5") == before
    wav("part3.wav", x[6000:])  # another file that follows
    assert "appended" in ok("run", "p.yaml", "--join", "--plan")
    assert "extended" in convoy("run", "p.yaml", "--join")[2]
    wav("whole.wav", x)
    ok("run", "p.yaml", "whole.wav", "-o", "whole.h5")
    assert np.array_equal(result("y.h5"), result("whole.h5"))
    wav("part1.wav", x[1999:3999])
    for more in ([], ["--plan"]):
        refused(1, ["y.h5: exists already", "part0.wav", "joined"], "run", "p.yaml", "--join", *more)
    # Pieces are finished together, or are made again together; none that is of another job is replaced.
    for split, files in (("0.5s", ["z_0001.h5", "z_0002.h5", "z_0003.h5"]), ("input", [f"out/part{k}.h5" for k in range(4)])):
        words = ["run", "p.yaml", "--join", "--split", split, "-o", "z.h5" if split == "0.5s" else "out/"]
        ok(*words)
        before, first = times(*files), result(files[1])
        assert "finished already" in convoy(*words)[2] and "finished already" in ok(*words, "--plan")
        assert times(*files) == before
        os.remove(files[1])
        assert "finished already" not in ok(*words, "--plan")
        ok(*words)
        assert np.array_equal(result(files[1]), first)
        refused(1, [files[0], "another job"], *words, "--set", "steps.filter.lowpass=800")
        Path(files[2]).write_bytes(b"mine")
        os.remove(files[1])
        refused(1, [files[2], "exists already"], *words)
        refused(1, [files[2], "exists already"], *words, "--plan")
        assert Path(files[2]).read_bytes() == b"mine" and not Path(files[1]).exists()


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
    told = json.loads(convoy("run", "--replay", "r.json", "--report", "-")[1])
    assert told["schema"] == "convoy.replay/1" and [f["same"] for f in told["files"]] == [True, False], told
    assert told["files"][1]["before"] != told["files"][1]["now"] and told["files"][0]["error"] is None, told
    told = json.loads(ok("run", "p.yaml", "--check-scipy", "--report", "-"))
    assert told["schema"] == "convoy.scipy_check/1" and told["same"], told
    refused(2, ["--replay", "--plan", "exclude"], "run", "p.yaml", "--replay", "r.json", "--plan")
    refused(2, ["--html", "--replay"], "run", "--replay", "r.json", "--html", "r.html")
    refused(2, ["--report", "--schema"], "run", "--schema", "--report", "r.json")
    ok("run", "p.yaml", "--plan", "--html", "x.html", "--failed-to", "x.txt")
    assert not Path("x.html").exists() and not Path("x.txt").exists()
    Path("none.json").write_text("{}")
    refused(1, "no report of a run", "run", "--merge-reports", "none.json")
    refused(1, "no report of a run", "run", "--replay", "none.json")


def test_a_report_of_what_was_done_before_a_signal():
    for k in range(6):
        wav(f"{k}.wav", noise(30000 if k == 0 else 2000000))
    script("p.yaml", "inputs: '*.wav'\noutput: out/{stem}.h5\nsteps:\n  - filter: {lowpass: 500, numtaps: 4001}\n"
                     "execution: {strategy: reference, jobs: 1, threads: 1}\n")
    words = [runner.CONVOY, "run", "p.yaml", "--report", "r.json", "--html", "r.html", "--failed-to", "failed.txt"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as work:
        for _ in range(1000):
            if Path("out/0.h5").exists():
                break
            time.sleep(0.02)
        work.send_signal(signals.SIGINT)
        err = work.communicate(timeout=20)[1]
    assert work.returncode == 130 and err.count("\n") == 1 and "stopped by signal 2" in err, err
    told = json.loads(Path("r.json").read_text())
    done = [f["input"]["path"] for f in told["files"] if "error" not in f or f["error"] is None]
    assert done == ["0.wav"] and told["failed"] == 5 and len(told["files"]) == 6, (done, told["failed"])
    assert Path("failed.txt").read_text().split() == [f"{k}.wav" for k in range(1, 6)]
    assert "0.wav" in Path("r.html").read_text() and os.listdir("out") == ["0.h5"]


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


def test_a_picture_for_each_input():
    for name in ("a", "b"):
        wav(f"{name}.wav", noise(4000, 1))
    refused(2, ["p.png is one picture", "{stem}.png"], "spectrogram", "a.wav", "b.wav", "-o", "out/", "--png", "p.png")
    ok("spectrogram", "a.wav", "b.wav", "-o", "out/", "--png", "pics/{stem}.png")
    assert sorted(os.listdir("pics")) == ["a.png", "b.png"] and not Path("p.png").exists()
    script("p.yaml", "inputs: '?.wav'\noutput: made/{stem}.h5\nsteps:\n  - filter: {lowpass: 900}\n  - save: between/{stem}.h5\n"
                     "  - spectrogram: {nfft: 128, png: 'drawn/{stem}.png'}\n")
    ok("run", "p.yaml")
    assert "2 outputs were finished already" in convoy("run", "p.yaml")[2]
    for beside in ("drawn/a.png", "between/b.h5"):  # what belongs to a result is made again with it
        os.remove(beside)
        assert "1 outputs were finished already" in convoy("run", "p.yaml")[2]
        assert Path(beside).exists()
    script("rows.txt", "0.0\t0.1\tone\n0.25\t0.4\ttwo\n")
    ok("run", "p.yaml", "a.wav", "--regions", "rows.txt", "-o", "clips/{stem}.h5")
    ok("filter", "a.wav", "-o", "whole.h5", "--lowpass", "900")
    assert np.array_equal(result("between/a_0002.h5"), result("whole.h5")[2000:3200])
    assert sorted(os.listdir("drawn")) == ["a.png", "a_0001.png", "a_0002.png", "b.png"]


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


if __name__ == "__main__":
    main(globals())
