#!/usr/bin/env python3
"""Run the cases below tests/cases and compare what fails with what is known to fail.

    cases_test.py CONVOY_BINARY CASES_FOLDER [OPTION OF run.py ...]

cases/expected_failures.json holds the cases that wait for later work, by name, each with the reason. Every other case
has to pass. One that is listed and passes fails the test (take it off the list), and a crash, a hang or a report of a
sanitizer is never expected.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

NEVER_EXPECTED = {"CRASH", "HANG", "TRACEBACK", "SANITIZER"}


def run_cases(convoy, folder, options):
    """The result and the reason of each case, by name."""
    with tempfile.TemporaryDirectory(prefix="cases-test-") as temporary:
        results = Path(temporary) / "results.json"
        words = [sys.executable, str(folder / "run.py"), convoy, str(folder), "--json", str(results), *options]
        status = subprocess.run(words, check=False).returncode
        if not results.exists():
            sys.exit(f"run.py ended with status {status} before it had results")
        return {r["name"]: (r["result"], r["reason"]) for r in json.loads(results.read_text())}


def complaints(results, expected, whole):
    """What is not as the list says, a line each; `whole` when every case was run."""
    for name, (result, reason) in results.items():
        if result == "ok" and name in expected:
            yield f"{name} passes: take it off expected_failures.json ({expected[name]})"
        elif result in NEVER_EXPECTED or (result != "ok" and name not in expected):
            yield f"{name}: {result} {reason}"
    for name in sorted(expected.keys() - results.keys()) if whole else []:
        yield f"{name} is in expected_failures.json and is no case"


def main(convoy, folder, *options):
    folder = Path(folder)
    expected = json.loads((folder / "expected_failures.json").read_text())
    results = run_cases(convoy, folder, options)
    wrong = list(complaints(results, expected, whole="--only" not in options))
    print(f"\n{len(results)} cases, {sum(name in expected for name in results)} of them expected to fail")
    print("\n".join(["Not as expected:", *wrong] if wrong else ["All as expected"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
