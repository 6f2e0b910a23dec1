// HDF5 outputs as h5py finds them: samples in any order of writing, scales, what travels and what is made
// true. The judge of what travels is that of the cases (tests/cases/run.py).
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "io/format.hpp"
#include "tests/catch.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using convoy::test::Temporary;

namespace {

io::OutputSpec spec_of(const std::string& path, std::vector<Index> dims, int time_axis, double rate = 500) {
    io::OutputSpec spec;
    spec.path = path;
    spec.dataset = "/audio";
    spec.dims = dims;
    spec.time_axis = time_axis;
    spec.shape.outer = std::accumulate(dims.begin(), dims.begin() + time_axis, Index{1}, std::multiplies<>());
    spec.shape.frames = dims[time_axis];
    spec.shape.inner =
        std::accumulate(dims.begin() + time_axis + 1, dims.end(), Index{1}, std::multiplies<>());
    spec.rate = rate;
    for (std::size_t a = 0; a < dims.size(); ++a)
        spec.axes.push_back(static_cast<int>(a) == time_axis ? io::Axis{"time", "s", 0, 1 / rate, {}}
                                                             : io::Axis{"channel", "", 0, 1, {}});
    return spec;
}

/// Sample i of the array, flattened, is i modulo a prime; written in pieces of `piece` frames and `lanes`
/// lanes, the last ones first.
template <class T>
void write_numbers(io::Writer& writer, Shape shape, Index piece, Index lanes) {
    const bool rows = shape.outer > 1;
    const Index all = rows ? shape.outer : shape.inner;
    for (Index lane = (all - 1) / lanes * lanes; lane >= 0; lane -= lanes)
        for (Index first = (shape.frames - 1) / piece * piece; first >= 0; first -= piece) {
            const Index count = std::min(piece, shape.frames - first), some = std::min(lanes, all - lane);
            const Index pitch = rows ? count + 3 : count;
            const Lanes part = rows ? Lanes{lane, some, 0, shape.inner} : Lanes{0, 1, lane, some};
            std::vector<T> x(static_cast<std::size_t>(part.outer_count * pitch * part.inner_count));
            for (Index o = 0; o < part.outer_count; ++o)
                for (Index f = 0; f < count; ++f)
                    for (Index i = 0; i < part.inner_count; ++i)
                        x[(o * pitch + f) * part.inner_count + i] = static_cast<T>(
                            (((part.outer_first + o) * shape.frames + first + f) * shape.inner +
                             part.inner_first + i) %
                            8191);
            writer.write({first, count}, part, reinterpret_cast<const std::byte*>(x.data()), pitch);
        }
}
template <class T>
void make(const io::OutputSpec& spec, Index piece = 1000, Index lanes = 1 << 20) {
    const auto writer = io::create(spec);
    write_numbers<T>(*writer, spec.shape, piece, lanes);
    writer->finish();
}

const std::string numbers = "np.arange(d.size).reshape(d.shape) % 8191";

/// Runs Python with the output open as f and its dataset as d.
void judge(const io::OutputSpec& spec, const std::string& script) {
    test::python("import h5py, numpy as np\nf = h5py.File('" + spec.path + "', 'r')\nd = f['" + spec.dataset +
                 "']\n" + script + "\n");
}

/// A source as a reader describes it, for what travels.
class Described : public io::Reader {
  public:
    explicit Described(const io::Recording& r) { recording_ = r; }
    void read(Span, Lanes, std::byte*, Index) override { throw failed({}, "nothing is read here"); }
};

io::Recording recording_of(const std::string& path, const std::string& dataset, Shape shape, double rate) {
    io::Recording r;
    r.path = path;
    r.dataset = dataset;
    r.format = "hdf5";
    r.shape = shape;
    r.rate = rate;
    return r;
}

/// The judge of the cases, on a case with the fields of `fields` (a Python dictionary).
void judge_travel(const io::OutputSpec& spec, const std::string& source, const std::string& fields,
                  double rate, bool raw = false) {
    judge(
        spec,
        "import sys\nsys.path.insert(0, 'tests/cases')\nimport run\nfrom pathlib import Path\n"
        "s = h5py.File('" +
            source + "', 'r')\npath = '" + spec.dataset +
            "'\n"
            "case = {'operation': 'filter', 'mode': 'same', 'time_axis': " +
            std::to_string(spec.time_axis) + "} | " + fields + "\nrate = " + std::to_string(rate) +
            "\n"
            "run.check_rate(d, case, rate)\nrun.check_provenance(f)\nrun.check_axes(d, s[path], case, rate)\n"
            "run.check_scales(d, s[path], case)\nrun.check_scaling(d, s[path], raw=" +
            (raw ? "True" : "False") +
            ")\n"
            "run.check_travelled(f, s, path, case)\nrun.check_rewritten(f, s, path, case, rate, Path('.'))");
}

}  // namespace

TEST_CASE("samples land in their places, whatever the order, groups and orientation") {
    Temporary folder;
    const auto [dims, time, compression] =
        GENERATE(table<std::vector<Index>, int, std::string>({{{5003}, 0, "none"},
                                                              {{2003, 7}, 0, "none"},
                                                              {{7, 2003}, 1, "none"},
                                                              {{3, 4, 501}, 2, "none"},
                                                              {{501, 4, 5}, 0, "none"},
                                                              {{5003}, 0, "gzip"},
                                                              {{2003, 7}, 0, "gzip:1"},
                                                              {{7, 2003}, 1, "gzip:9"},
                                                              {{3, 4, 501}, 2, "gzip"},
                                                              {{501, 4, 5}, 0, "gzip:0"}}));
    const bool chunks = GENERATE(false, true);
    io::OutputSpec spec = spec_of(folder.file("a.h5"), dims, time);
    spec.compression = compression;
    if (chunks)
        for (const Index n : dims)
            spec.chunks.push_back(n > 100 ? 100 : 3);
    INFO("axes " << dims.size() << ", time " << time << ", " << compression << ", chunks " << chunks);
    make<float>(spec, 300, 3);
    judge(spec, "assert d.dtype == '<f4', d.dtype\nassert np.array_equal(d[...], " + numbers +
                    ")\n"
                    "assert d.attrs['sampling_rate'] == 500 and d.attrs['sampling_rate'].dtype == 'f8'\n"
                    "for a, n in enumerate(d.shape):\n"
                    "    scale = d.dims[a][0]\n"
                    "    assert scale.shape == (n,)\n"
                    "    name = 'time' if a == " +
                    std::to_string(time) +
                    " else 'channel'\n"
                    "    assert d.dims[a].label == name and scale.name.startswith('/' + name), scale.name\n"
                    "    assert np.allclose(scale, np.arange(n) * (1 / 500 if name == 'time' else 1))\n"
                    "assert (d.compression == 'gzip' and d.shuffle) == " +
                    (compression == "none" ? "False" : "True") +
                    "\n"
                    "assert 'version' in f['convoy'].attrs");
    CHECK(folder.names() == std::vector<std::string>{"a.h5"});
}

TEST_CASE("every type is stored as it is, complex numbers as NumPy has them") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {1000, 2}, 0);
    spec.taps = {0.25, 0.5, 0.25};
    spec.provenance = {{"command", "convoy filter a.wav"}, {"version", "9.9"}};
    spec.compression = GENERATE(as<std::string>{}, "none", "gzip");
    spec.type = SampleType::int16;
    spec.scale_factor = 0.5;
    make<std::int16_t>(spec);
    judge(spec, "assert d.dtype == '<i2' and d.attrs['scale_factor'] == 0.5\nassert np.array_equal(d[...], " +
                    numbers +
                    ")\n"
                    "assert np.array_equal(f['convoy/taps'], [0.25, 0.5, 0.25])\n"
                    "assert f['convoy'].attrs['command'] == 'convoy filter a.wav'");
    spec.overwrite = true;
    spec.scale_factor = 0;
    spec.type = SampleType::float64;
    make<double>(spec);
    judge(spec, "assert d.dtype == '<f8' and 'scale_factor' not in d.attrs\nassert np.array_equal(d[...], " +
                    numbers + ")");
    spec.type = SampleType::float32;
    spec.complex = true;
    spec.shape.inner = 4;
    make<float>(spec);
    judge(spec,
          "assert d.dtype == np.complex64 and d.shape == (1000, 2)\n"
          "x = np.arange(4000).reshape(1000, 2, 2) % 8191\nassert np.array_equal(d[...], x[..., 0] + 1j * "
          "x[..., 1])");
}

TEST_CASE("a long time axis of few channels is a length without values") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {3 << 20, 1}, 0);
    make<float>(spec, 1 << 20);
    CHECK(std::filesystem::file_size(spec.path) < (3 << 22) + (1 << 16));
    judge(spec,
          "t = d.dims[0][0]\nassert t.name == '/time' and t.shape == (3 << 20,) and t.id.get_storage_size() "
          "== 0\n"
          "assert t.attrs['step'] == 1 / 500 and t.attrs['first'] == 0");
}

TEST_CASE("what belongs to the signal travels, by the judge of the cases") {
    Temporary folder;
    struct Given {
        std::string name, dataset;
        std::vector<Index> dims;
        int time;
        double rate;
        bool scaled;
        std::string fields;
    };
    const auto given =
        GENERATE(Given{"36-h5-int16-scale-offset", "/velocity", {800, 2}, 0, 500, true, "{}"},
                 Given{"37-h5-nwb-like",
                       "/acquisition/Probe/data",
                       {700, 4},
                       0,
                       500,
                       true,
                       "{'travels': ['/acquisition/Probe/electrodes', '/acquisition/Probe/starting_time']}"},
                 Given{"42-h5-das-channel-by-time",
                       "/Acquisition/Raw[0]/RawData",
                       {24, 400},
                       1,
                       500,
                       false,
                       "{'travels': ['/Acquisition/Raw[0]/RawDataTime']}"},
                 Given{"63-h5-dimension-scales", "/strain_rate", {300, 3}, 0, 250, false, "{}"},
                 Given{"91-h5-start-duration", "/data", {1000, 2}, 0, 500, false, "{}"},
                 Given{"95-h5-epoch-time-stamps",
                       "/epoch_500/data",
                       {3000},
                       0,
                       500,
                       false,
                       "{'rate_tolerance_rel': 1e-6}"},
                 Given{"95-h5-epoch-time-stamps",
                       "/series/data",
                       {3000},
                       0,
                       500,
                       false,
                       "{'travels': ['/series/timestamps']}"},
                 Given{"55-h5-rate-names", "/j", {200}, 0, 1e6, false, "{}"});
    INFO(given.name << " " << given.dataset);
    const std::string source = "tests/cases/" + given.name + "/input.h5";
    io::OutputSpec spec = spec_of(folder.file("a.h5"), given.dims, given.time, given.rate);
    spec.dataset = given.dataset;
    io::Recording r = recording_of(source, given.dataset, spec.shape, given.rate);
    if (given.scaled) r.scaling.gain = {0.5};
    const Described reader(r);
    spec.source = &reader;
    SECTION("all of it") {
        make<float>(spec);
        judge_travel(spec, source, given.fields, given.rate);
        judge(spec, "assert np.array_equal(d[...], " + numbers + ")");
    }
    SECTION("with --raw") {
        spec.raw = true;
        make<float>(spec);
        judge_travel(spec, source, given.fields, given.rate, true);
    }
    SECTION("a part, decimated") {
        io::OutputSpec less = spec_of(spec.path, given.dims, given.time, given.rate / 2);
        less.dims[given.time] = less.shape.frames = 50;
        less.dataset = spec.dataset;
        less.source = spec.source;
        less.time_first = 10;
        less.time_step = 2;
        make<float>(less);
        judge_travel(less, source, "{'decimate': 2, 'part': (10, 100)}", given.rate / 2);
    }
}

TEST_CASE("a PRODML file stays true when it is cut, decimated and thinned out") {
    Temporary folder;
    const std::string source = folder.file("in.h5");
    test::python(
        "import h5py, numpy as np\n"
        "f = h5py.File('" +
        source +
        "', 'w')\n"
        "a = f.create_group('Acquisition')\n"
        "a.attrs.update(dict(NumberOfLoci=np.int32(24), StartLocusIndex=np.int32(100), PulseRate=2000.0, "
        "GaugeLength=10.0,\n"
        "    SpatialSamplingInterval=2.0, uuid=np.bytes_('ab-cd'), "
        "MeasurementStartTime=np.bytes_('2021-01-01T00:00:00.000000+00:00')))\n"
        "r = a.create_group('Raw[0]')\n"
        "r.attrs.update(dict(OutputDataRate=np.float32(500), NumberOfLoci=np.int64(24), "
        "RawDataUnit=np.bytes_('rad')))\n"
        "d = r.create_dataset('RawData', data=np.zeros((24, 400), 'i2'))\n"
        "d.attrs.update(dict(Count=np.int64(24 * 400), StartIndex=np.int64(0), "
        "Dimensions=np.array([b'locus', b'time']),\n"
        "    PartStartTime=np.bytes_('2021-01-01T00:00:00.000000+00:00'), "
        "PartEndTime=np.bytes_('2021-01-01T00:00:00.798000+00:00')))\n"
        "t = r.create_dataset('RawDataTime', data=1609459200000000 + 2000 * np.arange(400))\n"
        "t.attrs.update(dict(Count=np.int64(400), StartTime=np.bytes_('2021-01-01T00:00:00.000000+00:00'),\n"
        "    EndTime=np.bytes_('2021-01-01T00:00:00.798000+00:00')))\n"
        "other = a.create_group('Raw[1]')\nother.create_dataset('RawData', data=np.zeros((24, 400), 'i2'))\n"
        "a.create_dataset('Cable', data=np.arange(5.0))\n"
        "f['again'] = t\nf['Acquisition'].attrs['time_of'] = t.ref\n");
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {4, 100}, 1, 250);
    spec.dataset = "/Acquisition/Raw[0]/RawData";
    io::Recording r = recording_of(source, spec.dataset, {24, 400, 1}, 500);
    r.selected = {2, 4, 6, 8};
    r.start_time = "2021-01-01T00:00:00Z";
    const Described reader(r);
    spec.source = &reader;
    spec.time_first = 50;
    spec.time_step = 2;
    make<float>(spec);
    judge(
        spec,
        "a, r = f['Acquisition'].attrs, f['Acquisition/Raw[0]'].attrs\n"
        "assert a['NumberOfLoci'] == 4 and a['NumberOfLoci'].dtype == 'i4' and r['NumberOfLoci'] == 4\n"
        "assert a['StartLocusIndex'] == 51 and a['SpatialSamplingInterval'] == 4.0  # locus 102, every "
        "second\n"
        "assert a['PulseRate'] == 2000 and a['GaugeLength'] == 10 and a['uuid'] == b'ab-cd'\n"
        "assert r['OutputDataRate'] == 250 and r['OutputDataRate'].dtype == 'f4' and r['RawDataUnit'] == "
        "b'rad'\n"
        "assert d.attrs['Count'] == 400 and d.attrs['StartIndex'] == 25\n"
        "assert d.attrs['PartStartTime'] == b'2021-01-01T00:00:00.100000+00:00', d.attrs['PartStartTime']\n"
        "assert d.attrs['PartEndTime'] == b'2021-01-01T00:00:00.496000+00:00', d.attrs['PartEndTime']\n"
        "assert d.attrs.get_id('PartStartTime').dtype == 'S32'\n"
        "assert list(d.attrs['Dimensions']) == [b'locus', b'time']\n"
        "t = f['Acquisition/Raw[0]/RawDataTime']\n"
        "assert t.dtype == 'i8' and np.array_equal(t, 1609459200000000 + 2000 * (50 + 2 * np.arange(100)))\n"
        "assert t.attrs['Count'] == 100 and t.attrs['EndTime'] == b'2021-01-01T00:00:00.496000+00:00'\n"
        "assert 'Raw[1]' not in f['Acquisition'] and np.array_equal(f['Acquisition/Cable'], np.arange(5.0))\n"
        "assert f['again'] == t and f[f['Acquisition'].attrs['time_of']] == t");
}

TEST_CASE("a result with other axes keeps the attributes of its source") {
    Temporary folder;
    const std::string source = "tests/cases/37-h5-nwb-like/input.h5";
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {4, 9, 30}, 2);
    spec.axes[1].name = "frequency";
    spec.dataset = "/spectrogram";
    spec.signal = false;
    spec.attributes = {{"units", "V^2/Hz"}};
    io::Recording r = recording_of(source, "/acquisition/Probe/data", {1, 700, 4}, 500);
    r.scaling.gain = {2};
    const Described reader(r);
    spec.source = &reader;
    make<float>(spec);
    judge(spec,
          "assert d.attrs['units'] == 'V^2/Hz' and d.attrs['conversion'] == 1 and d.attrs['namespace'] == "
          "'core'\n"
          "assert sorted(f) == ['channel', 'convoy', 'frequency', 'spectrogram', 'time'], list(f)\n"
          "assert f['frequency'] in d.dims[1].values()");
}

TEST_CASE("small chunks, their index and long scales come through the gathering of small writes") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {60000, 2}, 0);
    SECTION("thousands of small chunks") {
        spec.chunks = {8, 2};
    }
    SECTION("scales of more values than are written at once") {
        spec = spec_of(folder.file("a.h5"), {2, 200000}, 0);
        spec.dataset = "/wide";
        for (const std::size_t a : {0, 1}) {
            spec.axes[a].values.resize(static_cast<std::size_t>(spec.dims[a]));
            std::iota(spec.axes[a].values.begin(), spec.axes[a].values.end(), 0.5);
        }
    }
    spec.attributes = {{"long", std::string(50000, 'x')}};  // more than a page
    make<float>(spec, 777);
    judge(spec, "assert (d[...] == " + numbers +
                    ").all()\n"
                    "for axis, n in zip(d.dims, d.shape):\n"
                    "    v = axis[0][...]\n"
                    "    first, step = (0.5, 1) if d.name == '/wide' else (0, 1 / 500 if n == 60000 else 1)\n"
                    "    assert len(v) == n and np.allclose(v, first + step * np.arange(n)), v\n"
                    "assert d.attrs['long'] == 'x' * 50000\n"
                    "assert f.id.get_filesize() == __import__('os').path.getsize(f.filename)");
    CHECK(folder.names() == std::vector<std::string>{"a.h5"});
}

TEST_CASE("after a failure nothing is left, and a full disk is one") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {1 << 20, 4}, 0);
    {
        const auto writer = io::create(spec);
        CHECK_THROWS_WITH(io::create(spec), containing("another run"));
        CHECK_THROWS_WITH(writer->finish(), containing("0 of 4194304"));
    }
    CHECK(folder.names().empty());
    // The system refuses to let files grow beyond a limit, as a full disk does.
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{GENERATE(rlim_t{1 << 10}, rlim_t{64 << 10}), old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    spec.compression = GENERATE(as<std::string>{}, "none", "gzip:1");
    setrlimit(RLIMIT_FSIZE, &small);
    std::string message;
    try {
        make<float>(spec, 100000);
    } catch (const Error& error) {
        message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    CHECK_THAT(message, containing("a.h5"));
    CHECK(folder.names().empty());
}

TEST_CASE("wrong requests about compression and chunks name what is known") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.h5"), {100, 2}, 0);
    spec.compression = "zip";
    CHECK_THROWS_WITH(io::create(spec), containing("gzip:LEVEL"));
    spec.compression = "gzip:12";
    CHECK_THROWS_AS(io::create(spec), Error);
    spec.compression = "none";
    spec.chunks = {10};
    CHECK_THROWS_WITH(io::create(spec), containing("--hdf5-chunks"));
    CHECK(folder.names().empty());
}
