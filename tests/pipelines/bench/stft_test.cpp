#include "pipelines/bench/stft.hpp"

#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::pipelines;

TEST_CASE("spectrograms are timed against the floor of the bytes they move") {
    bench::StftBenchOptions o;
    o.device = device::cpu();
    o.nfft = {64, 100};
    o.samples = 5000;
    o.channels = 2;
    o.repeat = 3;
    const bench::StftBench result = bench::bench_stft(o);
    REQUIRE(result.rows.size() == 2);
    CHECK(result.copy_gbytes_per_s > 0);
    const bench::StftRow& row = result.rows[1];
    CHECK(row.hop == 25);
    CHECK(row.frames == 2 * ((5000 - 100) / 25 + 1));
    const double bytes = 4.0 * (2 * 5000 + 51 * static_cast<double>(row.frames));
    CHECK(row.gbytes_per_s * row.seconds * 1e9 == Approx(bytes));
    CHECK(row.floor_share * row.seconds == Approx(row.floor_s));
}
