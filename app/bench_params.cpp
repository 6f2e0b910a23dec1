#include "app/bench_params.hpp"

#include <algorithm>

#include "app/output.hpp"
#include "core/base/error.hpp"

namespace convoy::app {

namespace {

constexpr Param common_list[] = {
    {.name = "device", .value = "DEVICE", .help = "auto, cpu, cuda or cuda:N", .fallback = "auto"},
    {.name = "repeat",
     .kind = Kind::integer,
     .value = "N",
     .help = "repetitions; medians are printed",
     .fallback = "9"},
    {.name = "threads", .kind = Kind::integer, .value = "N", .help = "CPU threads (fir, stft: 1 by default)"},
    {.name = "folder", .value = "DIR", .help = "ceilings: where to measure file reads and writes"},
    {.name = "save",
     .kind = Kind::flag,
     .help = "ceilings: measure the memory modes too, and let auto take the fastest"},
};
constexpr Param fir_list[] = {
    {.name = "strategy",
     .value = "LIST",
     .help = "fir, conv2d: strategies, by commas; default all but the reference, or (conv2d) auto's"},
    {.name = "taps",
     .kind = Kind::integers,
     .value = "LIST",
     .help = "fir: lengths of filters",
     .fallback = "25,63,127,255,1023"},
    {.name = "samples",
     .kind = Kind::integers,
     .value = "LIST",
     .help = "fir, stft: samples a channel (stft: one number)",
     .fallback = "1048576"},
    {.name = "channels",
     .kind = Kind::integers,
     .value = "LIST",
     .help = "fir, stft: channels (stft: one number, 64 by default)",
     .fallback = "1"},
    {.name = "interleaved",
     .kind = Kind::flag,
     .help = "fir: frames x channels instead of channel after channel"},
    {.name = "type",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "fir: type of the samples",
     .fallback = "float32",
     .choices = "int16,int32,float32,float64"},
    {.name = "calibrate", .kind = Kind::flag, .help = "fir: measure this CPU first and keep it for auto"},
    {.name = "decimate",
     .kind = Kind::integer,
     .value = "N",
     .help = "fir: keep every Nth output",
     .fallback = "1"},
    {.name = "png", .value = "FILE", .help = "fir: draw speeds over taps: where strategies cross"},
    {.name = "judge",
     .value = "PROGRAM",
     .help = "fir: measure FFTW too, by the program fftw_judge of the build folder (minutes)"},
};
constexpr Param stft_list[] = {
    {.name = "nfft",
     .kind = Kind::integers,
     .value = "LIST",
     .help = "stft: lengths of the transform; hops are a quarter",
     .fallback = "512,1024,2048"},
};
constexpr Param conv2d_list[] = {
    {.name = "shape",
     .value = "N,C,H,W,K,R,S,stride,padding,dilation",
     .help = "conv2d: a shape, or several by ;"},
    {.name = "precision",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "conv2d: of products and sums",
     .fallback = "float32",
     .choices = "float32,float64,tf32,bf16"},
    {.name = "layout",
     .kind = Kind::choice,
     .value = "NAME",
     .help = "conv2d: images as N x C x H x W, or with channels last",
     .fallback = "nchw",
     .choices = "nchw,nhwc"},
};
constexpr Param stream_list[] = {
    {.name = "modes", .value = "LIST", .help = "stream: memory modes, by commas; default all"},
    {.name = "chunk",
     .value = "LIST",
     .help = "stream: bytes a chunk, by commas",
     .fallback = "4MiB,16MiB,64MiB"},
    {.name = "slots",
     .kind = Kind::integer,
     .value = "N",
     .help = "stream: chunks in the ring",
     .fallback = "4"},
};

struct Use {
    std::string_view bench, options;
};
constexpr Use uses[] = {
    {"ceilings", "device,repeat,folder,save"},
    {"fir",
     "device,repeat,threads,strategy,taps,samples,channels,interleaved,type,calibrate,decimate,png,judge"},
    {"stft", "device,repeat,threads,samples,channels,nfft"},
    {"conv2d", "device,repeat,threads,strategy,shape,precision,layout"},
    {"stream", "device,repeat,threads,modes,chunk,slots"},
};

bool takes(const Use& use, std::string_view option) {
    const auto options = split(std::string(use.options), ',');
    return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace

std::vector<command::Group> bench_groups() {
    return {{"Bench", common_list},
            {"Filters (bench fir)", fir_list},
            {"Spectrograms (bench stft)", stft_list},
            {"Convolutions (bench conv2d)", conv2d_list},
            {"Memory modes (bench stream)", stream_list},
            {"Output", listing_params()}};
}

void check_bench_params(const Params& params, std::string_view bench) {
    const Use* const use =
        std::find_if(std::begin(uses), std::end(uses), [&](const Use& u) { return u.bench == bench; });
    for (const Param& option : params.declared()) {
        if (!params.given(option.name) || takes(*use, option.name)) continue;
        std::string others;
        for (const Use& u : uses)
            if (takes(u, option.name)) others += (others.empty() ? "" : ", ") + std::string(u.bench);
        if (!others.empty())
            throw usage_error(params.spelled(option.name) + " does not go with bench " + std::string(bench),
                              "it is for " + others);
    }
}

}  // namespace convoy::app
