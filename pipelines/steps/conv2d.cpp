// The step `conv2d`: images convolved with kernels, plane by plane or summed over channels.
#include "core/conv2d/conv2d.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/conv2d/kernels.hpp"
#include "io/taps.hpp"
#include "pipelines/step.hpp"
#include "pipelines/steps/conv2d_python.hpp"

namespace convoy::step {

namespace {

using conv2d::Fit;
using conv2d::Pair;
using conv2d::Precision;
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

Pair pair_of(const Params& p, std::string_view name, const std::vector<Index>& numbers) {
    if (numbers.empty() || numbers.size() > 2)
        throw usage_error(p.spelled(name) + " '" + p.text(name) + "' is neither one number nor two",
                          "write N, or ROWS,COLUMNS");
    return {numbers.front(), numbers.back()};
}
Pair pair_of(const Params& p, std::string_view name) {
    return p.given(name) ? pair_of(p, name, p.integers(name)) : Pair{1, 1};
}

void padding_of(const Params& p, Problem& problem) {
    const std::string text = p.text("padding");
    if (text == "same" || text == "valid" || text == "full") {
        problem.fit = text == "same" ? Fit::same : text == "valid" ? Fit::valid : Fit::full;
        return;
    }
    std::vector<Index> numbers;
    for (const std::string& word : split(text, ',')) {
        const auto number = parse_integer(word);
        if (!number)
            throw usage_error(p.spelled("padding") + " '" + text + "' is not known",
                              "write valid, same, full, N or ROWS,COLUMNS");
        numbers.push_back(*number);
    }
    problem.fit = Fit::given;
    problem.pad = pair_of(p, "padding", numbers);
}

// The kernel as [rows][columns] or [filters][channels][rows][columns].
io::Array kernel_of(const Params& p) {
    if (!p.given("kernel"))
        throw usage_error("no kernel is given",
                          "give --kernel FILE or one of " + std::string(conv2d::kernel_names));
    const std::string text = p.text("kernel");
    if (conv2d::names_kernel(text)) {
        conv2d::Kernel named = conv2d::make_kernel(text);
        // Built-in kernels are written as they lie on the image; a convolution turns them back.
        if (!p.flag("correlate")) std::reverse(named.values.begin(), named.values.end());
        return {{named.extent.rows, named.extent.columns}, std::move(named.values)};
    }
    io::Array kernel = io::read_kernel(text);
    if (kernel.shape.size() != 2 && kernel.shape.size() != 4)
        throw failed(text,
                     "a kernel has 2 axes (rows x columns) or 4 (filters x channels x rows x columns), and "
                     "this one has " +
                         std::to_string(kernel.shape.size()),
                     "reshape it");
    return kernel;
}

Precision precision_of(const Params& p, const Flow& flow, const Execution& execution) {
    const std::string name = p.text("precision");
    if (name.empty()) {
        const bool wide = execution.dtype.empty() ? flow.wide || flow.type == SampleType::float64
                                                  : execution.dtype == "float64";
        return wide ? Precision::float64 : Precision::float32;
    }
    if (!execution.dtype.empty() && (execution.dtype == "float64") != (name == "float64"))
        throw usage_error(p.spelled("precision") + " " + name + " and --dtype " + execution.dtype +
                              " contradict each other",
                          "give one of them");
    if (name == "float64") return Precision::float64;
    if (name == "float32") return Precision::float32;
    if (execution.device.backend == device::Backend::cpu) {
        warn(flow.label, "the CPU has no " + name + ": computing in float32, which is more exact");
        return Precision::float32;
    }
    return name == "tf32" ? Precision::tf32 : Precision::bf16;
}

void check_image(const Flow& flow) {
    const std::size_t rank = flow.dims.size();
    const auto have = [&] { return "it has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes"); };
    if (rank < 2)
        throw usage_error("an image is needed, with 2 to 4 axes, and " + have(),
                          "make one: convoy spectrogram", flow.label);
    if (rank > 4)
        throw usage_error("an image has 2 to 4 axes, and " + have(), "take a part of it", flow.label);
    if (flow.time_axis != static_cast<int>(rank) - 1)
        throw usage_error("images are streamed along their last axis, and this is streamed along axis " +
                              std::to_string(flow.time_axis),
                          "leave out --time-axis, or make an image of the signal first: convoy spectrogram",
                          flow.label);
}

// Which axes are images, channels, rows and columns.
void extents_of(const Params& p, const Flow& flow, const io::Array& kernel, Problem& problem) {
    const std::size_t rank = flow.dims.size();
    problem.extent = {flow.dims[rank - 2], flow.dims[rank - 1]};
    problem.taps = {kernel.shape[kernel.shape.size() - 2], kernel.shape.back()};
    problem.groups = p.integer("groups");
    Index planes = 1;
    for (std::size_t a = 0; a + 2 < rank; ++a)
        planes *= flow.dims[a];
    if (kernel.shape.size() == 2) {
        if (p.given("groups"))
            throw usage_error(
                p.spelled("groups") + " goes with kernels of filters x channels x rows x columns",
                "leave it out: a kernel of rows x columns acts on each plane");
        problem.images = planes;
        return;
    }
    problem.channels = rank > 2 ? flow.dims[rank - 3] : 1;
    problem.images = planes / problem.channels;
    problem.filters = kernel.shape[0];
}

Problem problem_of(const Params& p, const Flow& flow, const Execution& execution, const io::Array& kernel) {
    Problem problem;
    problem.kernel = kernel.values;
    problem.correlate = p.flag("correlate");
    problem.stride = pair_of(p, "stride");
    problem.dilation = pair_of(p, "dilation");
    padding_of(p, problem);
    extents_of(p, flow, kernel, problem);
    if (p.given("bias")) problem.bias = io::read_taps(p.text("bias"));
    problem.relu = p.flag("relu");
    problem.in = flow.type;
    problem.complex = flow.complex;
    problem.scaling = flow.scaling;
    problem.precision = precision_of(p, flow, execution);
    try {
        conv2d::check(problem);
    } catch (const Error& e) {  // the same, with the file's name
        throw Error(e.fault(), flow.label, e.problem(), e.hint());
    }
    return problem;
}

// An axis after a convolution along it: output i is where its twin in `same` is, at input i * stride + shift.
io::Axis moved(io::Axis axis, Index shift, Index stride, Index count) {
    if (!axis.values.empty()) {
        const auto there = static_cast<Index>(axis.values.size());
        if (shift < 0 || shift + (count - 1) * stride >= there)
            return {axis.name + "_index", "", static_cast<double>(shift), static_cast<double>(stride), {}};
        std::vector<double> kept;
        for (Index i = 0; i < count; ++i)
            kept.push_back(axis.values[static_cast<std::size_t>(shift + i * stride)]);
        axis.values = std::move(kept);
    }
    axis.first += static_cast<double>(shift) * axis.step;
    axis.step *= static_cast<double>(stride);
    return axis;
}

void flow_out(Flow& flow, const Problem& problem, bool filters) {
    Problem twin = problem;
    twin.fit = Fit::same;
    const Pair out = problem.outputs(), before = problem.before(), same = twin.before();
    const Pair shift{same.rows - before.rows, same.columns - before.columns};
    const std::size_t rank = flow.dims.size();
    flow.dims[rank - 2] = out.rows;
    flow.dims[rank - 1] = out.columns;
    flow.axes[rank - 2] = moved(flow.axes[rank - 2], shift.rows, problem.stride.rows, out.rows);
    flow.axes[rank - 1] = moved(flow.axes[rank - 1], shift.columns, problem.stride.columns, out.columns);
    if (filters) {
        const auto at = static_cast<std::ptrdiff_t>(rank) - 2;
        if (rank == 2) {
            flow.dims.insert(flow.dims.begin() + at, 0);
            flow.axes.insert(flow.axes.begin() + at, io::Axis{});
        }
        flow.dims[flow.dims.size() - 3] = problem.filters;
        flow.axes[flow.axes.size() - 3] = {"filter", "", 0, 1, {}};
    }
    flow.time_axis = static_cast<int>(flow.dims.size()) - 1;
    flow.time_first += shift.columns * flow.time_step;
    flow.time_step *= problem.stride.columns;
    flow.shape = problem.out_shape();
    flow.type = problem.arithmetic();
    flow.wide = problem.arithmetic() == SampleType::float64;
    flow.scaling = {};
    flow.dataset = "/conv2d";
    flow.signal = false;
    flow.attributes.clear();
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
    check_image(flow);
    const io::Array kernel = kernel_of(p);
    const Problem problem = problem_of(p, flow, execution, kernel);
    const conv2d::Choice choice = conv2d::choose(execution.strategy, problem, execution.device);
    Planned planned;
    planned.stage = conv2d::plan(problem, *choice.strategy, execution.device);
    planned.strategy = choice.strategy->name;
    planned.reason = choice.reason;
    planned.explanation = explanation(problem, execution, choice);
    planned.notes = {{"kernel", p.text("kernel")},
                     {"kernel_size", text(problem.taps)},
                     {"filters", to_text(problem.filters)},
                     {"convolution", problem.correlate ? "correlation" : "true convolution"},
                     {"padding", p.text("padding")},
                     {"stride", text(problem.stride)},
                     {"dilation", text(problem.dilation)},
                     {"groups", to_text(problem.groups)},
                     {"relu", problem.relu ? "true" : "false"},
                     {"precision", std::string(name_of(problem.precision))}};
    flow_out(flow, problem, kernel.shape.size() == 4);
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    Execution exact;
    exact.device = device::cpu();
    const io::Array kernel = kernel_of(p);
    const bool named = conv2d::names_kernel(p.text("kernel"));
    return pipelines::conv2d_python(problem_of(p, in, exact, kernel), kernel, named ? "" : p.text("kernel"));
}

}  // namespace

extern constinit const Step conv2d{
    "conv2d", "convolve images with kernels", params, plan, true, "kernel", false, python};

}  // namespace convoy::step
