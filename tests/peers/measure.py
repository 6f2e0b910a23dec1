"""Timing of whole commands: interleaved, shuffled, outputs removed before each run.

Without NumPy on purpose: Linux counts the parent's memory to a child that has just been started, so that the one who
measures has to be small.
"""
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Command:
    """One way to do a job: the words, and the file that they write."""
    name: str
    words: list
    output: Path
    options: dict = field(default_factory=dict)     # for check_equal.py
    seconds: list = field(default_factory=list)
    turns: int = 0                                  # counted runs that it is to have
    peak_rss_bytes: int = 0

    def run(self):
        """Wall-clock seconds of one run; ends the program where the command fails."""
        self.output.unlink(missing_ok=True)
        os.sync()                                   # nobody pays for another's writing
        started = time.perf_counter()
        process = subprocess.Popen([str(w) for w in self.words], stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status != 0:
            sys.exit(f"failed with status {os.waitstatus_to_exitcode(status)}: {shlex.join(map(str, self.words))}")
        self.peak_rss_bytes = max(self.peak_rss_bytes, usage.ru_maxrss * 1024)
        return seconds

    def result(self):
        low, high = min(self.seconds), max(self.seconds)
        return {"name": self.name, "command": shlex.join(map(str, self.words)), "seconds": self.seconds,
                "median_s": statistics.median(self.seconds), "min_s": low, "max_s": high,
                "peak_rss_bytes": self.peak_rss_bytes}


SLOW, SLOW_RUNS = 1.0, 3  # commands of more seconds than that are run so many times at most


def fastest(candidates):
    """The fastest of several ways of one tool, by two runs each; the others are forgotten."""
    if len(candidates) == 1:
        return candidates[0]
    once = {id(command): command.run() for command in candidates}

    def best(command):  # one that was far behind is not asked again
        first = once[id(command)]
        return first if first > 1.5 * min(once.values()) else min(first, command.run())
    return min(candidates, key=best)


def measure(commands, repeat, seed=1):
    """Runs every command `repeat` times after a warm-up, in a new order each time; fills in their seconds."""
    shuffle = random.Random(seed)
    for turn in range(1 + repeat):
        for command in shuffle.sample(commands, len(commands)):
            if turn > 0 and len(command.seconds) == command.turns:
                continue
            seconds = command.run()
            if turn == 0:
                command.turns = min(repeat, SLOW_RUNS) if seconds > SLOW else repeat
            else:
                command.seconds.append(seconds)
    return [command.result() for command in commands]


def check_equal(commands, python):
    """Runs every command once and compares its output with the first one's; ends the program where they differ."""
    checker = Path(__file__).with_name("check_equal.py")
    for command in commands:
        command.run()
        options = [word for item in command.options.items() for word in item]
        if command is not commands[0]:
            status = subprocess.run([python, checker, commands[0].output, command.output, *options], check=False)
            if status.returncode != 0:
                sys.exit(f"{command.name} and {commands[0].name} do not agree")


def own_peak_bytes():
    """What this process itself takes: a smaller peak of a command cannot be told from it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def table(title, results, baseline):
    """Lines of a Markdown table; ratios are times the baseline's median."""
    unit = next((r["median_s"] for r in results if r["name"] == baseline), None)
    lines = [f"### {title}", "", "| command | median s | min to max | "
             + (f"times {baseline} | " if unit else "") + "peak RSS MiB |", "|---|---|---|" + ("---|" if unit else "") + "---|"]
    for r in results:
        ratio = f"{r['median_s'] / unit:.2f} | " if unit else ""
        lines.append(f"| {r['name']} | {r['median_s']:.3f} | {r['min_s']:.3f} to {r['max_s']:.3f} | {ratio}"
                     f"{r['peak_rss_bytes'] / 2**20:.0f} |")
    return lines + [""]
