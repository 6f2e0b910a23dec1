// Benchmarks are measured on small sizes: that they run, that every figure has a value or a reason, and that
// the statistics are right.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "pipelines/bench/ceilings.hpp"
#include "pipelines/bench/conv2d.hpp"
#include "pipelines/bench/fir_report.hpp"
#include "pipelines/bench/stream.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::pipelines;

TEST_CASE("spreads are medians and percentiles between neighbours, as numpy.percentile") {
    const bench::Spread s = bench::spread_of({4, 1, 3, 2});
    CHECK(std::abs(s.median - 2.5) < 1e-12);
    CHECK(std::abs(s.p10 - 1.3) < 1e-12);
    CHECK(std::abs(s.p90 - 3.7) < 1e-12);
    CHECK(bench::spread_of({7}).p90 == 7);
    CHECK(std::isnan(bench::spread_of({}).median));
}

TEST_CASE("the host's ceilings have values, and the file is gone afterwards") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("convoy-bench-" + std::to_string(std::rand()));
    std::filesystem::create_directory(folder);
    const bench::Figures figures = bench::measure_ceilings({.device = device::cpu(),
                                                            .bytes = (std::size_t{1} << 20) + 5,
                                                            .repeat = 2,
                                                            .folder = folder.string()});
    CHECK(std::filesystem::is_empty(folder));
    std::filesystem::remove(folder);
    for (const bench::Figure& f : figures) {
        CAPTURE(f.name);
        CHECK(f.value > 0);
        CHECK(f.unit == "GB/s");
    }
    for (const char* name :
         {"host_copy_threads_1", "file_read_threads_1", "file_write_threads_1", "host_first_touch"}) {
        CAPTURE(name);
        CHECK(bench::value_of(figures, name) > 0);
    }
    CHECK(std::isnan(bench::value_of(figures, "no_such_figure")));
    CHECK_THROWS_AS(
        bench::measure_ceilings({.device = device::cpu(), .bytes = 4096, .repeat = 1, .folder = "/none"}),
        Error);
}

namespace {

void stream_bench_on(const device::Device& on) {
    const bench::StreamBench result = bench::bench_stream({.device = on,
                                                           .modes = {},
                                                           .chunks = {4099, 65536},
                                                           .slots = 3,
                                                           .total = 1 << 20,
                                                           .repeat = 2,
                                                           .threads = 2,
                                                           .staged = false,
                                                           .work = {}});
    CHECK(result.rows.size() == 2 * memory::catalog().size());
    CHECK(result.cpu_alone.size() == 2);
    for (const bench::StreamRow& row : result.rows) {
        CAPTURE(row.mode, row.chunk_bytes, row.reason);
        CHECK(row.reason.empty() == (row.with_cpu.median > 0));
        CHECK(row.reason.empty() == (row.setup_s.median > 0));
        CHECK((row.with_cpu.p10 <= row.with_cpu.p90) == row.reason.empty());
        if (on.backend == device::Backend::cuda && row.reason.empty())
            CHECK(row.traffic.bytes_h2d >= (1 << 20) / row.chunk_bytes * row.chunk_bytes);
    }
}

}  // namespace

TEST_CASE("the stream bench measures what the CPU has, and says why it has no more") {
    stream_bench_on(device::cpu());
}

namespace {

// A mode that loses the work: what was in the slot comes back.
class LazyRing : public memory::Ring {
  public:
    explicit LazyRing(const memory::RingShape& shape)
        : slots_(static_cast<std::size_t>(shape.slots),
                 {std::vector<std::byte>(shape.in_bytes), std::vector<std::byte>(shape.out_bytes)}) {}
    memory::Slot slot(int index) const override {
        auto& [in, out] = slots_[static_cast<std::size_t>(index)];
        return {in.data(), out.data()};
    }
    void submit(int, std::size_t, std::size_t, const memory::Work&) override {}
    void wait(int) override {}
    Footprint footprint() const override { return {}; }

  private:
    mutable std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> slots_;
};

constexpr memory::Mode lazy{
    "lazy", "CPU", "", [](const device::Device&) { return std::string(); },
    [](const device::Device&, const memory::RingShape& shape) -> std::unique_ptr<memory::Ring> {
        return std::make_unique<LazyRing>(shape);
    }};

}  // namespace

TEST_CASE("the stream bench sees wrong bytes, and ends where the work fails") {
    bench::StreamBenchOptions o{.device = device::cpu(),
                                .modes = {&memory::catalog().at("host")},
                                .chunks = {4096},
                                .slots = 2,
                                .total = 1 << 16,
                                .repeat = 1,
                                .threads = 1,
                                .staged = false,
                                .work = {}};
    CHECK_NOTHROW(bench::bench_stream(o));
    o.modes = {&lazy};
    CHECK_THROWS_WITH(bench::bench_stream(o), containing("wrong bytes"));
    o.modes = {&memory::catalog().at("host")};
    o.work = [](std::size_t) {
        return [](const std::byte*, std::byte*, device::Stream&) { throw failed("", "the work failed"); };
    };
    CHECK_THROWS_WITH(bench::bench_stream(o), containing("the work failed"));
}

TEST_CASE("shapes of convolutions are read as they are written") {
    for (const bench::Conv2dShape& shape : bench::usual_conv2d_shapes())
        CHECK(bench::to_text(bench::parse_conv2d_shape(bench::to_text(shape))) == bench::to_text(shape));
    CHECK(bench::to_text(bench::parse_conv2d_shape("1,2,3,4,5,3,3")) == "1,2,3,4,5,3,3,1,0,1");
    CHECK_THROWS_WITH(bench::parse_conv2d_shape("1,2,3"), containing("no shape of a convolution"));
    CHECK_THROWS_WITH(bench::parse_conv2d_shape("1,2,3,4,5,3,x"), containing("no shape of a convolution"));
}

TEST_CASE("the convolution bench measures auto's strategy, or those named") {
    bench::Conv2dBenchOptions o;
    o.device = device::cpu();
    o.repeat = 1;
    o.shapes = {{1, 2, 20, 200, 4, 3, 3, 1, 1, 1}};
    const bench::Conv2dBench by_auto = bench::bench_conv2d(o);
    REQUIRE(by_auto.rows.size() == 1);
    CHECK(by_auto.rows[0].strategy == "direct");
    CHECK(by_auto.rows[0].seconds > 0);
    CHECK(by_auto.rows[0].gflop == Approx(2e-9 * 18 * 4 * 20 * 200));
    o.strategies = {"reference", "gemm"};
    CHECK(bench::bench_conv2d(o).rows.size() == 2);
}

TEST_CASE("the stream bench measures every mode of a GPU", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    stream_bench_on(device::gpus().front());
}

TEST_CASE("a GPU's ceilings have a value or a reason", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    const bench::Figures figures = bench::gpu_ceilings(
        {.device = device::gpus().front(), .bytes = std::size_t{8} << 20, .repeat = 2, .folder = {}});
    for (const bench::Figure& f : figures) {
        CAPTURE(f.name);
        CHECK((f.value >= 0 || !f.note.empty()));
    }
    CHECK(bench::value_of(figures, "pinned_copy_both") > 0);
    CHECK(bench::value_of(figures, "fma_float32") > 0);
}

namespace {

// A program that says the same whatever it is asked.
std::string program(const std::filesystem::path& folder, const std::string& says) {
    const std::filesystem::path path = folder / "judge";
    std::ofstream(path) << "#!/bin/sh\ncat << 'END'\n" << says << "END\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
}

}  // namespace

TEST_CASE(
    "strategies are measured with their share of the floor, and drawn beside what a judge says of FFTW") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("convoy-fir-" + std::to_string(std::rand()));
    std::filesystem::create_directory(folder);
    bench::FirBench result = bench::bench_fir(
        {.device = device::cpu(), .strategies = {}, .taps = {9, 33}, .samples = {5000}, .repeat = 2});
    REQUIRE(result.rows.size() == 4);
    for (const bench::FirRow& row : result.rows) {
        CHECK(row.seconds > 0);
        CHECK(row.msamples_per_s == Approx(5000 / row.seconds * 1e-6));
        CHECK(row.floor_share > 0);
        CHECK(row.taken == (row.strategy == "direct"));
    }
    const std::string judge =
        program(folder,
                "taps,samples,fft_s,fftw_s,plan\n9,2000000,0.01,0.02,blocks of 64; 8 planar\n"
                "33,2000000,0.01,0.04,blocks of 128; 1 at a time\n");
    const std::vector<bench::FirRow> rows = bench::judge_rows(judge, {9, 33});
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].strategy == "FFTW");
    CHECK(rows[1].taps == 33);
    CHECK(rows[1].msamples_per_s == Approx((2e6 - 32) / 0.04 * 1e-6));
    CHECK(rows[1].reason == "blocks of 128; 1 at a time");
    result.rows.insert(result.rows.end(), rows.begin(), rows.end());
    bench::draw_crossover((folder / "fir.png").string(), result.rows, "title");
    CHECK(std::filesystem::file_size(folder / "fir.png") > 1000);
    CHECK_THROWS_WITH(bench::judge_rows(judge, {9}), containing("before it had measured"));
    CHECK_THROWS_WITH(bench::judge_rows(program(folder, "taps\nnonsense\n"), {9}),
                      containing("how fast FFTW is"));
    CHECK_THROWS_WITH(bench::judge_rows((folder / "none").string(), {9}), containing("cannot be run"));
    CHECK_THROWS_WITH(bench::draw_crossover((folder / "x.png").string(), {}, ""),
                      containing("nothing to draw"));
    std::filesystem::remove_all(folder);
}
