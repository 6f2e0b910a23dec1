// Samples of HDF5 files: every layout, stored type and selection against h5py.
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/io/hdf5/signal.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using test::case_file;
using test::stored;
using test::Temporary;
using test::Warnings;

namespace {

/// The whole dataset by h5py, complex numbers as pairs.
std::vector<double> by_h5py(const std::string& path, const std::string& dataset) {
    return test::python_numbers("import h5py, numpy as np\nx = h5py.File('" + path + "', 'r')['" + dataset +
                                "'][()]\n"
                                "if np.iscomplexobj(x): x = np.stack([x.real, x.imag], -1)\n");
}

std::vector<double> numbers_of(const std::string& file) {
    const std::string bytes = test::file_bytes(file);
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Frames and lanes of a whole array.
std::vector<double> part(const std::vector<double>& all, const Shape& shape, Span span, Lanes lanes) {
    std::vector<double> out;
    for (Index o = lanes.outer_first; o < lanes.outer_first + lanes.outer_count; ++o)
        for (Index f = span.first; f < span.end(); ++f)
            for (Index i = lanes.inner_first; i < lanes.inner_first + lanes.inner_count; ++i)
                out.push_back(all[static_cast<std::size_t>((o * shape.frames + f) * shape.inner + i)]);
    return out;
}

/// Compares the whole signal and random parts of it, forwards and back.
void check_parts(io::Reader& reader, const std::vector<double>& expected) {
    const Shape shape = reader.recording().shape;
    REQUIRE(shape.samples() == static_cast<Index>(expected.size()));
    REQUIRE(stored(reader) == expected);
    std::mt19937 random(7);
    const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
    for (int i = 0; i < 40; ++i) {
        const Index first = below(shape.frames), outer = below(shape.outer), inner = below(shape.inner);
        const Span span{first, 1 + below(shape.frames - first)};
        const Lanes lanes{outer, 1 + below(shape.outer - outer), inner, 1 + below(shape.inner - inner)};
        REQUIRE(stored(reader, span, lanes) == part(expected, shape, span, lanes));
    }
}

}  // namespace

TEST_CASE("the cases' samples are those that h5py reads") {
    const std::pair<const char*, const char*> cases[] = {
        {"30-h5-gzip-shuffle-unlimited", "/data"},
        {"34-h5-compact-and-contiguous", "/compact"},
        {"34-h5-compact-and-contiguous", "/contiguous"},
        {"35-h5-big-endian", "/data"},
        {"36-h5-int16-scale-offset", "/velocity"},
        {"37-h5-nwb-like", "/acquisition/Probe/data"},
        {"42-h5-das-channel-by-time", "/Acquisition/Raw[0]/RawData"},
        {"48-h5-unwritten-chunks", "/data"},
        {"49-h5-virtual-ok", "/data"},
        {"54-h5-link-cycles", "/g/signal"},
        {"57-h5-userblock", "/data"},
        {"63-h5-dimension-scales", "/strain_rate"},
        {"91-h5-start-duration", "/data"}};
    const Warnings quiet;
    for (const auto& [name, dataset] : cases) {
        INFO(name << ":" << dataset);
        const auto reader = io::open(case_file(name) + ":" + dataset, {});
        CHECK(reader->recording().dataset == dataset);
        check_parts(*reader, by_h5py(case_file(name), dataset));
    }
}

TEST_CASE("raw samples in an external file are found beside the HDF5 file") {
    const auto reader = io::open(case_file("53-h5-external-raw") + ":/data", {});
    const std::vector<double> expected = test::python_numbers(
        "import os, h5py, numpy as np\nback = os.getcwd()\n"
        "os.chdir('tests/cases/53-h5-external-raw')\nx = h5py.File('input.h5', "
        "'r')['data'][()]\nos.chdir(back)\n"
        "assert x.any()\n");
    check_parts(*reader, expected);
}

TEST_CASE("every stored type in every layout, in parts") {
    const Temporary folder;
    const std::string path = folder.file("types.h5");
    const std::string names = test::python(
        "import h5py, numpy as np\n"
        "r = np.random.default_rng(1)\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "kinds = "
        "['<i1','<u1','<i2','>i2','<u2','>u2','<i4','>i4','<u4','>u4','<i8','>i8','<u8','<f2','>f2','<f4','>"
        "f4',\n"
        "         '<f8','>f8','<c8','>c8','<c16']\n"
        "for k in kinds:\n"
        "    t = np.dtype(k)\n"
        "    if t.kind in 'iu':\n"
        "        top = min(np.iinfo(t).max, 2**52)\n"
        "        x = r.integers(max(np.iinfo(t).min, -top), top, (61, 7), endpoint=True).astype(t)\n"
        "    else:\n"
        "        x = r.standard_normal((61, 7)).astype(t) if t.kind == 'f' else (r.standard_normal((61, 7)) "
        "+ 1j * r.standard_normal((61, 7))).astype(t)\n"
        "    ways = {'contiguous': {}, 'chunked': dict(chunks=(16, 3)), 'gzip': dict(chunks=(16, 3), "
        "compression='gzip'),\n"
        "            'shuffle': dict(chunks=(10, 7), compression='gzip', shuffle=True, fletcher32=True),\n"
        "            'sum': dict(chunks=(61, 1), fletcher32=True)}\n"
        "    for w, o in ways.items():\n"
        "        name = ('b' if k[0] == '>' else 'l') + k[1:] + '_' + w\n"
        "        f.create_dataset(name, data=x, **o)\n"
        "        y = np.stack([x.real, x.imag], -1) if t.kind == 'c' else x\n"
        "        y.astype(float).tofile('" +
        folder.path +
        "/' + name)\n"
        "        print(name)\n");
    std::string name;
    int count = 0;
    for (const char c : names) {
        if (c != '\n') {
            name += c;
            continue;
        }
        INFO(name);
        const std::vector<double> expected = numbers_of(folder.file(name));
        for (const int axis : {0, 1}) {
            io::OpenOptions options;
            options.time_axis = axis;
            const auto reader = io::open(path + ":/" + name, options);
            const io::Recording& r = reader->recording();
            CHECK(r.complex == (name[1] == 'c'));
            CHECK(r.wide == (name.find("8_") == 2 || name.find("i4_") == 1 || name.find("u4_") == 1 ||
                             name.find("c16") == 1) -
                                (name.find("c8") == 1));
            check_parts(*reader, expected);
            ++count;
        }
        name.clear();
    }
    CHECK(count == 22 * 5 * 2);
}

TEST_CASE("more than two axes, time in any place, also where a part takes pieces of several axes") {
    const Temporary folder;
    const std::string path = folder.file("axes.h5");
    test::python(
        "import h5py, numpy as np\n"
        "x = np.random.default_rng(2).standard_normal((3, 4, 5, 6)).astype('f4')\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "f['contiguous'] = x\n"
        "f.create_dataset('chunked', data=x, chunks=(2, 3, 2, 4), compression='gzip')\n"
        "f.create_dataset('offset', data=x, chunks=(2, 3, 2, 4), scaleoffset=6)\n"
        "f['complex'] = (x + 2j * x[::-1]).astype('c8')\n");
    for (const std::string name : {"contiguous", "chunked", "offset", "complex"}) {
        const std::vector<double> expected = by_h5py(path, name);
        for (const int axis : {0, 1, 2, 3}) {
            INFO(name << " axis " << axis);
            io::OpenOptions options;
            options.time_axis = axis;
            check_parts(*io::open(path + ":" + name, options), expected);
        }
    }
    CHECK_THAT(test::error_of(path + ":contiguous"), containing("--time-axis"));
}

TEST_CASE("channels come as asked: reordered, repeated, in steps, on either side of time") {
    const Temporary folder;
    const std::string path = folder.file("channels.h5");
    test::python(
        "import h5py, numpy as np\n"
        "x = np.arange(400 * 30).reshape(400, 30).astype('i4')\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "f['time_first'] = x\n"
        "f['time_last'] = x.T\n"
        "f.create_dataset('packed', data=x, chunks=(64, 8), compression='gzip')\n"
        "f['scaled'] = x\n"
        "f['scaled'].attrs['scale_factor'] = np.arange(30.)\n"
        "f['one'] = np.arange(50.)\n");
    for (const std::string name : {"time_first", "time_last", "packed"}) {
        INFO(name);
        io::OpenOptions options;
        options.time_axis = name == "time_last" ? 1 : 0;
        options.channels = "7,3-5,7,10-28:6";
        const auto reader = io::open(path + ":" + name, options);
        const std::vector<Index> wanted = {7, 3, 4, 5, 7, 10, 16, 22, 28};
        CHECK(reader->recording().selected == wanted);
        CHECK(reader->recording().dims[static_cast<std::size_t>(1 - *options.time_axis)] == 9);
        std::vector<double> expected;
        if (name == "time_last")
            for (const Index c : wanted)
                for (Index f = 0; f < 400; ++f)
                    expected.push_back(static_cast<double>(f * 30 + c));
        else
            for (Index f = 0; f < 400; ++f)
                for (const Index c : wanted)
                    expected.push_back(static_cast<double>(f * 30 + c));
        check_parts(*reader, expected);
    }
    const Warnings quiet;
    io::OpenOptions options;
    options.channels = "2,29";
    const auto scaled = io::open(path + ":scaled", options);
    CHECK(scaled->recording().scaling.gain == std::vector<double>{2, 29});
    CHECK(scaled->recording().scaling.offset == std::vector<double>{0, 0});
    options.channels = std::string("30");
    CHECK_THAT(test::error_of(path + ":time_first", options), containing("no channel 30"));
    options.channels = std::string("0");
    CHECK(stored(*io::open(path + ":one", options)).size() == 50);
}

TEST_CASE("special values survive the conversions") {
    const Temporary folder;
    const std::string path = folder.file("special.h5");
    test::python(
        "import h5py, numpy as np\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "f['half'] = np.array([0, -0.0, 5.96e-8, 6.1e-5, 65504, np.inf, -np.inf, 1/3], 'f2')\n"
        "f['nan'] = np.array([np.nan, 1, np.nan], '>f2')\n"
        "f['top'] = np.array([2**63 + 2**40, 2**64 - 1], 'u8')\n"
        "f.create_dataset('unwritten', (100, 3), 'i2', fillvalue=-7)\n"
        "f.create_dataset('filtered', (100, 3), 'i2', fillvalue=-7, chunks=(10, 2), compression='gzip')\n"
        "f['filtered'][35:38] = 1\n");
    CHECK(stored(*io::open(path + ":half", {})) == by_h5py(path, "half"));
    const std::vector<double> with_nan = stored(*io::open(path + ":nan", {}));
    CHECK((std::isnan(with_nan[0]) && with_nan[1] == 1 && std::isnan(with_nan[2])));
    CHECK(stored(*io::open(path + ":top", {})) == by_h5py(path, "top"));
    const Warnings quiet;
    CHECK(stored(*io::open(path + ":unwritten", {})) == by_h5py(path, "unwritten"));
    CHECK(stored(*io::open(path + ":filtered", {})) == by_h5py(path, "filtered"));
}

TEST_CASE("a recording says what it is") {
    const auto reader = io::open(case_file("42-h5-das-channel-by-time") + ":/Acquisition/Raw[0]/RawData", {});
    const io::Recording& r = reader->recording();
    CHECK(r.format == "hdf5");
    CHECK(r.label() == case_file("42-h5-das-channel-by-time") + ":/Acquisition/Raw[0]/RawData");
    CHECK(r.dims == std::vector<Index>{24, 400});
    CHECK(r.shape == Shape{24, 400, 1});
    CHECK(r.time_axis == 1);
    CHECK(r.stored_type == "int16");
    CHECK(r.type == SampleType::int16);
    CHECK_FALSE(r.wide);
    CHECK(r.chunk == std::vector<Index>{8, 100});
    CHECK(r.storage == "chunks of 8 x 100");
    CHECK(io::open(case_file("34-h5-compact-and-contiguous") + ":/compact", {})->recording().storage ==
          "compact, in the header");
    CHECK(r.decoded_chunk_bytes == 1600);
    CHECK(r.file_bytes == 29008);
    CHECK(r.modified.size() >= 20);
    CHECK_FALSE(reader->serial());
    CHECK(io::open(case_file("34-h5-compact-and-contiguous") + ":/compact", {})->serial());
}

TEST_CASE("several threads read at once, by each way to the samples") {
    const Temporary folder;
    const std::string path = folder.file("threads.h5");
    test::python(
        "import h5py, numpy as np\n"
        "x = np.arange(20000 * 6).reshape(20000, 6).astype('i4')\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "f['contiguous'] = x\n"
        "f['swapped'] = x.astype('>i4')\n"
        "f.create_dataset('packed', data=x, chunks=(512, 4), compression='gzip', shuffle=True)\n");
    for (const std::string name : {"contiguous", "swapped", "packed"}) {
        INFO(name);
        io::OpenOptions options;
        options.time_axis = 0;
        const auto reader = io::open(path + ":" + name, options);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                std::mt19937 random(t);
                for (int i = 0; i < 50; ++i) {
                    const Index first = random() % 19000, count = 1 + random() % 1000;
                    const auto got = stored(*reader, {first, count}, {0, 1, 0, 6});
                    for (std::size_t k = 0; k < got.size(); ++k)
                        wrong += got[k] != static_cast<double>(first * 6 + static_cast<Index>(k));
                }
            });
        for (std::thread& t : threads)
            t.join();
        CHECK(wrong == 0);
    }
}

TEST_CASE("a chunk that was damaged is an error, never numbers") {
    const Temporary folder;
    const std::string path = folder.file("damaged.h5");
    test::python(
        "import h5py, numpy as np\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "x = np.random.default_rng(0).integers(0, 99, 4000).astype('i2')\n"
        "f.create_dataset('gzip', data=x, chunks=(1000,), compression='gzip')\n"
        "f.create_dataset('sum', data=x, chunks=(1000,), fletcher32=True)\n"
        "at = [f[n].id.get_chunk_info(2).byte_offset for n in ('gzip', 'sum')]\n"
        "f.close()\n"
        "b = bytearray(open('" +
        path +
        "', 'rb').read())\n"
        "for a in at: b[a + 40] ^= 0xff\n"
        "open('" +
        path + "', 'wb').write(b)\n");
    for (const std::string name : {"gzip", "sum"}) {
        CHECK_THAT(test::error_of(path + ":" + name), containing("a chunk is damaged"));
        CHECK(stored(*io::open(path + ":" + name, {}), {0, 2000}, {}).size() == 2000);
    }
}
