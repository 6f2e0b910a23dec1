#!/usr/bin/env python3
"""The HTML report of a run, opened in a headless browser: it asks nobody for anything, shows its tables, pictures and curves,
and fits the window.

    page_test.py CONVOY

Needs Chromium; exit status 77 where there is none.
"""
import html.parser
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.io.wavfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Told at the end of the page, where a dump of the document holds it.
PROBE = """<script>window.addEventListener('load', () => {
  const e = document.createElement('p'); e.id = 'probe';
  const images = [...document.images].map(i => i.complete && i.naturalWidth > 0 ? 1 : 0).join('');
  const curves = [...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height > 20 ? 1 : 0).join('');
  e.textContent = ['images', images, 'curves', curves, 'wide', document.documentElement.scrollWidth,
                   'rows', document.querySelectorAll('tr').length, 'loaded', performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length].join(' ');
  document.body.appendChild(e); });</script>"""


class Probe(html.parser.HTMLParser):
    text, inside = "", False

    def handle_starttag(self, tag, attrs):
        self.inside = dict(attrs).get("id") == "probe"

    def handle_data(self, data):
        if self.inside:
            self.text += data


def browse(browser, folder, *words):
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile",
                           "--window-size=1200,2000", *words], capture_output=True, timeout=120, cwd=folder)


def png_size(path):
    """Width, height and bytes: a page with nothing on it packs well."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no picture came"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"), len(data)


def look(browser, folder, name):
    """What a page shows once it has been drawn: counts by name."""
    page = (folder / name).read_text()
    assert "</body>" in page
    (folder / "probed.html").write_text(page.replace("</body>", PROBE + "</body>"))
    dumped = browse(browser, folder, "--virtual-time-budget=5000", "--dump-dom", f"file://{folder}/probed.html")
    probe = Probe()
    probe.feed(dumped.stdout.decode())
    words = probe.text.split(" ")
    told = dict(zip(words[::2], words[1::2]))
    assert told, (dumped.stdout[-500:], dumped.stderr[-2000:])
    assert told["curves"] and set(told["curves"]) == {"1"}, told
    assert int(told["wide"]) <= 1200, f"the page is wider than its window: {told}"
    assert int(told["loaded"]) == 0, told
    shot = browse(browser, folder, f"--screenshot={folder}/shot.png", "--hide-scrollbars", f"file://{folder}/{name}")
    assert shot.returncode == 0, shot.stderr[-2000:]
    width, height, size = png_size(folder / "shot.png")
    browse(browser, folder, f"--screenshot={folder}/blank.png", "--hide-scrollbars", "about:blank")
    assert (width, height) == (1200, 2000) and size > 5 * png_size(folder / "blank.png")[2], (width, height, size)
    return told


def main(convoy):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("SKIPPED: the report's page is not opened here: no browser is installed (Debian: chromium)")
        return 77
    with tempfile.TemporaryDirectory(prefix="page-") as temporary:
        folder = Path(temporary)
        random = np.random.default_rng(4)
        for name in "ab":
            scipy.io.wavfile.write(folder / f"{name}.wav", 8000, (random.standard_normal((40000, 2)) * 3000).astype("i2"))
        (folder / "broken.wav").write_bytes(b"nothing")
        (folder / "p.yaml").write_text("inputs: '*.wav'\noutput: out/{stem}.h5\nsteps:\n  - filter: {bandpass: [300, 3000]}\n  - decimate: 2\n")
        done = subprocess.run([convoy, "run", "p.yaml", "--html", "run.html"], cwd=folder, capture_output=True)
        assert done.returncode == 3, done.stderr
        told = look(browser, folder, "run.html")
        assert told["images"] and set(told["images"]) == {"1"} and int(told["rows"]) >= 10, told
        print(f"the page of a run in {Path(browser).name}: {told['rows']} rows, {len(told['images'])} pictures, {len(told['curves'])} curves")
        done = subprocess.run([convoy, "compare", "a.wav", "-o", "null", "--lowpass", "900", "--repeat", "3", "--chunk", "4KiB,16KiB",
                               "--html", "compare.html"], cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr
        told = look(browser, folder, "compare.html")
        assert len(told["curves"]) == 3 and int(told["rows"]) >= 9, told    # one a scope, with a row a chunk size
        print(f"the page of a comparison: {told['rows']} rows, {len(told['curves'])} plots")
    return 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve())))
