#!/usr/bin/env python3
"""Make an input of the comparisons: noise, in blocks, so that any size fits into little memory.

    make_input.py wav FILE SECONDS CHANNELS                 16-bit WAV at 48 kHz
    make_input.py hdf5 FILE CHANNELS FRAMES                 /data, channel x time, float32, uncompressed, 1 kHz
    make_input.py image FILE ROWS COLUMNS                   /image, float32
    make_input.py taps FILE.txt FILE.wav COUNT CHANNELS     a low-pass at a fifth of the Nyquist frequency
    make_input.py kernel FILE.npy ROWS COLUMNS
"""
import sys
import wave

import h5py
import numpy as np
from scipy.io import wavfile
from scipy.signal import firwin

BLOCK = 1 << 20


def noise(rng, count):
    return 0.1 * rng.standard_normal(count, dtype="f4")


def make_wav(rng, path, seconds, channels):
    with wave.open(path, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(48000)
        for _ in range(seconds):
            values = np.clip(noise(rng, 48000 * channels) * 32768, -32767, 32767)
            file.writeframes(values.astype("<i2").tobytes())


def make_hdf5(rng, path, channels, frames):
    block = noise(rng, min(BLOCK, frames))
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", (channels, frames), "f4")
        data.attrs["sampling_rate"] = 1000.0
        data.dims[0].label, data.dims[1].label = "channel", "time"
        for channel in range(channels):
            for start in range(0, frames, block.size):
                part = np.roll(block, channel + start // block.size)[:frames - start]
                data[channel, start:start + part.size] = part


def make_image(rng, path, rows, columns):
    with h5py.File(path, "w") as file:
        file["image"] = noise(rng, rows * columns).reshape(rows, columns)


def make_taps(rng, text, audio, count, channels):
    taps = firwin(count, 0.2)
    np.savetxt(text, taps, fmt="%.17g")
    wavfile.write(audio, 48000, np.repeat(taps.astype("f4")[:, None], channels, axis=1))


def make_kernel(rng, path, rows, columns):
    np.save(path, noise(rng, rows * columns).reshape(rows, columns))


def main(kind, *words):
    makers = {"wav": make_wav, "hdf5": make_hdf5, "image": make_image, "taps": make_taps, "kernel": make_kernel}
    makers[kind](np.random.default_rng(1), *(int(w) if w.isdigit() else w for w in words))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
