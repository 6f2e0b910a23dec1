// convoy bench: kernels and transfers on synthetic data, against the machine's ceilings.
#include <new>

#include "app/bench_params.hpp"
#include "app/command.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"
#include "pipelines/bench/ceilings.hpp"
#include "pipelines/bench/conv2d.hpp"
#include "pipelines/bench/fir.hpp"
#include "pipelines/bench/fir_report.hpp"
#include "pipelines/bench/stft.hpp"
#include "pipelines/bench/stream.hpp"
#include "pipelines/calibration.hpp"
#include "pipelines/picture.hpp"

namespace convoy::command {

namespace {

namespace bench = pipelines::bench;

std::vector<std::string> words_of(const Params& p, std::string_view name) {
    return p.given(name) ? split(p.text(name), ',') : std::vector<std::string>{};
}

int repeats(const Params& p) {
    const Index n = p.integer("repeat");
    if (n < 1 || n > 100000) throw usage_error("--repeat must be from 1 to 100000");
    return static_cast<int>(n);
}

SampleType type_of(const std::string& name) {
    for (const SampleType t : {SampleType::int16, SampleType::int32, SampleType::float64})
        if (name == name_of(t)) return t;
    return SampleType::float32;
}

// Counts that can be worked on; more than fits into memory is told where it is asked for.
void check_counts(const Params& p, std::string_view name, Index most = Index{1} << 40) {
    for (const Index n : p.integers(name))
        if (n < 1 || n > most)
            throw usage_error(p.spelled(name) + " must be from 1 to " + to_text(most) + ", not " +
                              to_text(n));
}

Index one_count(const Params& p, std::string_view name) {
    check_counts(p, name);
    const std::vector<Index> list = p.integers(name);
    if (list.size() > 1)
        throw usage_error(p.spelled(name) + " '" + p.text(name) + "': bench stft takes one number",
                          "run it once for each");
    return list.front();
}

// Names of strategies that the device has.
template <class Strategies>
void check_strategies(const Strategies& catalog, const std::vector<std::string>& names,
                      const device::Device& device, const std::string& dimensions) {
    std::string there;
    for (const auto* s : catalog)
        if (s->backend == device.backend) there += (there.empty() ? "" : ", ") + std::string(s->name);
    for (const std::string& name : names)
        if (!catalog.find_if([&](const auto& s) { return s.name == name && s.backend == device.backend; }))
            throw usage_error(
                "no " + dimensions + " strategy on " + device.id() + " is called '" + name + "'",
                "choose of " + there);
}

// The fastest memory mode, at the chunk that the program takes by default.
void save_fastest(const device::Device& device, int repeat, app::Table& table) {
    if (device.backend == device::Backend::cpu)
        throw usage_error("--save keeps the fastest memory mode of a GPU, and the work is on the CPU",
                          "leave it out; bench fir --calibrate tunes the CPU");
    bench::StreamBenchOptions o;
    o.device = device;
    o.repeat = repeat;
    o.chunks = {std::size_t{64} << 20};
    const memory::Mode* mode = pipelines::fastest_mode(bench::bench_stream(o));
    if (mode == nullptr) return;
    pipelines::save_fastest_mode(device, *mode);
    table.rows.push_back(
        {"fastest_memory_mode", mode->name, Json(), "saved in " + pipelines::calibration_path()});
}

app::Table ceilings(const Params& p) {
    bench::CeilingOptions o;
    o.device = device::select(p.text("device"));
    o.repeat = repeats(p);
    o.folder = p.text("folder");
    app::Table table{"convoy.ceilings/1", {"figure", "value", "unit", "note"}, {}};
    for (const bench::Figure& f : bench::measure_ceilings(o))
        table.rows.push_back({f.name, f.value, f.unit, f.note.empty() ? Json() : Json(f.note)});
    if (p.flag("save")) save_fastest(o.device, o.repeat, table);
    return table;
}

std::string title_of(const bench::FirBenchOptions& o) {
    std::string title = "1-D strategies on " + o.device.attributes.name + ", " + std::string(name_of(o.in));
    if (o.device.backend == device::Backend::cpu)
        title += ", " + to_text(Index{o.threads}) + (o.threads == 1 ? " thread" : " threads");
    return title;
}

app::Table fir(const Params& p) {
    bench::FirBenchOptions o;
    o.device = device::select(p.text("device"));
    o.repeat = repeats(p);
    o.strategies = words_of(p, "strategy");
    o.taps = p.integers("taps");
    o.samples = p.integers("samples");
    o.channels = p.integers("channels");
    o.interleaved = p.flag("interleaved");
    o.in = type_of(p.text("type"));
    o.decimate = p.integer("decimate");
    if (p.given("threads")) o.threads = static_cast<int>(p.integer("threads"));
    check_strategies(conv1d::catalog(), o.strategies, o.device, "1-D");
    check_counts(p, "taps", Index{1} << 26);
    check_counts(p, "samples");
    check_counts(p, "channels");
    if (p.given("png")) {
        pipelines::check_picture_name(p.text("png"));
        app::check_side_file(p, "png");
    }
    if (p.flag("calibrate")) {
        if (o.device.backend != device::Backend::cpu)
            throw usage_error("--calibrate measures the CPU, and the work is on " + o.device.id(),
                              "add --device cpu");
        pipelines::calibrate_cpu();
    }
    const bool judged = p.given("judge");
    if (judged && (o.device.backend != device::Backend::cpu || o.threads > 1 || o.in != SampleType::float32 ||
                   o.decimate > 1))
        throw usage_error("--judge measures one CPU thread on float32 samples, all outputs kept",
                          "leave out --device, --threads, --type and --decimate");
    bench::FirBench result = bench::bench_fir(o);
    if (judged)
        for (bench::FirRow& row : bench::judge_rows(p.text("judge"), o.taps))
            result.rows.push_back(std::move(row));
    if (p.given("png")) bench::draw_crossover(p.text("png"), result.rows, title_of(o));
    app::Table table{"convoy.bench.fir/1",
                     {"strategy", "taps", "samples", "channels", "type", "median_s", "msamples_per_s",
                      "gflops", "gbytes_per_s", "floor_s", "floor_share", "fma_share", "fma_ceiling_gflops",
                      "copy_ceiling_gbytes_per_s", "auto", "note"},
                     {}};
    for (const bench::FirRow& r : result.rows)
        table.rows.push_back({r.strategy, r.taps, r.samples, r.channels, name_of(r.in), r.seconds,
                              r.msamples_per_s, r.gflops, r.gbytes_per_s, r.floor_s, r.floor_share,
                              r.fma_share, result.fma_gflops, result.copy_gbytes_per_s, r.taken,
                              r.reason.empty() ? Json() : Json(r.reason)});
    return table;
}

app::Table stft(const Params& p) {
    bench::StftBenchOptions o;
    o.device = device::select(p.text("device"));
    o.repeat = repeats(p);
    o.nfft = p.integers("nfft");
    o.samples = one_count(p, "samples");
    if (p.given("channels")) o.channels = one_count(p, "channels");
    if (p.given("threads")) o.threads = static_cast<int>(p.integer("threads"));
    const bench::StftBench result = bench::bench_stft(o);
    app::Table table{"convoy.bench.stft/1",
                     {"nfft", "hop", "samples", "channels", "frames", "median_s", "msamples_per_s",
                      "mframes_per_s", "gbytes_per_s", "floor_s", "floor_share", "copy_ceiling_gbytes_per_s"},
                     {}};
    for (const bench::StftRow& r : result.rows)
        table.rows.push_back({r.nfft, r.hop, r.samples, r.channels, r.frames, r.seconds, r.msamples_per_s,
                              r.mframes_per_s, r.gbytes_per_s, r.floor_s, r.floor_share,
                              result.copy_gbytes_per_s});
    return table;
}

conv2d::Precision precision_of(const std::string& name) {
    for (const auto p : {conv2d::Precision::float64, conv2d::Precision::tf32, conv2d::Precision::bf16})
        if (name == conv2d::name_of(p)) return p;
    return conv2d::Precision::float32;
}

app::Table conv2d_shapes(const Params& p) {
    bench::Conv2dBenchOptions o;
    o.device = device::select(p.text("device"));
    o.repeat = repeats(p);
    o.strategies = words_of(p, "strategy");
    o.precision = precision_of(p.text("precision"));
    o.channels_last = p.text("layout") == "nhwc";
    if (p.given("threads")) o.threads = static_cast<int>(p.integer("threads"));
    if (p.given("shape")) o.shapes.clear();
    for (const std::string& text :
         p.given("shape") ? split(p.text("shape"), ';') : std::vector<std::string>{})
        o.shapes.push_back(bench::parse_conv2d_shape(text));
    check_strategies(conv2d::catalog(), o.strategies, o.device, "2-D");
    if (o.device.backend == device::Backend::cpu &&
        (o.precision == conv2d::Precision::tf32 || o.precision == conv2d::Precision::bf16))
        throw usage_error("--precision " + p.text("precision") + " is of a GPU, and the work is on the CPU",
                          "leave it out");
    const bench::Conv2dBench result = bench::bench_conv2d(o);
    app::Table table{
        "convoy.bench.conv2d/1",
        {"shape", "layout", "strategy", "precision", "gflop", "median_s", "gflops", "bytes_floor_s",
         "fma_floor_s", "floor_share", "fma_ceiling_gflops", "copy_ceiling_gbytes_per_s", "note"},
        {}};
    for (const bench::Conv2dRow& r : result.rows)
        table.rows.push_back({bench::to_text(r.shape), p.text("layout"), r.strategy,
                              conv2d::name_of(o.precision), r.gflop, r.seconds, r.gflops, r.bytes_floor_s,
                              r.fma_floor_s, r.floor_share, result.fma_gflops, result.copy_gbytes_per_s,
                              r.reason.empty() ? Json() : Json(r.reason)});
    return table;
}

app::Table stream(const Params& p) {
    bench::StreamBenchOptions o;
    o.device = device::select(p.text("device"));
    o.repeat = repeats(p);
    o.slots = static_cast<int>(p.integer("slots"));
    if (o.slots < 1 || o.slots > 64) throw usage_error("--slots must be from 1 to 64");
    if (p.given("threads")) o.threads = static_cast<int>(p.integer("threads"));
    for (const std::string& name : words_of(p, "modes"))
        o.modes.push_back(&memory::catalog().at(name));
    o.chunks.clear();
    for (const std::string& text : split(p.text("chunk"), ',')) {
        const auto bytes = parse_bytes(text);
        if (!bytes || *bytes < 1)
            throw usage_error("--chunk '" + text + "' is no number of bytes", "write 64MiB");
        o.chunks.push_back(static_cast<std::size_t>(*bytes));
    }
    const bench::StreamBench result = bench::bench_stream(o);
    app::Table table{
        "convoy.bench.stream/1",
        {"mode", "mechanism", "chunk_bytes", "slots", "with_cpu_gb_per_s", "with_cpu_p10", "with_cpu_p90",
         "without_cpu_gb_per_s", "without_cpu_p10", "without_cpu_p90", "setup_s", "note"},
        {}};
    for (const bench::StreamRow& r : result.rows)
        table.rows.push_back({r.mode, r.mechanism, r.chunk_bytes, r.slots, r.with_cpu.median, r.with_cpu.p10,
                              r.with_cpu.p90, r.without_cpu.median, r.without_cpu.p10, r.without_cpu.p90,
                              r.setup_s.median, r.reason.empty() ? Json() : Json(r.reason)});
    for (const bench::CpuAlone& alone : result.cpu_alone)
        table.rows.push_back({"CPU alone", "", alone.chunk_bytes, o.slots, alone.rate.median, alone.rate.p10,
                              alone.rate.p90, Json(), Json(), Json(), Json(), Json()});
    return table;
}

struct Bench {
    std::string_view name;
    app::Table (*run)(const Params&);
};
constexpr Bench benches[] = {
    {"ceilings", ceilings}, {"fir", fir}, {"conv2d", conv2d_shapes}, {"stft", stft}, {"stream", stream}};

int run(const Call& call) {
    std::string names;
    for (const Bench& b : benches)
        names += (names.empty() ? "" : ", ") + std::string(b.name);
    if (call.inputs.size() != 1)
        throw usage_error("one benchmark is run at a time", "choose one of " + names);
    for (const Bench& b : benches) {
        if (b.name != call.inputs.front()) continue;
        app::check_bench_params(call.params, b.name);
        app::check_listing(call.params);
        app::check_side_file(call.params, "report");
        try {
            const app::Table table = b.run(call.params);
            app::write_report(call.params, to_json(table));
            app::print(table, call.params);
        } catch (const std::bad_alloc&) {
            throw failed({}, "not enough memory for these extents", "choose smaller ones");
        }
        return 0;
    }
    throw usage_error("'" + call.inputs.front() + "' is no benchmark", "choose one of " + names);
}

}  // namespace

extern constinit const Command bench{
    "bench",
    "kernels and transfers on synthetic data, against the machine's ceilings",
    "WHAT",
    "ceilings, stream, fir, conv2d or stft",
    true,
    "convoy bench fir --device cpu --taps 25,127,1023",
    app::bench_groups,
    run};

}  // namespace convoy::command
