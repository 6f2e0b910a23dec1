#include "pipelines/limit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace convoy::pipelines {

namespace {

// One resource: how long it worked, what went through it, and the most that could, in GB/s.
struct Load {
    std::string resource;
    double seconds;
    double gigabytes = 0;
    double ceiling = bench::not_measured;
    bool of_the_mode = false;
};

// The fastest of the figures whose names begin so: by so many threads.
double best(const bench::Figures& figures, std::string_view prefix) {
    double most = bench::not_measured;
    for (const bench::Figure& f : figures)
        if (f.name.starts_with(prefix)) most = std::fmax(most, f.value);
    return most;
}

// The ways to the GPU and back, by what the mode does.
void add_device(const JobReport& report, const bench::Figures& c, std::vector<Load>& loads) {
    const memory::Traffic& t = report.stream.traffic;
    const double in = 1e-9 * static_cast<double>(t.bytes_h2d), out = 1e-9 * static_cast<double>(t.bytes_d2h);
    const std::string_view mechanism = memory::catalog().at(report.memory).mechanism;
    if (mechanism == "in place") {
        const bool managed = report.memory == "managed";
        loads.push_back({"kernels over the link", t.kernel_s, std::max(in, out),
                         bench::value_of(c, managed ? "managed_read_write" : "mapped_read_write"), true});
        return;
    }
    const bool copies = mechanism == "copy engine", pinned = report.memory == "pinned";
    const std::string way = copies ? pinned ? "pinned_copy" : "pageable_copy" : "prefetch";
    loads.push_back(
        {"the way in", t.h2d_s, in, bench::value_of(c, pinned ? way + "_both" : way + "_in"), true});
    loads.push_back(
        {"the way out", t.d2h_s, out, bench::value_of(c, pinned ? way + "_both" : way + "_out"), true});
    const bool faults = !copies && t.h2d_s == 0;
    loads.push_back({faults ? "kernels and their faults" : "kernels", t.kernel_s, in,
                     faults ? bench::value_of(c, "fault_in") : bench::not_measured, faults});
}

}  // namespace

Limit limit_of(const JobReport& report, Scope scope, double seconds, const bench::Figures& c) {
    const StreamReport& s = report.stream;
    const io::Recording& in = report.input;
    const StepReport& last = report.steps.back();
    double out = 1;
    for (const Index n : report.out_dims)
        out *= static_cast<double>(n);
    out *= static_cast<double>(report.lanes_per_channel);
    const double part = out / static_cast<double>(std::max<Index>(1, last.shape.samples()));  // of the result
    const auto gigabytes = [](double samples, SampleType type) {
        return 1e-9 * samples * static_cast<double>(bytes_of(type));
    };
    const bool written = scope == Scope::memory || (scope == Scope::file && report.output != "null");
    std::vector<Load> loads;
    if (scope != Scope::link)
        loads.push_back({scope == Scope::file ? "reading" : "filling", s.read_s,
                         gigabytes(part * static_cast<double>(in.shape.samples()), in.type),
                         best(c, scope == Scope::file ? "file_read" : "host_copy")});
    if (written)
        loads.push_back({scope == Scope::file ? "writing" : "draining", s.write_s + report.finish_s,
                         gigabytes(out, last.type),
                         best(c, scope == Scope::file ? "file_write" : "host_copy")});
    loads.push_back({"levels and hash", s.measure_s});
    if (report.memory == "host")
        loads.push_back({"computing", s.compute_s});
    else
        add_device(report, c, loads);
    const auto most = std::max_element(loads.begin(), loads.end(),
                                       [](const Load& a, const Load& b) { return a.seconds < b.seconds; });
    if (most->seconds <= 0 || seconds <= 0) return {};
    return {most->resource, most->seconds / seconds, most->gigabytes / seconds / most->ceiling,
            most->of_the_mode};
}

}  // namespace convoy::pipelines
