#include "pipelines/bench/cudnn.hpp"

#include <algorithm>
#include <vector>

#include "core/base/opened_library.hpp"

namespace convoy::pipelines::bench {

namespace {

// What is needed of cuDNN's C interface, which has been the same from version 7 to 9. Statuses, data types,
// layouts, modes and algorithms are enumerations there: int.
constexpr int data_float = 0, layout_nchw = 0, layout_nhwc = 1, mode_correlation = 1;
constexpr int math_any = 0, math_fma = 3;  // CUDNN_DEFAULT_MATH lets float use TF32, CUDNN_FMA_MATH does not

struct Performance {  // cudnnConvolutionFwdAlgoPerf_t
    int algorithm, status;
    float milliseconds;
    std::size_t bytes;
    int determinism, math, reserved[3];
};

class Library : public OpenedLibrary {
  public:
    static const Library& the() {
        static const Library library;
        return library;
    }

    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    const char* (*error)(int) = nullptr;
    int (*create_tensor)(void**) = nullptr;
    int (*set_tensor)(void*, int layout, int type, int n, int c, int h, int w) = nullptr;
    int (*destroy_tensor)(void*) = nullptr;
    int (*create_filter)(void**) = nullptr;
    int (*set_filter)(void*, int type, int layout, int k, int c, int h, int w) = nullptr;
    int (*destroy_filter)(void*) = nullptr;
    int (*create_convolution)(void**) = nullptr;
    int (*set_convolution)(void*, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                           int dilation_w, int mode, int type) = nullptr;
    int (*set_math)(void*, int) = nullptr;
    int (*set_groups)(void*, int) = nullptr;
    int (*destroy_convolution)(void*) = nullptr;
    int (*find)(void* handle, void* x_shape, const void* x, void* w_shape, const void* w, void* convolution,
                void* y_shape, void* y, int asked, int* found, Performance*, void* room,
                std::size_t bytes) = nullptr;
    int (*forward)(void* handle, const void* alpha, void* x_shape, const void* x, void* w_shape,
                   const void* w, void* convolution, int algorithm, void* room, std::size_t bytes,
                   const void* beta, void* y_shape, void* y) = nullptr;

  private:
    Library() : OpenedLibrary(std::vector<std::string>{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"}) {
        get(create, "cudnnCreate");
        get(destroy, "cudnnDestroy");
        get(error, "cudnnGetErrorString");
        get(create_tensor, "cudnnCreateTensorDescriptor");
        get(set_tensor, "cudnnSetTensor4dDescriptor");
        get(destroy_tensor, "cudnnDestroyTensorDescriptor");
        get(create_filter, "cudnnCreateFilterDescriptor");
        get(set_filter, "cudnnSetFilter4dDescriptor");
        get(destroy_filter, "cudnnDestroyFilterDescriptor");
        get(create_convolution, "cudnnCreateConvolutionDescriptor");
        get(set_convolution, "cudnnSetConvolution2dDescriptor");
        get(set_math, "cudnnSetConvolutionMathType");
        get(set_groups, "cudnnSetConvolutionGroupCount");
        get(destroy_convolution, "cudnnDestroyConvolutionDescriptor");
        get(find, "cudnnFindConvolutionForwardAlgorithmEx");
        get(forward, "cudnnConvolutionForward");
    }
};

void check(int status, const char* doing) {
    if (status != 0)
        throw failed({}, std::string("cuDNN failed at ") + doing + ": " + Library::the().error(status),
                     "leave it out: --strategy auto");
}

// A descriptor or handle of cuDNN.
class Handle {
  public:
    Handle(int (*create)(void**), int (*destroy)(void*)) : destroy_(destroy) {
        check(create(&it_), "set-up");
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { destroy_(it_); }
    operator void*() const { return it_; }

  private:
    void* it_ = nullptr;
    int (*destroy_)(void*);
};

// In the order of the layout: K x C x R x S, or K x R x S x C.
std::vector<float> weights_of(const conv2d::Problem& p) {
    std::vector<float> all;
    const Index taps = p.taps.rows * p.taps.columns, channels = p.group_channels();
    for (Index k = 0; k < p.filters; ++k)
        for (Index i = 0; i < channels * taps; ++i) {
            const Index c = p.channels_last ? i % channels : i / taps,
                        tap = p.channels_last ? i / channels : i % taps;
            all.push_back(static_cast<float>(p.weight(k, c, tap / p.taps.columns, tap % p.taps.columns)));
        }
    return all;
}

int integer(Index n) {
    return static_cast<int>(n);
}

}  // namespace

struct Cudnn::State {
    const Library& c = Library::the();
    Handle handle{c.create, c.destroy};
    Handle x_shape{c.create_tensor, c.destroy_tensor}, y_shape{c.create_tensor, c.destroy_tensor};
    Handle w_shape{c.create_filter, c.destroy_filter};
    Handle convolution{c.create_convolution, c.destroy_convolution};
    device::Buffer weights, room;
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    int algorithm = 0;
    std::size_t bytes = 0;

    void describe(const conv2d::Problem& p) {
        const int layout = p.channels_last ? layout_nhwc : layout_nchw;
        const conv2d::Pair outputs = p.outputs(), before = p.before();
        check(c.set_tensor(x_shape, layout, data_float, integer(p.images), integer(p.channels),
                           integer(p.extent.rows), integer(p.extent.columns)),
              "describing images");
        check(c.set_tensor(y_shape, layout, data_float, integer(p.images), integer(p.filters),
                           integer(outputs.rows), integer(outputs.columns)),
              "describing results");
        check(c.set_filter(w_shape, data_float, layout, integer(p.filters), integer(p.group_channels()),
                           integer(p.taps.rows), integer(p.taps.columns)),
              "describing weights");
        check(c.set_convolution(convolution, integer(before.rows), integer(before.columns),
                                integer(p.stride.rows), integer(p.stride.columns), integer(p.dilation.rows),
                                integer(p.dilation.columns), mode_correlation, data_float),
              "describing the convolution");
        check(c.set_groups(convolution, integer(p.groups)), "describing groups");
        check(c.set_math(convolution, p.precision == conv2d::Precision::tf32 ? math_any : math_fma),
              "choosing the arithmetic");
    }

    void choose(bool tf32) {
        Performance found[16];
        int count = 0;
        check(c.find(handle, x_shape, in, w_shape, weights.data(), convolution, y_shape, out, 16, &count,
                     found, room.data(), room.size()),
              "looking for an algorithm");
        const auto fits = [&](const Performance& p) {
            return p.status == 0 && p.bytes <= room.size() && (tf32 || p.math == math_fma);
        };
        const Performance* const end = found + count;
        const Performance* best = end;
        for (const Performance* p = found; p != end; ++p)
            if (fits(*p) && (best == end || p->milliseconds < best->milliseconds)) best = p;
        if (best == end) throw failed({}, "cuDNN has no algorithm for this shape", "leave it out");
        algorithm = best->algorithm;
        bytes = best->bytes;
        check(c.set_math(convolution, best->math), "choosing the arithmetic");
    }
};

std::string Cudnn::missing(const conv2d::Problem& p) {
    if (!Library::the().there()) return "libcudnn was not found";
    if (p.in != SampleType::float32 || p.complex || !p.scaling.trivial() ||
        (p.precision != conv2d::Precision::float32 && p.precision != conv2d::Precision::tf32))
        return "compared in float32 and tf32 only";
    return {};
}

Cudnn::Cudnn(const conv2d::Problem& p, const device::Device& device, const std::byte* in, std::byte* out)
    : state_(std::make_unique<State>()) {
    State& s = *state_;
    s.in = in;
    s.out = out;
    const std::vector<float> weights = weights_of(p);
    s.weights = device::Buffer(device, weights.size() * sizeof(float));
    device::upload(s.weights, weights.data(), s.weights.size());
    s.room = device::Buffer(device, std::min<std::size_t>(std::size_t{4} << 30, device.free_bytes() / 4));
    s.describe(p);
    s.choose(p.precision == conv2d::Precision::tf32);
}

Cudnn::~Cudnn() = default;

void Cudnn::run() const {
    const State& s = *state_;
    const float one = 1, zero = 0;
    check(s.c.forward(s.handle, &one, s.x_shape, s.in, s.w_shape, s.weights.data(), s.convolution,
                      s.algorithm, s.room.data(), s.bytes, &zero, s.y_shape, s.out),
          "convolving");
}

int Cudnn::algorithm() const {
    return state_->algorithm;
}

}  // namespace convoy::pipelines::bench
