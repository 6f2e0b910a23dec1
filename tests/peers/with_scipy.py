#!/usr/bin/env python3
"""The job as a whole program in SciPy: reads the file, works in float32 on all CPUs where SciPy can, writes HDF5.

    with_scipy.py filter IN OUT TAPS.txt METHOD     METHOD: oaconvolve, fftconvolve, upfirdn, convolve1d
    with_scipy.py spectrogram IN OUT NFFT HOP
    with_scipy.py conv2d IN OUT KERNEL.npy METHOD   METHOD: convolve2d, fftconvolve, convolve
"""
import os
import sys

import h5py
import numpy as np
import scipy.fft
from scipy import ndimage, signal
from scipy.io import wavfile


def read(path):
    """Samples in float32, the time axis and the rate."""
    if path.endswith(".wav"):
        rate, samples = wavfile.read(path)
        return samples.astype("f4") / np.float32(32768), 0, rate
    with h5py.File(path, "r") as file:
        name = next(iter(file))
        return file[name][...], file[name].ndim - 1, file[name].attrs.get("sampling_rate")


def convolve_along(x, taps, axis, method):
    """As scipy.signal.convolve(..., 'same') along one axis."""
    taps = taps.astype("f4")
    if method == "upfirdn":
        first = (taps.size - 1) // 2
        full = signal.upfirdn(taps, x, axis=axis)
        return full[first:first + x.shape[0]] if axis == 0 else full[:, first:first + x.shape[1]]
    if method == "convolve1d":
        return ndimage.convolve1d(x, taps, axis=axis, mode="constant", origin=-(1 - taps.size % 2))
    shape = [1] * x.ndim
    shape[axis] = taps.size
    return getattr(signal, method)(x, taps.reshape(shape), "same", axes=axis)


def filter_file(x, axis, rate, taps, method):
    return "data", convolve_along(x, np.loadtxt(taps), axis, method)


def spectrogram_file(x, axis, rate, nfft, hop):
    nfft, hop = int(nfft), int(hop)
    *_, image = signal.spectrogram(np.moveaxis(x, axis, -1), rate, "hann", nfft, nfft - hop, detrend=False)
    return "spectrogram", image


def conv2d_file(x, axis, rate, kernel, method):
    kernel = np.load(kernel)
    if method == "convolve":
        return "conv2d", ndimage.convolve(x, kernel, mode="constant")
    return "conv2d", getattr(signal, method)(x, kernel, "same")


def main(job, source, target, *words):
    jobs = {"filter": filter_file, "spectrogram": spectrogram_file, "conv2d": conv2d_file}
    with scipy.fft.set_workers(len(os.sched_getaffinity(0))):
        name, result = jobs[job](*read(source), *words)
    with h5py.File(target, "w") as file:
        file[name] = result


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
