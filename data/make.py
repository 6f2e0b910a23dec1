#!/usr/bin/env python3
"""Make the sample recordings in this folder: one a field, with that field's names and the noise that it fights.

    data/make.py [FOLDER]       (this folder if none is given; NumPy and h5py are needed)

Everything is synthetic, from fixed seeds: no recording of anyone's is in here.
"""
import sys
import uuid
import wave
from pathlib import Path

import h5py
import numpy as np

TEXT = h5py.string_dtype()


def coloured(rng, shape, rate, power_of, axis=-1):
    """Gaussian noise whose power density at a frequency (Hz) is proportional to power_of, of standard deviation 1."""
    spectrum = np.fft.rfft(rng.standard_normal(shape), axis=axis)
    frequency = np.fft.rfftfreq(shape[axis] if isinstance(shape, tuple) else shape, 1 / rate)
    frequency[0] = frequency[1]
    weight = np.sqrt(power_of(frequency))
    noise = np.fft.irfft(spectrum * (weight if axis == -1 else weight[:, None]), axis=axis)
    return noise / noise.std()


def bump(t, start, length):
    """A smooth rise and fall over [start, start + length] seconds."""
    inside = (t >= start) & (t <= start + length)
    return np.where(inside, np.sin(np.pi * (t - start) / length) ** 2, 0)


def bird_call(path):
    """A song of rising and falling notes (2.5 to 6 kHz) over wind (below 300 Hz), mains hum and hiss."""
    rate, seconds, rng = 48000, 6, np.random.default_rng(20)
    t = np.arange(rate * seconds) / rate
    song = np.zeros_like(t)
    for start in (0.4, 2.3, 4.2):
        for note in range(7):
            begin, length = start + 0.17 * note, 0.12 + 0.01 * note
            low, high = 2600 + 260 * note, 3400 + 330 * note + 90 * rng.standard_normal()
            at = np.clip((t - begin) / length, 0, 1)
            phase = 2 * np.pi * length * (low * at + (high - low) * (at / 2 - np.sin(2 * np.pi * at) / (4 * np.pi)))
            note_wave = np.sin(phase) + 0.15 * np.sin(2 * phase)
            song += 0.16 * bump(t, begin, length) * note_wave
    wind = coloured(rng, t.size, rate, lambda f: 1 / (1 + (f / 60) ** 4))
    gusts = 1 + 0.6 * np.sin(2 * np.pi * 0.31 * t + 1) * np.sin(2 * np.pi * 0.12 * t)
    hum = np.sin(2 * np.pi * 50 * t) + 0.4 * np.sin(2 * np.pi * 150 * t + 0.7)
    signal = song + 0.14 * gusts * wind + 0.03 * hum + 0.004 * rng.standard_normal(t.size)
    samples = np.clip(np.rint(signal * 32768), -32768, 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


def das_section(path):
    """PRODML: strain rate along 64 loci of a fibre, a small earthquake crossing it, traffic, laser noise, mains."""
    loci, frames, rate, spacing, rng = 64, 2000, 500.0, 8.0, np.random.default_rng(21)
    t, x = np.arange(frames) / rate, np.arange(loci)[:, None] * spacing
    section = 0.3 * coloured(rng, (loci, frames), rate, lambda f: 1 / (1 + (f / 5) ** 2))
    for speed, arrival, frequency, strength in ((3200.0, 1.2, 28.0, 1.0), (1750.0, 1.75, 14.0, 1.8)):
        delay = t - arrival - np.sqrt((x - 200) ** 2 + 900.0 ** 2) / speed + 900.0 / speed
        ripple = np.sin(2 * np.pi * frequency * delay) * np.exp(-6 * np.abs(delay))
        section += strength * np.where(delay > -0.05, ripple, 0)
    car = t - 0.3 - x / 22.0 / 8
    section += 2.5 * np.exp(-(car / 0.25) ** 2) * np.sin(2 * np.pi * 1.5 * car)
    section += 0.4 * coloured(rng, frames, rate, lambda f: 1 / f) + 0.2 * np.sin(2 * np.pi * 50 * t)
    start_us = 1_714_564_800_000_000
    times = start_us + np.rint(np.arange(frames) * 1e6 / rate).astype(np.int64)
    iso = ["2024-05-01T12:00:00.000000Z", "2024-05-01T12:00:03.998000Z"]
    with h5py.File(path, "w") as file:
        acquisition = file.create_group("Acquisition")
        acquisition.attrs.update({
            "schemaVersion": "2.1", "uuid": str(uuid.UUID(int=0x5EC710)), "AcquisitionDescription": "sample section",
            "AcquisitionId": "sample", "NumberOfLoci": np.int32(loci), "StartLocusIndex": np.int32(0),
            "SpatialSamplingInterval": spacing, "SpatialSamplingIntervalUnit": "m", "GaugeLength": 10.0,
            "GaugeLengthUnit": "m", "PulseRate": 4000.0, "PulseRateUnit": "Hz", "PulseWidth": 40.0,
            "PulseWidthUnit": "ns", "MeasurementStartTime": iso[0], "TriggeredMeasurement": "false"})
        raw = acquisition.create_group("Raw[0]")
        raw.attrs.update({"uuid": str(uuid.UUID(int=0x5EC711)), "NumberOfLoci": np.int32(loci),
                          "StartLocusIndex": np.int32(0), "OutputDataRate": rate, "OutputDataRateUnit": "Hz",
                          "RawDescription": "strain rate", "RawDataUnit": "nm/m/s"})
        data = raw.create_dataset("RawData", data=section.astype("f4"))
        data.attrs["Dimensions"] = np.array([b"locus", b"time"])
        part = {"Count": np.int64(frames), "StartIndex": np.int64(0), "PartStartTime": iso[0], "PartEndTime": iso[1]}
        data.attrs.update(part | {"Count": np.int64(section.size)})
        raw.create_dataset("RawDataTime", data=times).attrs.update(part)


def vibration(path):
    """Three accelerometer axes on a bearing with a fault in its outer race, under the hum of the shaft."""
    rate, frames, rng = 25600.0, 32768, np.random.default_rng(22)
    t, shaft, fault = np.arange(frames) / rate, 29.2, 104.6
    axes = np.stack([a * np.sin(2 * np.pi * shaft * t + p) + b * np.sin(4 * np.pi * shaft * t + p)
                     for a, b, p in ((1.2, 0.4, 0.1), (0.9, 0.6, 1.7), (0.3, 0.1, 2.2))], axis=1)
    ringing = np.exp(-900 * t[:600]) * np.sin(2 * np.pi * 4300 * t[:600])
    hits = np.zeros(frames)
    at = np.cumsum(rate / fault * (1 + 0.01 * rng.standard_normal(int(t[-1] * fault)))).astype(int)
    hits[at[at < frames]] = 1 + 0.3 * rng.standard_normal(np.count_nonzero(at < frames))
    hits = np.convolve(hits, ringing)[:frames]
    axes += hits[:, None] * np.array([0.8, 1.0, 0.4]) + 0.12 * rng.standard_normal(axes.shape)
    with h5py.File(path, "w") as file:
        group = file.create_group("machine/bearing_2")
        data = group.create_dataset("acceleration", data=axes.astype("f4"), chunks=(4096, 3), compression="gzip",
                                    shuffle=True)
        data.attrs.update({"sampling_rate": rate, "units": "m/s^2", "sensor": "triaxial accelerometer"})
        group.attrs.update({"shaft_speed_rpm": 60 * shaft, "start_time": "2024-03-11T08:15:00Z"})
        scale = group.create_dataset("axis", data=np.array(["x", "y", "z"], dtype=object), dtype=TEXT)
        scale.make_scale("axis")
        data.dims[0].label, data.dims[1].label = "time", "axis"
        data.dims[1].attach_scale(scale)


def neural(path):
    """NWB's layout: spikes of a few cells on 16 contacts of a probe, over slow field potentials, in int16."""
    rate, frames, contacts, rng = 30000.0, 18000, 16, np.random.default_rng(23)
    field = coloured(rng, frames, rate, lambda f: 1 / (1 + (f / 12) ** 2))
    volts = 180e-6 * field[:, None] * np.linspace(1, 0.4, contacts) + 9e-6 * rng.standard_normal((frames, contacts))
    t = np.arange(48) / rate
    spike = -np.exp(-((t - 0.5e-3) / 0.12e-3) ** 2) + 0.4 * np.exp(-((t - 0.9e-3) / 0.3e-3) ** 2)
    for depth, amplitude, per_second in ((2.2, 140e-6, 35), (7.5, 90e-6, 60), (12.1, 170e-6, 18)):
        reach = np.exp(-np.abs(np.arange(contacts) - depth) / 1.4)
        for start in rng.integers(0, frames - t.size, int(per_second * frames / rate)):
            volts[start:start + t.size] += amplitude * spike[:, None] * reach
    conversion = 1.95e-7
    with h5py.File(path, "w") as file:
        file.attrs.update({"namespace": "core", "neurodata_type": "NWBFile", "nwb_version": "2.6.0"})
        file.create_dataset("session_start_time", data="2024-02-20T14:05:00+00:00", dtype=TEXT)
        file.create_dataset("session_description", data="synthetic sample", dtype=TEXT)
        series = file.create_group("acquisition/ElectricalSeries")
        series.attrs.update({"namespace": "core", "neurodata_type": "ElectricalSeries",
                             "description": "16 contacts, wide band", "comments": "no comments"})
        data = series.create_dataset("data", data=np.rint(volts / conversion).astype("i2"))
        data.attrs.update({"conversion": np.float32(conversion), "offset": np.float32(0), "resolution": -1.0,
                           "unit": "volts"})
        start = series.create_dataset("starting_time", data=0.0)
        start.attrs.update({"rate": np.float32(rate), "unit": "seconds"})
        series.create_dataset("electrodes", data=np.arange(contacts, dtype="i4"))


def strain(path):
    """GWOSC's layout: a compact binary's chirp in detector noise, with the power line and its harmonics."""
    rate, seconds, rng = 4096, 16, np.random.default_rng(24)
    t = np.arange(rate * seconds) / rate
    noise = coloured(rng, t.size, rate, lambda f: (40 / np.maximum(f, 10)) ** 8 + 1 + (f / 250) ** 2)
    lines = sum(0.6 / n * np.sin(2 * np.pi * 60 * n * t + n) for n in (1, 2, 3))
    left = np.maximum(11.0 - t, 1.5e-3)                     # seconds to coalescence
    frequency = np.minimum(38 * (left / 0.9) ** -0.375, 280)
    chirp = np.where((t < 11.0) & (t > 9.6), np.sin(2 * np.pi * np.cumsum(frequency) / rate), 0)
    amplitude = 0.06 * (frequency / 38) ** (2 / 3)
    samples = 4e-21 * (noise + 0.05 * lines + amplitude * chirp)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("strain/Strain", data=samples)
        start = 1_398_556_818
        data.attrs.update({"Npoints": np.int64(t.size), "Xlabel": "GPS time", "Xunits": "second", "Xstart": start,
                           "Xspacing": 1 / rate, "Ylabel": "Strain", "Yunits": ""})
        meta = file.create_group("meta")
        for name, value in (("Description", "Synthetic strain in the layout of GWOSC files"), ("Detector", "X1"),
                            ("Observatory", "none"), ("UTCstart", "2024-05-01T00:00:00"), ("Type", "StrainTimeSeries")):
            meta.create_dataset(name, data=value, dtype=TEXT)
        meta.create_dataset("GPSstart", data=start)
        meta.create_dataset("Duration", data=seconds)


SAMPLES = {"bird_call.wav": bird_call, "das_section.h5": das_section, "vibration.h5": vibration,
           "neural.nwb": neural, "strain.h5": strain}


def main(folder):
    for name, make in SAMPLES.items():
        make(folder / name)
        print(f"{folder / name}: {(folder / name).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
