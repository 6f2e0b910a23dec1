#include <filesystem>

#include "core/base/error.hpp"
#include "core/conv2d/kernels.hpp"
#include "io/npy.hpp"
#include "pipelines/step.hpp"
#include "tests/catch.hpp"
#include "tests/io/temporary.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::pipelines;

namespace {

Flow image(std::vector<Index> dims) {
    Flow f;
    f.label = "image.h5";
    f.dims = dims;
    f.time_axis = static_cast<int>(dims.size()) - 1;
    f.shape = {1, dims.back(), 1};
    for (std::size_t a = 0; a + 1 < dims.size(); ++a)
        f.shape.outer *= dims[a];
    f.rate = 8000;
    for (std::size_t a = 0; a < dims.size(); ++a)
        f.axes.push_back({"axis_" + std::to_string(a), "", 0, 1, {}});
    if (dims.size() < 2) return f;
    io::Axis& frequency = f.axes[dims.size() - 2];
    frequency = {"frequency", "Hz", 0, 1, {}};
    for (Index i = 0; i < dims[dims.size() - 2]; ++i)
        frequency.values.push_back(31.25 * static_cast<double>(i));
    f.axes.back() = {"time", "s", 0.5, 0.125, {}};
    f.time_first = 100;
    f.time_step = 10;
    return f;
}

using Words = std::vector<std::pair<std::string, std::string>>;

Planned plan(Flow& flow, const Words& words, const std::string& dtype = {}) {
    const Step& step = step::catalog().at("conv2d");
    Params params({step.params.begin(), step.params.end()});
    for (const auto& [name, value] : words)
        params.set(name, value);
    Execution execution;
    execution.device = device::cpu();
    execution.dtype = dtype;
    return step.plan(params, flow, execution);
}

std::string message_of(const Words& words, std::vector<Index> dims = {40, 50},
                       const std::string& dtype = {}) {
    try {
        Flow flow = image(std::move(dims));
        plan(flow, words, dtype);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

// A kernel of ones in a file of its own.
class KernelFile {
  public:
    explicit KernelFile(std::vector<Index> shape) {
        Index count = 1;
        for (const Index extent : shape)
            count *= extent;
        io::write_npy(path(), {std::move(shape), std::vector<double>(static_cast<std::size_t>(count), 1.0)});
    }
    std::string path() const { return folder_.file("kernel.npy"); }

  private:
    test::Temporary folder_;
};

}  // namespace

TEST_CASE("a kernel of rows and columns acts on each plane") {
    Flow flow = image({3, 40, 50});
    const Planned planned = plan(flow, {{"kernel", "box:3"}, {"stride", "2,4"}});
    CHECK(flow.dims == std::vector<Index>{3, 20, 13});
    CHECK(planned.stage->shape() == Shape{60, 13, 1});
    CHECK(flow.shape == planned.stage->shape());
    CHECK(flow.dataset == "/conv2d");
    CHECK_FALSE(flow.signal);
    CHECK(flow.axes[1].name == "frequency");
    CHECK(flow.axes[1].values.size() == 20);
    CHECK(flow.axes[1].values[1] == 62.5);
    CHECK(flow.axes[2].first == 0.5);
    CHECK(flow.axes[2].step == 0.5);
    CHECK(flow.time_first == 100);
    CHECK(flow.time_step == 40);
    CHECK(flow.rate == 8000);
}

TEST_CASE("axes go on beyond the image where they are even, and what describes it stays") {
    Flow flow = image({40, 50});
    flow.attributes = {{"units", "dB"}};
    plan(flow, {{"kernel", "box:3"}, {"padding", "full"}});
    CHECK(flow.axes[0].name == "frequency");
    CHECK(flow.axes[0].values.empty());
    CHECK(flow.axes[0].first == -31.25);
    CHECK(flow.axes[0].step == 31.25);
    CHECK(flow.attributes.size() == 1);
    Flow bands = image({4, 50});
    bands.axes[0].values = {100, 200, 400, 800};
    plan(bands, {{"kernel", "box:3"}, {"padding", "full"}});
    CHECK(bands.axes[0].name == "frequency_index");
    CHECK(bands.axes[0].first == -1);
}

TEST_CASE("a kernel of four axes puts filters in the place of channels") {
    const KernelFile three({5, 3, 3, 3}), one({4, 1, 3, 3});
    Flow deep = image({2, 3, 40, 50});
    plan(deep, {{"kernel", three.path()}});
    CHECK(deep.dims == std::vector<Index>{2, 5, 40, 50});
    CHECK(deep.axes[1].name == "filter");
    Flow plane = image({40, 50});
    plan(plane, {{"kernel", one.path()}});
    CHECK(plane.dims == std::vector<Index>{4, 40, 50});
    CHECK(plane.axes[0].name == "filter");
    CHECK(plane.axes[1].name == "frequency");
    CHECK(plane.time_axis == 2);
    Flow grouped = image({4, 40, 50});
    plan(grouped, {{"kernel", one.path()}, {"groups", "4"}});
    CHECK(grouped.dims == std::vector<Index>{4, 40, 50});
}

TEST_CASE("channels may be the last axis of image and result") {
    const KernelFile kernel({6, 3, 3, 5});
    Flow flow = image({2, 40, 50, 3});
    flow.time_axis = 2;
    flow.shape = {80, 50, 3};
    const Planned four = plan(flow, {{"kernel", kernel.path()}, {"layout", "nhwc"}, {"stride", "2,1"}});
    CHECK(flow.dims == std::vector<Index>{2, 20, 50, 6});
    CHECK(flow.time_axis == 2);
    CHECK(flow.axes[3].name == "filter");
    CHECK(four.stage->shape() == Shape{40, 50, 6});
    Flow each = image({40, 50, 3});
    each.time_axis = 1;
    each.shape = {40, 50, 3};
    const Planned two = plan(each, {{"kernel", "box:3"}, {"layout", "nhwc"}});
    CHECK(each.dims == std::vector<Index>{40, 50, 3});
    CHECK(two.stage->shape() == Shape{40, 50, 3});
    CHECK_THAT(message_of({{"kernel", "box:3"}, {"layout", "nhwc"}}), containing("has 3 or 4 axes"));
    CHECK_THAT(message_of({{"kernel", "box:3"}, {"layout", "nhwc"}}, {4, 40, 50}),
               containing("streamed along their columns, axis 1"));
    CHECK_THAT(message_of({{"kernel", "box:3"}, {"layout", "chwn"}}), containing("nchw"));
}

TEST_CASE("outputs of valid and full have the time of their twin in same") {
    Flow valid = image({40, 50});
    plan(valid, {{"kernel", "box:5"}, {"padding", "valid"}});
    CHECK(valid.dims == std::vector<Index>{36, 46});
    CHECK(valid.axes[0].values.front() == 62.5);
    CHECK(valid.axes[0].values.size() == 36);
    CHECK(valid.axes[1].first == 0.75);
    CHECK(valid.time_first == 120);
    Flow full = image({40, 50});
    plan(full, {{"kernel", "box:5"}, {"padding", "full"}});
    CHECK(full.dims == std::vector<Index>{44, 54});
    CHECK(full.axes[0].values.empty());  // no frequency is known below the first
    CHECK(full.axes[1].first == 0.25);
    Flow given = image({40, 50});
    plan(given, {{"kernel", "box:5"}, {"padding", "0,2"}});
    CHECK(given.dims == std::vector<Index>{36, 50});
}

TEST_CASE("the arithmetic is float32, and float64 for float64 input or where it is asked for") {
    Flow single = image({40, 50}), dual = single, asked = single;
    dual.type = SampleType::float64;
    CHECK(plan(single, {{"kernel", "box"}}).stage->type() == SampleType::float32);
    CHECK(plan(dual, {{"kernel", "box"}}).stage->type() == SampleType::float64);
    CHECK(plan(asked, {{"kernel", "box"}, {"precision", "float64"}}).stage->type() == SampleType::float64);
}

TEST_CASE("bad requests of conv2d are one clear line") {
    const KernelFile cube({3, 3, 3}), two({4, 2, 3, 3});
    CHECK_THAT(message_of({}), containing("no kernel is given"));
    CHECK_THAT(message_of({{"kernel", cube.path()}}), containing("this one has 3"));
    CHECK_THAT(message_of({{"kernel", two.path()}}), containing("the kernel has 2 channels"));
    CHECK_THAT(message_of({{"kernel", two.path()}, {"groups", "3"}}, {6, 40, 50}),
               containing("3 groups do not divide the kernel's 4"));
    CHECK_THAT(message_of({{"kernel", "box"}, {"groups", "2"}}), containing("--groups goes with"));
    CHECK_THAT(message_of({{"kernel", "box"}}, {50}),
               containing("image.h5: an image is needed, with 2 to 4 axes, and it has 1 axis"));
    CHECK_THAT(message_of({{"kernel", "box"}}, {2, 2, 2, 4, 5}), containing("it has 5 axes"));
    CHECK_THAT(message_of({{"kernel", "box:60"}, {"padding", "valid"}}),
               containing("image.h5: the output would be empty"));
    CHECK_THAT(message_of({{"kernel", "box"}, {"padding", "wide"}}), containing("'wide' is not known"));
    CHECK_THAT(message_of({{"kernel", "box"}, {"stride", "1,2,3"}}),
               containing("neither one number nor two"));
    CHECK_THAT(message_of({{"kernel", "box"}, {"stride", "0"}}), containing("must be from 1 to"));
    CHECK_THAT(message_of({{"kernel", "boxes"}}), containing("boxes"));
    CHECK_THAT(message_of({{"kernel", "box:2.5"}}), containing("whole numbers"));
    CHECK_THAT(message_of({{"kernel", "gaussian:-1"}}), containing("must be above 0"));
    CHECK_THAT(message_of({{"kernel", "sobel-x:3"}}), containing("it has no parameters"));
    CHECK_THAT(message_of({{"kernel", "box"}, {"precision", "float64"}}, {40, 50}, "float32"),
               containing("contradict each other"));
}

TEST_CASE("built-in kernels are what scipy.ndimage does") {
    const auto rows = test::scipy(
        "from scipy import ndimage\n"
        "x = np.zeros((41, 41))\nx[20, 20] = 1\n"
        "o = dict(mode='constant')\n"
        "for y in (ndimage.sobel(x, 1, **o), ndimage.sobel(x, 0, **o), ndimage.gaussian_filter(x, (1.5, 2), "
        "**o),\n"
        "          ndimage.gaussian_laplace(x, 2, **o), ndimage.uniform_filter(x, (3, 5), **o)):\n"
        "    row(y)\n");
    const char* names[] = {"sobel-x", "sobel-y", "gaussian:1.5,2", "log:2", "box:3,5"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        INFO(names[i]);
        const conv2d::Kernel k = conv2d::make_kernel(names[i]);
        double worst = 0, outside = 0;
        for (Index r = 0; r < 41; ++r)
            for (Index c = 0; c < 41; ++c) {
                // The answer to an impulse is the kernel, turned.
                const Index kr = 20 - r + k.extent.rows / 2, kc = 20 - c + k.extent.columns / 2;
                const double y = rows[i][static_cast<std::size_t>(r * 41 + c)];
                if (kr < 0 || kr >= k.extent.rows || kc < 0 || kc >= k.extent.columns)
                    outside = std::max(outside, std::abs(y));
                else
                    worst = std::max(
                        worst, std::abs(y - k.values[static_cast<std::size_t>(kr * k.extent.columns + kc)]));
            }
        CHECK(worst < 1e-15);
        CHECK(outside == 0);
    }
}

TEST_CASE("a Gabor kernel answers most to its own wave") {
    const conv2d::Kernel k = conv2d::make_kernel("gabor:8,30,5");
    CHECK(k.extent.rows % 2 == 1);
    const auto answer = [&](double wavelength, double degrees) {
        double sum = 0;
        for (Index r = 0; r < k.extent.rows; ++r)
            for (Index c = 0; c < k.extent.columns; ++c) {
                const double angle = degrees * 3.14159265358979 / 180;
                const double along = static_cast<double>(c - k.extent.columns / 2) * std::cos(angle) +
                                     static_cast<double>(r - k.extent.rows / 2) * std::sin(angle);
                sum += k.values[static_cast<std::size_t>(r * k.extent.columns + c)] *
                       std::cos(2 * 3.14159265358979 * along / wavelength);
            }
        return sum;
    };
    CHECK(answer(8, 30) == Approx(0.5).epsilon(0.02));
    CHECK(std::abs(answer(8, 120)) < 0.01);
    CHECK(std::abs(answer(4, 30)) < 0.01);
}
