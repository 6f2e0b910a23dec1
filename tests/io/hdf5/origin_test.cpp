// Where time begins: parts of longer recordings keep the place that their scale gives them, and what
// describes the source around them is made true or renamed.
#include "io/format.hpp"
#include "tests/catch.hpp"
#include "tests/io/hdf5/signal.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using test::Temporary;
using test::Warnings;

namespace {

void write_zeros(const io::OutputSpec& spec) {
    const auto writer = io::create(spec);
    const std::vector<float> zeros(static_cast<std::size_t>(spec.shape.samples()));
    writer->write({0, spec.shape.frames}, Lanes::all(spec.shape),
                  reinterpret_cast<const std::byte*>(zeros.data()), spec.shape.frames);
    writer->finish();
}

/// A copy of `source`'s frames from `first` on, of zeros: every `step`-th of them.
void copy_part(const io::Reader& source, const std::string& path, Index first, Index frames, Index step = 1) {
    const io::Recording& r = source.recording();
    io::OutputSpec spec;
    spec.path = path;
    spec.dataset = r.dataset;
    spec.dims = r.dims;
    spec.time_axis = r.time_axis;
    spec.shape = r.shape;
    spec.dims[static_cast<std::size_t>(r.time_axis)] = spec.shape.frames = frames;
    spec.rate = *r.rate / static_cast<double>(step);
    spec.source = &source;
    spec.time_first = first;
    spec.time_step = step;
    const double interval = 1 / *r.rate;
    for (std::size_t a = 0; a < r.dims.size(); ++a)
        spec.axes.push_back({"channel", "", 0, 1, {}});
    spec.axes[static_cast<std::size_t>(r.time_axis)] = {"time",
                                                        "s",
                                                        r.time_first + static_cast<double>(first) * interval,
                                                        static_cast<double>(step) * interval,
                                                        {}};
    write_zeros(spec);
}

void judge(const std::string& path, const std::string& script) {
    test::python("import h5py, numpy as np\nf = h5py.File('" + path + "', 'r')\n" + script + "\n");
}

}  // namespace

TEST_CASE("a part that is read again begins where its scale says") {
    const Temporary folder;
    const std::string whole = folder.file("whole.h5"), part = folder.file("part.h5"),
                      less = folder.file("less.h5");
    const bool scaled = GENERATE(false, true);
    test::python("import h5py, numpy as np\nf = h5py.File('" + whole +
                 "', 'w')\n"
                 "d = f.create_dataset('data', data=np.zeros((4000, 2), 'f4'))\n"
                 "d.attrs.update(dict(sampling_rate=500.0, start_time='2020-06-15T12:00:00Z'))\n"
                 "d.dims[0].label = 'time'\n" +
                 (scaled ? "f['t'] = np.arange(4000) * 2.0\nf['t'].attrs['units'] = 'ms'\n"
                           "f['t'].make_scale('time')\nd.dims[0].attach_scale(f['t'])\n"
                         : ""));
    copy_part(*io::open(whole, {}), part, 1000, 2000);
    const auto again = io::open(part, {});
    CHECK(again->recording().time_first == Approx(2).epsilon(1e-12));
    CHECK(again->recording().start_time.value() == "2020-06-15T12:00:02Z");
    copy_part(*again, less, 500, 100, 2);
    const auto third = io::open(less, {});
    CHECK(third->recording().time_first == Approx(3).epsilon(1e-12));
    CHECK(third->recording().start_time.value() == "2020-06-15T12:00:03Z");
    CHECK(third->recording().rate.value() == 250);
    judge(less,
          "d = f['data']\nassert d.attrs['start_time'] == '2020-06-15T12:00:00Z'\n"
          "t = d.dims[0][0]\nassert np.allclose(t, (3 + np.arange(100) / 250) * " +
              std::string(scaled ? "1000" : "1") + ")");
}

TEST_CASE("the origin of a long scale without values is kept, and its values come back where they fit") {
    const Temporary folder;
    const std::string whole = folder.file("whole.h5"), part = folder.file("part.h5"),
                      less = folder.file("less.h5");
    test::python("import h5py, numpy as np\nf = h5py.File('" + whole +
                 "', 'w')\nd = f.create_dataset('data', (3 << 20,), 'f4')\n"
                 "d.attrs['sampling_rate'] = 1000.0\nd.attrs['t0'] = '2020-06-15 12:00:00'\n");
    copy_part(*io::open(whole, {}), part, 10000, 2 << 20);
    judge(part,
          "d = f['data']\nassert d.dims[0][0].id.get_storage_size() == 0\n"
          "assert d.attrs['t0'] == '2020-06-15 12:00:10' and d.attrs['start_time'] == '2020-06-15T12:00:00'");
    const auto again = io::open(part, {});
    CHECK(again->recording().time_first == 10);
    CHECK(again->recording().start_time.value() == "2020-06-15T12:00:10");
    copy_part(*again, less, 1000, 100);
    judge(less,
          "assert np.allclose(f['data'].dims[0][0], 11 + np.arange(100) / 1000)\n"
          "assert 'first' not in f['time'].attrs");
    CHECK(io::open(less, {})->recording().start_time.value() == "2020-06-15T12:00:11");
}

TEST_CASE("a scale that counts from a date, in samples or without a unit is no origin, or one of its kind") {
    const Temporary folder;
    const std::string path = folder.file("a.h5");
    test::python("import h5py, numpy as np\nf = h5py.File('" + path +
                 "', 'w')\n"
                 "def put(name, t, units=None, **about):\n"
                 "    d = f.create_dataset(name + '/data', data=np.zeros(len(t), 'f4'))\n"
                 "    d.attrs.update(about)\n"
                 "    s = f.create_dataset(name + '/time', data=t)\n"
                 "    s.make_scale('time')\n    d.dims[0].attach_scale(s)\n"
                 "    if units: s.attrs['units'] = units\n"
                 "n = np.arange(1000)\n"
                 "put('epoch', 1.7e9 + n / 500)\n"
                 "put('since', 5 + n / 500, 'seconds since 2020-06-15 12:00:00', start_time='1999-01-01')\n"
                 "put('sample', 200 + n, 'sample', fs=100.0)\n"
                 "put('counts', 200 + n, 'sample')\n"
                 "put('one', np.array([7.5]), 's', fs=100.0, start_time='2020-06-15T12:00:00')\n"
                 "put('negative', -0.5 + n / 500, 's', start_time='2020-06-15T12:00:00Z')\n");
    const auto at = [&](const std::string& name) { return io::open(path + ":/" + name + "/data", {}); };
    CHECK(at("epoch")->recording().time_first == 0);
    CHECK(at("epoch")->recording().start_time.value() == "2023-11-14T22:13:20Z");
    CHECK(at("since")->recording().time_first == 0);
    CHECK(at("since")->recording().start_time.value() == "2020-06-15T12:00:05Z");
    CHECK(at("sample")->recording().time_first == 2);
    CHECK(at("counts")->recording().time_first == 200);
    CHECK_FALSE(at("counts")->recording().rate);
    CHECK(at("one")->recording().time_first == 7.5);
    CHECK(at("one")->recording().start_time.value() == "2020-06-15T12:00:07.500");
    CHECK(at("negative")->recording().start_time.value() == "2020-06-15T11:59:59.500Z");
}

TEST_CASE("an image read as a signal has the rate of its columns") {
    const Temporary folder;
    const std::string path = folder.file("image.h5");
    test::python("import h5py, numpy as np\nf = h5py.File('" + path +
                 "', 'w')\nd = f.create_dataset('spectrogram', data=np.zeros((5, 400), 'f4'))\n"
                 "d.attrs['sampling_rate'] = 1000.0\n"
                 "f['frequency'] = np.arange(5.0)\nf['time'] = 0.032 + 0.016 * np.arange(400)\n"
                 "f['time'].attrs['units'] = 's'\n"
                 "for a, n in enumerate(('frequency', 'time')):\n"
                 "    f[n].make_scale(n)\n    d.dims[a].attach_scale(f[n])\n");
    const Warnings warnings;
    CHECK(io::open(path + ":/spectrogram", {})->recording().rate.value() == 62.5);
    io::OpenOptions image;
    image.image = true;
    CHECK(io::open(path + ":/spectrogram", image)->recording().rate.value() == 1000);
    CHECK(warnings.all.empty());
}

TEST_CASE("strain of a detector stays true when it is cut, or says what is no longer so") {
    const Temporary folder;
    const std::string source = folder.file("strain.h5");
    test::python(
        "import h5py, numpy as np\nf = h5py.File('" + source +
        "', 'w')\nd = f.create_dataset('strain/Strain', data=np.zeros(64 * 32))\n"
        "d.attrs.update(dict(Xstart=np.int32(1126259446), Xspacing=1 / 64, Npoints=np.int16(64 * 32)))\n"
        "f['meta/GPSstart'] = np.int64(1126259446)\nf['meta/Duration'] = np.int32(32)\n"
        "f['meta/UTCstart'] = '2015-09-14T09:50:29'\nf['meta/Detector'] = 'H1'\n"
        "f['meta/SampleRate'] = np.float32(64)\nf['meta/fs'] = 77.0\n"
        "f['meta'].attrs['endtime'] = '2015-09-14T09:51:01'\n"
        "f['quality/simple/DQmask'] = np.ones(32, 'i4')\n"
        "f['quality/injections/Injmask'] = np.ones(32, 'i4')\n");
    const std::string part = folder.file("part.h5");
    const auto whole = io::open(source, {});  // masks of quality are no signals
    CHECK(whole->recording().dataset == "/strain/Strain");
    CHECK(whole->recording().start_time.value() == "2015-09-14T09:50:29Z");
    SECTION("by whole seconds") {
        copy_part(*whole, part, 128, 640, 2);
        judge(part,
              "d, m = f['strain/Strain'], f['meta']\n"
              "assert d.attrs['Xstart'] == 1126259448 and d.attrs['Xstart'].dtype == 'i4'\n"
              "assert d.attrs['Npoints'] == 640 and d.attrs['Npoints'].dtype == 'i2' and d.attrs['Xspacing'] "
              "== 1 / 32\n"
              "assert m['GPSstart'][()] == 1126259448 and m['GPSstart'].dtype == 'i8'\n"
              "assert m['Duration'][()] == 20 and m['Duration'].dtype == 'i4', m['Duration'][()]\n"
              "assert m['UTCstart'][()] == b'2015-09-14T09:50:31'\n"
              "assert m.attrs['endtime'] == '2015-09-14T09:50:51', m.attrs['endtime']\n"
              "assert m['SampleRate'][()] == 32 and m['SampleRate'].dtype == 'f4'\n"
              "assert m['fs'][()] == 77 and m['Detector'][()] == b'H1' and f['quality/simple/DQmask'].shape "
              "== (32,)");
        CHECK(io::open(part + ":/strain/Strain", {})->recording().start_time.value() ==
              "2015-09-14T09:50:31Z");
    }
    SECTION("within a second") {
        copy_part(*whole, part, 96, 208);
        judge(part,
              "d, m = f['strain/Strain'], f['meta']\n"
              "assert 'Xstart' not in d.attrs and d.attrs['source_Xstart'] == 1126259446\n"
              "assert 'GPSstart' not in m and m['source_GPSstart'][()] == 1126259446\n"
              "assert 'Duration' not in m and m['source_Duration'][()] == 32\n"
              "assert m['UTCstart'][()] == b'2015-09-14T09:50:30.500', m['UTCstart'][()]\n"
              "assert m['SampleRate'][()] == 64\n"
              "assert d.attrs['start_time'] == '2015-09-14T09:50:29Z'");
        CHECK(io::open(part + ":/strain/Strain", {})->recording().start_time.value() ==
              "2015-09-14T09:50:30.500Z");
    }
}

TEST_CASE("a count beyond what its type holds is renamed, never stored as the nearest") {
    const Temporary folder;
    const std::string source = folder.file("a.h5"), part = folder.file("part.h5");
    test::python(
        "import h5py, numpy as np\nf = h5py.File('" + source +
        "', 'w')\nd = f.create_dataset('data', data=np.zeros(2000, 'f4'))\n"
        "d.attrs['fs'] = np.uint8(250)\nd.attrs['dt_ms'] = np.int8(4)\nf['samplerate'] = np.uint8(250)\n");
    const auto whole = io::open(source + ":/data", {});
    io::OutputSpec spec;
    spec.path = part;
    spec.dataset = "/data";
    spec.dims = {4000};
    spec.shape = {1, 4000, 1};
    spec.rate = 500;
    spec.time_up = 2;
    spec.axes = {{"time", "s", 0, 1 / 500.0, {}}};
    spec.source = whole.get();
    write_zeros(spec);
    judge(part,
          "a = f['data'].attrs\nassert 'fs' not in a and a['source_fs'] == 250 and a['dt_ms'] == 2\n"
          "assert f['source_samplerate'][()] == 250 and 'samplerate' not in f and a['sampling_rate'] == 500");
}
