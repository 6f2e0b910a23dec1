#!/usr/bin/env python3
"""convoy compare: a pipeline and a filter under every memory mode, and what is refused.

    compare_test.py CONVOY [NAME OF A TEST ...]
"""
import csv
import io
import json
import os

from runner import convoy, main, noise, ok, refused, script, wav


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


def test_requests_that_make_no_sense():
    wav("x.wav", noise(100))
    script("p.yaml", "inputs: x.wav\noutput: y.h5\nsteps: [gain: 1]\n")
    job = ["compare", "x.wav", "-o", "null", "--lowpass", 100]
    refused(2, "disk", *job, "--scope", "file,disk")
    refused(2, "--lowpass", "compare", "p.yaml", "--lowpass", 100)
    refused(2, "pinnt", *job, "--modes", "pinnt")
    refused(2, ["--memory", "--modes"], *job, "--memory", "host")
    refused(2, "--explain", *job, "--explain")
    refused(2, "--resume", *job, "--resume")
    refused(2, "--set", *job, "--set", "steps.0.gain=3")
    refused(2, "one input", *job, "x.wav")
    refused(1, "nowhere", "compare", "x.wav", "-o", "nowhere/y.h5", "--lowpass", 100)


def test_the_format_of_the_result_is_the_users():
    wav("x.wav", noise(5000))
    for name in ("y.wav", "y.h5", "y"):
        bits = ["--bits", 16] if name.endswith("wav") else []
        ok("compare", "x.wav", "-o", name, "--lowpass", 100, "--repeat", 1, "--warmup", 0, "--modes", "host", *bits)
    refused(2, [".mp3", ".wav"], "compare", "x.wav", "-o", "y.mp3", "--lowpass", 100, "--repeat", 1, "--warmup", 0)
    assert os.listdir(".") == ["x.wav"]


if __name__ == "__main__":
    main(globals())
