// How long a job will take, from trials on its first chunks.
#include "pipelines/job_state.hpp"
#include "pipelines/sinks.hpp"

namespace convoy::pipelines {

// Intermediate results and the result go where the trial's writers take them.
double Job::State::trial(Index items) {
    std::vector<std::unique_ptr<io::Writer>> writers;
    StreamOptions options = stream;
    options.progress = {};
    options.items_most = items;
    for (const Saved& s : plan.saved) {
        writers.push_back(trial_writer(s.flow.shape, s.flow.type));
        if (options.device.backend == device::Backend::cpu)
            options.taps.push_back({s.stages, {0, s.flow.shape.frames}, 0, writers.back().get()});
    }
    const bool written = spec.path != "null";
    writers.push_back(written ? trial_writer(spec.shape, computed()) : null_writer());
    const auto start = Clock::now();
    run_stream(*plan.input, plan.chain, plan.wanted, *writers.back(), options);
    return seconds_since(start);
}

Estimate Job::estimate() {
    State& s = *state_;
    constexpr double enough = 0.2;  // seconds of trial
    // Seconds to make an HDF5 file under its name, as measured; part of a millisecond anywhere.
    constexpr double creating = 0.5e-3;
    Estimate e{s.report.open_s + s.report.plan_s, 0};
    if (s.spec.path != "null") e.fixed += creating * static_cast<double>(1 + s.saved.size());
    const auto start = Clock::now();
    learn(s.plan, s.stream);
    e.stream = seconds_since(start);
    const Cuts cuts = stream_cuts(*s.plan.input, s.plan.chain, s.plan.wanted, false, s.stream);  // a trial's
    const Index all = cuts.chunks() * static_cast<Index>(cuts.groups.size());
    Index before = 0;
    double spent = 0;
    for (Index items = 1;; items = std::min(4 * items, all)) {
        const double seconds = s.trial(items);
        if (seconds < enough && items < all) {
            before = items, spent = seconds;
            continue;
        }
        // What each trial begins with is in both: their difference tells what the rest costs.
        const double each =
            items > before ? std::max(0.0, seconds - spent) / static_cast<double>(items - before) : 0;
        e.stream += seconds + each * static_cast<double>(all - items);
        if (s.split)
            e.stream *= static_cast<double>(s.outputs()) /
                        static_cast<double>(std::max<Index>(1, s.plan.wanted.count));
        return e;
    }
}

}  // namespace convoy::pipelines
