#include "pipelines/bench/stream.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/base/error.hpp"
#include "core/device/copy.hpp"
#include "pipelines/bench/feed.hpp"

namespace convoy::pipelines::bench {

namespace {

// One mode while it is measured.
struct Series {
    const memory::Mode* mode;
    StreamRow row;
    std::vector<double> with_cpu, without_cpu, setup_s;
};

memory::Work copying(const device::Device& on, std::size_t bytes) {
    return [on, bytes](const std::byte* in, std::byte* out, device::Stream& stream) {
        device::copy_bytes(on, in, out, bytes, std::byte{0}, stream);
    };
}

class Measurement {
  public:
    Measurement(const StreamBenchOptions& o, std::size_t chunk)
        : o_(o),
          feed_{o.slots, chunk, std::max<std::size_t>(static_cast<std::size_t>(o.slots), o.total / chunk),
                o.threads},
          ram_(std::max(chunk, std::min(o.total, std::size_t{512} << 20))),
          gb_(static_cast<double>(feed_.chunks * chunk) * 1e-9) {}

    const Feed& feed() const { return feed_; }

    // One repetition: a new ring, a lap that warms it up, and then each way of feeding it.
    void measure(Series& s) {
        const memory::RingShape shape{o_.slots, feed_.chunk_bytes, feed_.chunk_bytes, o_.staged};
        const memory::Work work =
            o_.work ? o_.work(feed_.chunk_bytes) : copying(o_.device, feed_.chunk_bytes);
        const Stopwatch watch;
        const auto ring = s.mode->make(o_.device, shape);
        s.setup_s.push_back(watch.seconds());
        Feed lap = feed_;
        lap.chunks = static_cast<std::size_t>(o_.slots);
        run_with_cpu(*ring, lap, ram_, work);

        const memory::Traffic before = ring->traffic();
        s.with_cpu.push_back(gb_ / run_with_cpu(*ring, feed_, ram_, work));
        s.row.traffic = since(before, ring->traffic());
        s.row.footprint = ring->footprint();
        if (!o_.work) compare(s.row.mode);
        // Without hints pages go to the GPU once and stay there until the CPU touches them.
        const bool by_faults = s.mode->mechanism == "migrate" && s.row.traffic.h2d_s == 0;
        if (!by_faults) s.without_cpu.push_back(gb_ / run_without_cpu(*ring, feed_, work));
    }

    // The CPU's part alone.
    double cpu_alone() {
        const memory::Mode& host = memory::catalog().at("host");
        const auto ring = host.make(device::cpu(), {o_.slots, feed_.chunk_bytes, feed_.chunk_bytes, false});
        const memory::Work nothing = [](const std::byte*, std::byte*, device::Stream&) {};
        Feed lap = feed_;
        lap.chunks = static_cast<std::size_t>(o_.slots);
        run_with_cpu(*ring, lap, ram_, nothing);
        return gb_ / run_with_cpu(*ring, feed_, ram_, nothing);
    }

  private:
    static memory::Traffic since(const memory::Traffic& a, const memory::Traffic& b) {
        return {b.bytes_h2d - a.bytes_h2d, b.bytes_d2h - a.bytes_d2h, b.h2d_s - a.h2d_s,
                b.kernel_s - a.kernel_s, b.d2h_s - a.d2h_s};
    }

    void compare(std::string_view mode) {
        for (std::size_t chunk = feed_.chunks - std::min(feed_.chunks, std::size_t{2}); chunk < feed_.chunks;
             ++chunk)
            if (std::memcmp(ram_.source(chunk, feed_.chunk_bytes), ram_.sink(chunk, feed_.chunk_bytes),
                            feed_.chunk_bytes) != 0)
                throw failed({}, "memory mode " + std::string(mode) + " brought back wrong bytes on " +
                                     o_.device.id());
        std::memset(ram_.sink(feed_.chunks - 1, feed_.chunk_bytes), 0, feed_.chunk_bytes);
    }

    const StreamBenchOptions& o_;
    Feed feed_;
    Ram ram_;
    double gb_;
};

void measure_chunk(const StreamBenchOptions& o, std::size_t chunk, StreamBench& result) {
    std::vector<Series> all;
    for (const memory::Mode* mode : o.modes) {
        Series s{mode, {}, {}, {}, {}};
        s.row.mode = mode->name;
        s.row.mechanism = mode->mechanism;
        s.row.reason = mode->unsupported(o.device);
        s.row.chunk_bytes = chunk;
        s.row.slots = o.slots;
        s.row.threads = o.threads;
        all.push_back(std::move(s));
    }
    Measurement measurement(o, chunk);
    std::vector<double> alone;
    std::mt19937 random(1);
    for (int turn = 0; turn < o.repeat; ++turn) {
        std::shuffle(all.begin(), all.end(), random);
        for (Series& s : all)
            if (s.row.reason.empty()) measurement.measure(s);
        alone.push_back(measurement.cpu_alone());
    }
    for (const memory::Mode* mode : o.modes) {  // in their own order again
        Series& s = *std::find_if(all.begin(), all.end(), [&](const Series& t) { return t.mode == mode; });
        s.row.with_cpu = spread_of(s.with_cpu);
        s.row.without_cpu = spread_of(s.without_cpu);
        s.row.setup_s = spread_of(s.setup_s);
        result.rows.push_back(s.row);
    }
    result.cpu_alone.push_back({chunk, spread_of(alone)});
}

}  // namespace

StreamBench bench_stream(const StreamBenchOptions& options) {
    StreamBenchOptions o = options;
    if (o.modes.empty()) o.modes.assign(memory::catalog().begin(), memory::catalog().end());
    if (o.threads <= 0) o.threads = std::max(1, device::available_cpus() / 2 - 1);
    StreamBench result;
    for (const std::size_t chunk : o.chunks)
        measure_chunk(o, chunk, result);
    return result;
}

}  // namespace convoy::pipelines::bench
