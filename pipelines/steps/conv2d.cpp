// The step `conv2d`: images convolved with kernels, plane by plane or summed over channels.
#include "core/conv2d/conv2d.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/conv2d/kernels.hpp"
#include "pipelines/steps/conv2d_problem.hpp"
#include "pipelines/steps/conv2d_python.hpp"

namespace convoy::step {

namespace {

using conv2d::Fit;
using conv2d::Pair;
using conv2d::Problem;
using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "kernel",
     .value = "FILE or NAME[:PARAM,...]",
     .help = "rows x columns, for each plane, or filters x channels x rows x columns, from .npy or "
             "file.h5:/path; or "
             "sobel-x, sobel-y, gaussian:SIGMA, log:SIGMA, box:N, gabor:WAVELENGTH,DEGREES,SIGMA,ASPECT",
     .reads = true},
    {.name = "correlate", .kind = Kind::flag, .help = "do not turn the kernel by 180 degrees"},
    {.name = "padding",
     .value = "valid, same, full, N or R,C",
     .help = "zeros beyond the edges: none, as many as keep the extents, as many as reach, or so many",
     .fallback = "same"},
    {.name = "stride",
     .kind = Kind::integers,
     .value = "N or R,C",
     .help = "from output to output (default 1)"},
    {.name = "dilation", .kind = Kind::integers, .value = "N or R,C", .help = "from tap to tap (default 1)"},
    {.name = "groups",
     .kind = Kind::integer,
     .value = "N",
     .help = "groups of channels, each with filters of its own",
     .fallback = "1"},
    {.name = "layout",
     .kind = Kind::choice,
     .value = "NAME",
     .help = "of the image and of the result: images x channels x rows x columns (what of it there is), or "
             "images x rows x columns x channels",
     .fallback = "nchw",
     .choices = "nchw,nhwc"},
    {.name = "bias",
     .value = "FILE",
     .help = "a number for each filter, added: text, .npy or file.h5:/path",
     .reads = true},
    {.name = "relu", .kind = Kind::flag, .help = "then zeros in place of what is negative"},
    {.name = "precision",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "of products and sums; tf32 and bf16 on a GPU only (default float32, float64 for float64 input)",
     .choices = "float32,float64,tf32,bf16"},
};

// The step of evenly spaced values, of which more are known on both sides; none for others.
std::optional<double> even_step(const std::vector<double>& values) {
    if (values.size() < 2) return std::nullopt;
    const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(std::abs(values[i] - values[0] - static_cast<double>(i) * step) <= 1e-6 * std::abs(step)))
            return std::nullopt;
    return step;
}

// An axis after a convolution along it: output i is where its twin in `same` is, at input i * stride + shift.
io::Axis moved(io::Axis axis, Index shift, Index stride, Index count) {
    const auto there = static_cast<Index>(axis.values.size());
    if (there > 0 && (shift < 0 || shift + (count - 1) * stride >= there)) {  // beyond what is known
        const auto step = even_step(axis.values);
        if (!step)
            return {axis.name + "_index", "", static_cast<double>(shift), static_cast<double>(stride), {}};
        axis.first = axis.values.front();
        axis.step = *step;
        axis.values.clear();
    }
    std::vector<double> kept;
    for (Index i = 0; i < count && !axis.values.empty(); ++i)
        kept.push_back(axis.values[static_cast<std::size_t>(shift + i * stride)]);
    axis.values = std::move(kept);
    axis.first += static_cast<double>(shift) * axis.step;
    axis.step *= static_cast<double>(stride);
    return axis;
}

void flow_out(Flow& flow, const Problem& problem, bool filters) {
    Problem twin = problem;
    twin.fit = Fit::same;
    const Pair out = problem.outputs(), before = problem.before(), same = twin.before();
    const Pair shift{same.rows - before.rows, same.columns - before.columns};
    const auto rows = static_cast<std::ptrdiff_t>(flow.dims.size()) - (problem.channels_last ? 3 : 2);
    const auto at = [](auto& all, std::ptrdiff_t i) -> auto& {
        return all[static_cast<std::size_t>(i)];
    };
    at(flow.dims, rows) = out.rows;
    at(flow.dims, rows + 1) = out.columns;
    at(flow.axes, rows) = moved(at(flow.axes, rows), shift.rows, problem.stride.rows, out.rows);
    at(flow.axes, rows + 1) =
        moved(at(flow.axes, rows + 1), shift.columns, problem.stride.columns, out.columns);
    flow.time_axis = static_cast<int>(rows) + 1;
    if (filters) {
        std::ptrdiff_t channel = problem.channels_last ? rows + 2 : rows - 1;
        if (channel < 0) {
            flow.dims.insert(flow.dims.begin(), 0);
            flow.axes.insert(flow.axes.begin(), io::Axis{});
            channel = 0;
            ++flow.time_axis;
        }
        at(flow.dims, channel) = problem.filters;
        at(flow.axes, channel) = {"filter", "", 0, 1, {}};
    }
    flow.time_first += shift.columns * flow.time_step;
    flow.time_step *= problem.stride.columns;
    flow.shape = problem.out_shape();
    flow.type = problem.arithmetic();
    flow.wide = problem.arithmetic() == SampleType::float64;
    flow.scaling = {};
    flow.dataset = "/conv2d";
    flow.signal = false;
}

std::string text(Pair pair) {
    return to_text(pair.rows) + "," + to_text(pair.columns);
}

// The cost model's table: what each strategy would take, and why one was left out.
std::string explanation(const Problem& problem, const Execution& execution, const conv2d::Choice& choice) {
    std::string table = "conv2d of " + text(problem.taps) + " taps on " + execution.device.id() +
                        ", modelled seconds in one thread:\n";
    for (const conv2d::Modelled& row : conv2d::modelled(problem, execution.device)) {
        std::string name(row.strategy->name);
        name.resize(std::max<std::size_t>(name.size() + 1, 15), ' ');
        table += row.strategy == choice.strategy ? "* " : "  ";
        table += name + (row.seconds ? to_text(std::round(*row.seconds * 1e6) / 1e6) : std::string("-"));
        if (!row.cannot.empty()) table += "  cannot: " + row.cannot;
        if (row.cannot.empty() && !row.seconds) table += "  never taken by auto";
        table += "\n";
    }
    return table + "taken: " + std::string(choice.strategy->name) + ", " + choice.reason + "\n";
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    const io::Array kernel = pipelines::conv2d_kernel(p);
    const Problem problem = pipelines::conv2d_problem(p, flow, execution, kernel);
    const conv2d::Choice choice = conv2d::choose(execution.strategy, problem, execution.device);
    Planned planned;
    planned.stage = conv2d::plan(problem, *choice.strategy, execution.device);
    planned.strategy = choice.strategy->name;
    planned.reason = choice.reason;
    planned.explanation = explanation(problem, execution, choice);
    planned.notes = {{"kernel", p.text("kernel")},
                     {"kernel_size", text(problem.taps)},
                     {"filters", to_text(kernel.shape.size() == 4 ? problem.filters : 1)},
                     {"convolution", problem.correlate ? "correlation" : "true convolution"},
                     {"padding", p.text("padding")},
                     {"stride", text(problem.stride)},
                     {"dilation", text(problem.dilation)},
                     {"groups", p.text("groups")},
                     {"layout", p.text("layout")},
                     {"relu", problem.relu ? "true" : "false"},
                     {"precision", std::string(name_of(problem.precision))}};
    flow_out(flow, problem, kernel.shape.size() == 4);
    return planned;
}

int streamed(const Params& p) {
    return pipelines::channels_last(p) ? -2 : -1;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    Execution exact;
    exact.device = device::cpu();
    const io::Array kernel = pipelines::conv2d_kernel(p);
    const bool named = conv2d::names_kernel(p.text("kernel"));
    return pipelines::conv2d_python(pipelines::conv2d_problem(p, in, exact, kernel), kernel,
                                    named ? "" : p.text("kernel"));
}

}  // namespace

extern constinit const Step conv2d{
    "conv2d", "convolve images with kernels", params, plan, true, "kernel", false, python, streamed};

}  // namespace convoy::step
