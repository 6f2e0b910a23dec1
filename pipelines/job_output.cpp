// Where a job's result goes: how it is scaled, and the writers that lie on its way.
#include <cmath>
#include <filesystem>

#include "core/base/quantity.hpp"
#include "pipelines/job_state.hpp"
#include "pipelines/sinks.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

// The largest magnitude of the result, and whether NaN are in it, by a pass that writes nothing.
Job::State::Extremes Job::State::extremes() {
    const auto nothing = null_writer();
    Extremes found;
    for (const stats::Level& level : pass(*nothing).output) {
        found.peak = std::max(found.peak, level.peak);
        found.nan |= level.nan > 0;
    }
    return found;
}

// Whether levels and hash of what was computed can be had from what was stored: not from less precision.
bool Job::State::told_by_what_is_stored() const {
    return spec.type == computed() || (computed() == SampleType::float32 && spec.type == SampleType::float64);
}

// Whether the peak of the whole result decides how it is written: audio that must not clip, integers in steps
// that the peak fills. Integers that came as such go out in the steps they came in.
bool Job::State::scaled_by_peak() const {
    if (io::writes_audio(spec.path)) return request.options.flag("guard");
    const io::Recording& in = report.input;
    return spec.type == SampleType::int16 &&
           !(plan.flow.signal && in.type == SampleType::int16 && in.scaling.gain.size() <= 1);
}

// What samples are divided by so that audio holds the largest of them.
double Job::State::guard_scale() {
    io::OutputSpec written = spec;
    written.type = computed();  // audio writers convert themselves
    const auto [gain, most] = io::full_scale(written);
    // In float32 the largest sample must not be rounded up to full scale.
    const double largest = most < 1 && computed() == SampleType::float32 ? std::min(most, 1 - 0x1p-24) : most;
    const double peak = extremes().peak * gain;
    return peak > 0.5 * (1 + most) ? peak / largest : 1;  // less than half a step beyond is rounded
}

// What samples are divided by on their way to the file; integers that may have to stand for NaN set one
// aside.
double Job::State::output_scale() {
    if (io::writes_audio(spec.path)) return scaled_by_peak() ? guard_scale() : 1;
    if (spec.type != SampleType::int16) return 1;
    if (scaled_by_peak()) {
        const Extremes found = extremes();
        spec.marks_nan = found.nan;
        return std::max(found.peak, 1e-300) / 32767;
    }
    const std::vector<double>& gain = report.input.scaling.gain;
    return gain.empty() ? 1 : std::abs(gain.front());
}

std::vector<io::OutputSpec> Job::State::pieces() const {
    std::vector<io::OutputSpec> files = split_result(spec, plan.flow, plan.wanted, request.split,
                                                     request.split_outputs, report.input, joined);
    for (io::OutputSpec& s : files)  // those that an earlier run left were looked at
        s.overwrite = s.overwrite || (request.skip_finished && is_ours(s.path));
    return files;
}

std::unique_ptr<io::Writer> Job::State::create_file() {
    if (request.split.empty()) return io::create(spec);
    std::vector<Piece> files;
    for (const io::OutputSpec& s : pieces())
        files.push_back({s.shape.frames, io::create(s)});
    return split_writer(std::move(files), spec.type);
}

std::unique_ptr<io::Writer> Job::State::create() {
    if (request.scope != Scope::file) return request.ram->writer(spec.shape, computed(), request.scope);
    if (spec.path == "null") return null_writer();
    const bool audio = io::writes_audio(spec.path);
    const double scale = output_scale();
    if (!audio && spec.type == SampleType::int16) spec.scale_factor = scale;
    survival->prepare(spec, stream);
    auto writer = create_file();
    file = writer.get();
    const SampleType stored = audio ? computed() : spec.type;  // audio writers convert themselves
    if (stored == computed() && scale == 1) return writer;
    return converting_writer(std::move(writer), computed(), stored, scale, spec.marks_nan);
}

std::unique_ptr<io::Writer> Job::State::illustrated(std::unique_ptr<io::Writer> writer) {
    if (plan.picture.file.empty()) return writer;
    if (std::filesystem::exists(plan.picture.file) && !spec.overwrite)
        throw failed(plan.picture.file, "the picture exists already", "give --overwrite or another name");
    const auto folder = std::filesystem::path(plan.picture.file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        throw failed(plan.picture.file, "the folder of the picture does not exist",
                     "make it, or draw elsewhere");
    io::OutputSpec drawn = spec;
    drawn.type = computed();
    return illustrating_writer(std::move(writer), drawn,
                               std::filesystem::path(report.input.path).filename().string(), plan.picture,
                               stream.device);
}

// Intermediate results come out of the pass that makes the result, where that passes all of it.
std::unique_ptr<Saving> Job::State::save(bool ordered) {
    for (io::OutputSpec& s : saved) {  // one that an earlier run left is made again
        s.overwrite =
            s.overwrite || ((request.skip_finished || request.options.flag("resume")) && is_ours(s.path));
        s.identity = "{\"saved_by\":" + (spec.identity.empty() ? "{}" : spec.identity) + "}";
    }
    const bool whole = survival->ending() == Ending::done && stream.device.backend == device::Backend::cpu;
    const Cuts as_run = stream_cuts(*plan.input, plan.chain, plan.wanted, ordered, stream);
    auto saving = std::make_unique<Saving>(plan, saved, whole && !split ? &as_run : nullptr);
    saving->begin(stream);
    stream.taps = saving->taps();
    return saving;
}

}  // namespace convoy::pipelines
