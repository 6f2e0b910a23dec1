// What HDF5 files say about their signals, and what is wrong with some: the cases from 30 on, and files made
// here.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <regex>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/io/hdf5/signal.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using test::case_file;
using test::error_of;
using test::Temporary;
using test::Warnings;

namespace {

std::optional<double> rate_of(const std::string& input) {
    return io::open(input, {})->recording().rate;
}

void names(const std::string& line, std::initializer_list<const char*> patterns) {
    INFO(line);
    CHECK_FALSE(line.empty());
    CHECK(line.find('\n') == std::string::npos);
    for (const char* pattern : patterns) {
        INFO(pattern);
        CHECK(std::regex_search(line, std::regex(pattern, std::regex::icase)));
    }
}

}  // namespace

TEST_CASE("rates come under many names and types") {
    const std::string file = case_file("55-h5-rate-names");
    for (const char* dataset : {"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/i", "/k"}) {
        INFO(dataset);
        CHECK(rate_of(file + ":" + dataset).value() == Approx(500).epsilon(1e-9));
    }
    CHECK(rate_of(file + ":/h").value() == 193.5);
    CHECK(rate_of(file + ":/j").value() == 1e6);
    CHECK(rate_of(file + ":/l/strain/Strain").value() == Approx(4096).epsilon(1e-12));
    CHECK(rate_of(file + ":/m/data").value() == Approx(30000.123).epsilon(1e-12));
    CHECK(rate_of(file + ":/n/data").value() == 250);
    io::OpenOptions options;
    options.rate = 7;
    CHECK(io::open(file + ":/a", options)->recording().rate_source == "--rate");
}

TEST_CASE("NWB, PRODML and dimension scales are understood") {
    const Warnings warnings;
    const auto nwb = io::open(case_file("37-h5-nwb-like"), {});
    CHECK(nwb->recording().dataset == "/acquisition/Probe/data");
    CHECK(nwb->recording().rate.value() == 500);
    CHECK(nwb->recording().time_axis == 0);
    CHECK(nwb->recording().scaling.gain.size() == 4);
    CHECK(nwb->recording().scaling.offset[0] == Approx(1e-4));
    const auto das = io::open(case_file("42-h5-das-channel-by-time"), {});
    CHECK(das->recording().dataset == "/Acquisition/Raw[0]/RawData");
    CHECK(das->recording().rate.value() == 500);
    CHECK(das->recording().rate_source == "attribute OutputDataRate of /Acquisition/Raw[0]");
    CHECK(das->recording().start_time.value() == "2023-11-14T22:13:20Z");
    const auto scales = io::open(case_file("63-h5-dimension-scales"), {});
    CHECK(scales->recording().dataset == "/strain_rate");
    CHECK(scales->recording().rate.value() == Approx(250).epsilon(1e-9));
    CHECK(io::open(case_file("54-h5-link-cycles"), {})->recording().dataset == "/g/signal");
    CHECK(warnings.all.empty());
    const auto scaled = io::open(case_file("36-h5-int16-scale-offset"), {});
    CHECK(scaled->recording().scaling == Scaling{{0.00125}, {-3.5}});
    io::OpenOptions raw;
    raw.raw = true;
    CHECK(io::open(case_file("36-h5-int16-scale-offset"), raw)->recording().scaling.trivial());
}

TEST_CASE("a signal that cannot be had is an error that says why") {
    const Warnings quiet;
    names(error_of(case_file("31-h5-zstd-no-plugin") + ":/data"), {"input.h5", "/data", "32015", "zstd"});
    names(error_of(case_file("45-h5-null-dataspace") + ":/data"), {"input.h5", "/data", "null|no samples"});
    names(error_of(case_file("47-h5-zero-extent") + ":/data"), {"input.h5", "/data", "no samples"});
    names(error_of(case_file("50-h5-virtual-missing-source") + ":/data"), {"input.h5", "/data", "part_1.h5"});
    names(error_of(case_file("52-h5-external-link-dangling") + ":/signal"),
          {"input.h5", "/signal", "gone.h5"});
    names(error_of(case_file("58-h5-truncated") + ":/data"), {"input.h5", "cut short", "14048", "8428"});
    names(error_of(case_file("60-h5-writer-not-closed") + ":/data"),
          {"input.h5", "open for writing", "h5clear"});
    names(error_of(case_file("97-h5-time-axis-ambiguous") + ":/data"), {"input.h5", "/data", "--time-axis"});
    names(error_of(case_file("55-h5-rate-names")), {"several", "/a", "/b"});
    names(error_of(case_file("55-h5-rate-names") + ":/aa"), {"no such dataset", "/a"});
    names(error_of(case_file("54-h5-link-cycles") + ":/a"), {"link"});
    names(error_of("tests/cases/absent.h5:/data"), {"absent.h5", "no such file"});
    names(error_of("tests/cases"), {"is a folder"});
    names(error_of("tests/cases/README.md"), {"not a known .* format"});
    io::OpenOptions options;
    options.time_axis = 1;
    CHECK(io::open(case_file("97-h5-time-axis-ambiguous") + ":/data", options)->recording().shape ==
          Shape{100, 120, 1});
    options.time_axis = 2;
    names(error_of(case_file("97-h5-time-axis-ambiguous") + ":/data", options), {"no axis 2"});
}

TEST_CASE("a file that another program has locked is told from one that is damaged") {
    const Temporary folder;
    const std::string path = folder.file("locked.h5");
    test::copy_file(case_file("57-h5-userblock"), path);
    const int other = ::open(path.c_str(), O_RDWR);
    REQUIRE(::flock(other, LOCK_EX | LOCK_NB) == 0);
    names(error_of(path + ":/data"), {"locked.h5", "another program has it open for writing"});
    ::close(other);
    CHECK(error_of(path + ":/data").empty());
}

TEST_CASE("epoch stamps in float64 give the rate, and no gap") {
    const std::string file = case_file("95-h5-epoch-time-stamps");
    CHECK(rate_of(file + ":/epoch_500/data").value() == Approx(500).epsilon(1e-6));
    CHECK(rate_of(file + ":/epoch_1000/data").value() == Approx(1000).epsilon(1e-6));
    CHECK(rate_of(file + ":/jitter/data").value() == Approx(1000).epsilon(1e-4));
    const auto series = io::open(file + ":/series/data", {});
    CHECK(series->recording().rate.has_value());
    CHECK(series->recording().rate_source == "time stamps in /series/timestamps");
    CHECK(series->recording().start_time.value().substr(0, 16) == "2023-11-14T22:13");
    for (const char* name : {"/epoch_500/data", "/epoch_1000/data", "/jitter/data", "/series/data"})
        CHECK(io::open(file + ":" + name, {})->recording().gaps.empty());
}

TEST_CASE("gaps are found, named, and told from late stamps; an unfinished tail is left out") {
    const Temporary folder;
    const std::string path = folder.file("gaps.h5");
    test::python(
        "import h5py, numpy as np\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "def put(name, t, n=2000, **attrs):\n"
        "    f[name + '/data'] = np.arange(n, dtype='f4')\n"
        "    f[name + '/timestamps'] = t\n"
        "    f[name + '/timestamps'].attrs.update(attrs)\n"
        "t = 1.7e9 + np.arange(2000) / 1000\n"
        "g = t.copy(); g[700:] += 0.5; g[1500:] += 2\n"
        "put('two', g)\n"
        "g = t.copy(); g[700] += 0.004\n"
        "put('late', g)\n"
        "g = t.copy(); g[700:] += 0.001\n"
        "put('one', g)\n"
        "put('ms', (np.arange(2000) * 1000 // 3000 + 1_700_000_000_000).astype('i8'))\n"
        "put('counts', np.arange(2000).astype('i8'))\n"
        "put('ns', (np.arange(2000) * 2_000_000 + 1_700_000_000_123_456_789).astype('i8'))\n"
        "put('since', np.arange(2000) * 0.5, units='milliseconds since 2020-06-15 13:45:00')\n"
        "g = t.copy(); g[1990:] = 0\n"
        "put('tail', g)\n");
    const auto open = [&](const std::string& name, const char* gaps = "split", double tolerance = 1.5) {
        io::OpenOptions options;
        options.gaps = gaps;
        options.gap_tolerance = tolerance;
        return io::open(path + ":/" + name + "/data", options);
    };
    names(error_of(path + ":/two/data"), {"gap of 0\\.5.* s at sample 700", "1 more", "--gaps split"});
    const auto two = open("two");
    REQUIRE(two->recording().gaps.size() == 2);
    CHECK(two->recording().gaps[0].at == 700);
    CHECK(two->recording().gaps[1].at == 1500);
    CHECK(two->recording().gaps[1].seconds == Approx(2).epsilon(1e-5));
    CHECK(two->recording().rate.value() == Approx(1000).epsilon(1e-7));
    CHECK(open("late", "error")->recording().gaps.empty());
    CHECK(open("one", "error")->recording().gaps.empty());
    CHECK(open("one", "split", 0.5)->recording().gaps.size() == 1);
    CHECK(open("ms", "error")->recording().rate.value() == Approx(3000).epsilon(1e-3));
    CHECK_FALSE(open("counts", "error")->recording().rate.has_value());
    CHECK(open("ns", "error")->recording().rate.value() == 500);
    CHECK(open("ns", "error")->recording().start_time.value() == "2023-11-14T22:13:20.123456789Z");
    CHECK(open("since", "error")->recording().rate.value() == 2000);
    CHECK(open("since", "error")->recording().start_time.value() == "2020-06-15T13:45:00Z");
    const Warnings warnings;
    const auto tail = open("tail", "error");
    CHECK(tail->recording().shape.frames == 1990);
    CHECK(tail->recording().dims == std::vector<Index>{1990});
    REQUIRE(warnings.all.size() == 1);
    CHECK_THAT(warnings.all[0], containing("last 10 of 2000"));
    CHECK(test::stored(*tail).size() == 1990);
}

TEST_CASE("the makers of fibre interrogators keep their rates in places of their own") {
    const Temporary folder;
    const std::string path = folder.file("makers.h5");
    test::python(
        "import h5py, numpy as np\n"
        "f = h5py.File('" +
        path +
        "', 'w')\n"
        "x = np.zeros((500, 100), 'f4')\n"
        "d = f.create_dataset('silixa/Acoustic', data=x)\n"
        "d.attrs.update({'SamplingFrequency[Hz]': 1000.0, 'SpatialResolution[m]': 0.25,\n"
        "    'GPSTimeStamp': '15/06/2020 13:45:00.25 (UTC)'})\n"
        "f['ap/DAS'] = x\n"
        "f['ap/ProcessingServer/DataRate'] = 2000.0\n"
        "f['ap/DAQ/RepetitionFrequency'] = 8000.0\n"
        "f['ap/Metadata/Timestamp'] = '2020-06-15T13:45:00.25Z'\n"
        "f['asn/data'] = x\n"
        "f['asn/header/dt'] = 0.004\n"
        "f['asn/header/time'] = 1.7e9\n"
        "f['asn/header/dimensionNames'] = ['time', 'distance']\n"
        "f['febus/Zone1/StrainRate'] = np.zeros((5, 200, 30), 'f4')\n"
        "f['febus/Zone1'].attrs.update({'Spacing': [2.0, 5.0], 'Extent': [0, 29, 0, 199], 'SamplingRate': "
        "250000000})\n"
        "f['terra/data'] = x\n"
        "f['terra/data'].attrs['dt'] = 0.9\n"
        "f['terra/gps_time'] = 1.7e9 + np.arange(500) / 800\n"
        "f['other/deep/data'] = x\n"
        "f['other'].attrs['fs_units'] = 'kHz'\n"
        "f['other'].attrs['fs'] = 2\n"
        "f['other/deep'].attrs['PulseRate'] = 9\n"
        "f['none/data'] = np.zeros(10)\n");
    const auto open = [&](const std::string& name, std::optional<int> axis = {}) {
        io::OpenOptions options;
        options.time_axis = axis;
        return io::open(path + ":/" + name, options);
    };
    const Warnings quiet;
    CHECK(open("silixa/Acoustic")->recording().rate.value() == 1000);
    CHECK(open("silixa/Acoustic")->recording().start_time.value() == "2020-06-15T13:45:00.250Z");
    CHECK(open("ap/DAS")->recording().rate.value() == 2000);
    CHECK(open("ap/DAS")->recording().start_time.value() == "2020-06-15T13:45:00.250Z");
    CHECK(open("asn/data")->recording().rate.value() == 250);
    CHECK(open("asn/data")->recording().start_time.value() == "2023-11-14T22:13:20Z");
    CHECK(open("febus/Zone1/StrainRate", 1)->recording().rate.value() == 200);
    CHECK_THAT(error_of(path + ":/febus/Zone1/StrainRate"), containing("--time-axis"));
    CHECK(open("terra/data")->recording().rate.value() == Approx(800).epsilon(1e-6));
    CHECK(open("other/deep/data")->recording().rate.value() == 2000);
    const auto none = open("none/data");
    CHECK_FALSE(none->recording().rate.has_value());
    CHECK_THAT(none->recording().rate_looked_for, containing("sampling_rate") && containing("/none/data"));
}

TEST_CASE("what is no signal is refused by its kind; sources that are too short are named") {
    const Temporary folder;
    const std::string path = folder.file("kinds.h5");
    test::python(
        "import h5py, numpy as np, os\n"
        "os.chdir('" +
        folder.path +
        "')\n"
        "f = h5py.File('kinds.h5', 'w')\n"
        "f['flags'] = np.ones(50, bool)\n"
        "f['text'] = ['a', 'b']\n"
        "f['refs'] = np.array([f['flags'].ref], h5py.ref_dtype)\n"
        "f['pairs'] = np.zeros(9, [('a', 'f4'), ('b', 'f4')])\n"
        "f['one'] = 3.0\n"
        "f['scale'] = np.zeros((400, 3), 'i2'); f['scale'].attrs['scale_factor'] = [1., 2.]\n"
        "f['group/x'] = np.zeros(50)\n"
        "l = h5py.VirtualLayout((300,), 'f4')\n"
        "h5py.File('short.h5', 'w')['data'] = np.ones(100, 'f4')\n"
        "l[0:200] = h5py.VirtualSource('short.h5', 'data', shape=(200,))\n"
        "f.create_virtual_dataset('virtual', l)\n"
        "l = h5py.VirtualLayout((300,), 'f4')\n"
        "l[0:100] = h5py.VirtualSource('short.h5', 'absent', shape=(100,))\n"
        "f.create_virtual_dataset('absent', l)\n"
        "open('raw.bin', 'wb').write(b'1' * 100)\n"
        "f.create_dataset('external', (200,), 'f4', external=[('raw.bin', 0, h5py.h5f.UNLIMITED)])\n");
    const Warnings quiet;
    names(error_of(path + ":flags"), {"kinds.h5:/flags", "boolean"});
    names(error_of(path + ":text"), {"text"});
    names(error_of(path + ":refs"), {"reference"});
    names(error_of(path + ":pairs"), {"compound"});
    names(error_of(path + ":one"), {"single value"});
    names(error_of(path + ":scale"), {"scale_factor has 2 values for 3 channels", "--raw"});
    names(error_of(path + ":virtual"), {"short.h5:data", "too short"});
    names(error_of(path + ":absent"), {"short.h5:absent", "missing"});
    names(error_of(path + ":external"), {"raw.bin", "100 of 800 bytes"});
    CHECK(io::open(path + ":/group", {})->recording().dataset == "/group/x");
    io::OpenOptions both;
    both.dataset = "/flags";
    names(error_of(path + ":/text", both), {"two datasets"});
}
