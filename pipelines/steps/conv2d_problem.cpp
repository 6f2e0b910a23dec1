#include "pipelines/steps/conv2d_problem.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/conv2d/kernels.hpp"
#include "io/taps.hpp"
#include "pipelines/steps/fir.hpp"

namespace convoy::pipelines {

using conv2d::Fit;
using conv2d::Pair;
using conv2d::Precision;
using conv2d::Problem;

bool channels_last(const Params& p) {
    return p.text("layout") == "nhwc";
}

namespace {

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

}  // namespace

io::Array conv2d_kernel(const Params& p) {
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
    std::error_code ignored;
    if (text.find_first_of("./-") == std::string::npos && !std::filesystem::exists(text, ignored))
        throw usage_error("'" + text + "' is neither a file nor a kernel that is known",
                          "choose one of " + std::string(conv2d::kernel_names));
    io::Array kernel = io::read_kernel(text);
    if (kernel.shape.size() != 2 && kernel.shape.size() != 4)
        throw failed(text,
                     "a kernel has 2 axes (rows x columns) or 4 (filters x channels x rows x columns), and "
                     "this one has " +
                         std::to_string(kernel.shape.size()),
                     "reshape it");
    return kernel;
}

namespace {

Precision precision_of(const Params& p, const Flow& flow, const Execution& execution) {
    const std::string name = p.text("precision");
    if (name.empty())
        return arithmetic_of(flow, execution) == SampleType::float64 ? Precision::float64
                                                                     : Precision::float32;
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

void check_image(const Flow& flow, bool channels_last) {
    const std::size_t rank = flow.dims.size();
    const auto have = [&] { return "it has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes"); };
    if (rank < 2)
        throw usage_error("an image is needed, with 2 to 4 axes, and " + have(),
                          "make one: convoy spectrogram", flow.label);
    if (rank > 4)
        throw usage_error("an image has 2 to 4 axes, and " + have(), "take a part of it", flow.label);
    if (channels_last && rank < 3)
        throw usage_error("an image with its channels last has 3 or 4 axes, and " + have(),
                          "leave out the layout nhwc", flow.label);
    const int columns = static_cast<int>(rank) - (channels_last ? 2 : 1);
    if (flow.time_axis != columns)
        throw usage_error("images are streamed along their columns, axis " + std::to_string(columns) +
                              ", and this is streamed along axis " + std::to_string(flow.time_axis),
                          "leave out --time-axis, or make an image of the signal first: convoy spectrogram",
                          flow.label);
}

// Which axes are images, channels, rows and columns.
void extents_of(const Params& p, const Flow& flow, const io::Array& kernel, Problem& problem) {
    const std::size_t rank = flow.dims.size(), rows = rank - (problem.channels_last ? 3 : 2);
    problem.extent = {flow.dims[rows], flow.dims[rows + 1]};
    problem.taps = {kernel.shape[kernel.shape.size() - 2], kernel.shape.back()};
    problem.groups = p.integer("groups");
    for (std::size_t a = 0; a < rows; ++a)
        problem.images *= flow.dims[a];
    if (problem.channels_last) {
        problem.channels = flow.dims.back();
    } else if (kernel.shape.size() == 4 && rank > 2) {
        problem.channels = flow.dims[rows - 1];
        problem.images /= problem.channels;
    }
    if (kernel.shape.size() == 4) {
        problem.filters = kernel.shape[0];
        return;
    }
    if (p.given("groups"))
        throw usage_error(p.spelled("groups") + " goes with kernels of filters x channels x rows x columns",
                          "leave it out: a kernel of rows x columns acts on each plane");
    // The same kernel for each plane: for each channel a group of its own.
    problem.groups = problem.filters = problem.channels;
    problem.kernel.clear();
    for (Index k = 0; k < problem.filters; ++k)
        problem.kernel.insert(problem.kernel.end(), kernel.values.begin(), kernel.values.end());
}

}  // namespace

Problem conv2d_problem(const Params& p, const Flow& flow, const Execution& execution,
                       const io::Array& kernel) {
    Problem problem;
    problem.channels_last = channels_last(p);
    check_image(flow, problem.channels_last);
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

}  // namespace convoy::pipelines
