// How fast the fft strategy is beside overlap-save on FFTW, one thread each, in one run: FFTW with its own
// best block length, planar batches (blocks read where they overlap in the signal, no copies) and interleaved
// ones, FFTW_PATIENT. Built only where FFTW is installed; nothing of it is part of convoy.
//
//   fftw_judge [--csv] [--wisdom FILE] [taps ...]   a line for each number of taps; exit status 1 where FFTW
//   is faster
//                                           or answers differ
//
// Planning takes minutes; wisdom keeps what FFTW has found, so that a second run on a quiet machine is short.
#include <fftw3.h>
#include <tbb/global_control.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "core/conv1d/conv1d.hpp"

using namespace convoy;

namespace {

constexpr Index samples = 1 << 21;
constexpr int repeats = 7;

/// Processor time of this thread: other programs on the machine do not count.
double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median_seconds(const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int r = 0; r < repeats; ++r) {
        const double start = now();
        work();
        seconds.push_back(now() - start);
    }
    std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
    return seconds[repeats / 2];
}

struct Free {
    void operator()(void* p) const { fftwf_free(p); }
};
template <class T>
std::unique_ptr<T[], Free> allocate(Index count) {
    return std::unique_ptr<T[], Free>(
        static_cast<T*>(fftwf_malloc(sizeof(T) * static_cast<std::size_t>(count))));
}

/// Overlap-save with blocks of n, `batch` at a time.
class FftwFilter {
  public:
    FftwFilter(const std::vector<float>& taps, Index n, int batch, bool interleaved)
        : n_(n),
          keep_(n - static_cast<Index>(taps.size()) + 1),
          batch_(batch),
          interleaved_(interleaved),
          in_(allocate<float>(n * batch + keep_ * batch)),
          out_(allocate<float>(n * batch)),
          spectrum_(allocate<fftwf_complex>((n / 2 + 1) * batch)),
          h_(allocate<fftwf_complex>(n / 2 + 1)) {
        const int length = static_cast<int>(n), half = length / 2 + 1;
        const int stride = interleaved ? batch : 1, in_distance = interleaved ? 1 : static_cast<int>(keep_);
        fftwf_set_timelimit(4);
        forward_ = fftwf_plan_many_dft_r2c(1, &length, batch, in_.get(), nullptr, stride, in_distance,
                                           spectrum_.get(), nullptr, stride, interleaved ? 1 : half,
                                           FFTW_PATIENT | FFTW_PRESERVE_INPUT | FFTW_UNALIGNED);
        backward_ = fftwf_plan_many_dft_c2r(1, &length, batch, spectrum_.get(), nullptr, stride,
                                            interleaved ? 1 : half, out_.get(), nullptr, stride,
                                            interleaved ? 1 : length, FFTW_PATIENT | FFTW_DESTROY_INPUT);
        std::fill_n(in_.get(), n, 0.0F);
        for (std::size_t k = 0; k < taps.size(); ++k)
            in_[static_cast<Index>(k)] = taps[k] / static_cast<float>(n);
        const fftwf_plan once = fftwf_plan_dft_r2c_1d(length, in_.get(), h_.get(), FFTW_ESTIMATE);
        fftwf_execute(once);
        fftwf_destroy_plan(once);
    }
    FftwFilter(const FftwFilter&) = delete;
    FftwFilter& operator=(const FftwFilter&) = delete;
    ~FftwFilter() {
        fftwf_destroy_plan(forward_);
        fftwf_destroy_plan(backward_);
    }

    /// y[i] = sum_k taps[k] x[i + M-1 - k] for i < outputs; x can be read a batch past its end.
    void run(float* x, float* y, Index outputs) const {
        for (Index at = 0; at < outputs; at += keep_ * batch_) {
            if (interleaved_) {
                for (Index i = 0; i < n_; ++i)
                    for (Index b = 0; b < batch_; ++b)
                        in_[i * batch_ + b] = x[at + b * keep_ + i];
                fftwf_execute(forward_);
            } else {
                fftwf_execute_dft_r2c(forward_, x + at, spectrum_.get());
            }
            multiply();
            fftwf_execute(backward_);
            for (Index b = 0; b < batch_; ++b) {
                const Index first = at + b * keep_, count = std::min(keep_, outputs - first);
                if (count <= 0) break;
                if (interleaved_)
                    for (Index i = 0; i < count; ++i)
                        y[first + i] = out_[(n_ - keep_ + i) * batch_ + b];
                else
                    std::copy_n(out_.get() + b * n_ + n_ - keep_, count, y + first);
            }
        }
    }

  private:
    void multiply() const {
        const Index half = n_ / 2 + 1;
        const auto times = [](fftwf_complex& z, const fftwf_complex& h) {
            const float re = z[0] * h[0] - z[1] * h[1], im = z[0] * h[1] + z[1] * h[0];
            z[0] = re;
            z[1] = im;
        };
        if (interleaved_)
            for (Index k = 0; k < half; ++k)
                for (Index b = 0; b < batch_; ++b)
                    times(spectrum_[k * batch_ + b], h_[k]);
        else
            for (Index b = 0; b < batch_; ++b)
                for (Index k = 0; k < half; ++k)
                    times(spectrum_[b * half + k], h_[k]);
    }

    Index n_, keep_, batch_;
    bool interleaved_;
    std::unique_ptr<float[], Free> in_, out_;
    std::unique_ptr<fftwf_complex[], Free> spectrum_, h_;
    fftwf_plan forward_, backward_;
};

conv1d::Problem lowpass(Index taps) {
    conv1d::Problem p;
    const double middle = static_cast<double>(taps - 1) / 2;
    for (Index k = 0; k < taps; ++k) {
        const double t = static_cast<double>(k) - middle;
        const double sinc = t == 0 ? 0.1 : std::sin(0.1 * M_PI * t) / (M_PI * t);
        p.taps.push_back(sinc * (0.54 - 0.46 * std::cos(2 * M_PI * static_cast<double>(k) / (2 * middle))));
    }
    p.shape.frames = samples;
    p.mode = conv1d::Mode::valid;
    return p;
}

bool judge(Index taps, bool csv) {
    const conv1d::Problem p = lowpass(taps);
    const Index outputs = p.outputs();
    const std::vector<float> h(p.taps.begin(), p.taps.end());
    std::vector<float> x(static_cast<std::size_t>(3 * samples)), ours(static_cast<std::size_t>(outputs)),
        theirs = ours;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::generate_n(x.begin(), samples, [&] { return normal(random); });

    const device::Device cpu = device::cpu();
    const std::unique_ptr<Stage> stage = conv1d::plan(p, conv1d::catalog().at("fft"), cpu);
    device::Stream stream;
    const Window in{reinterpret_cast<std::byte*>(x.data()), SampleType::float32, {0, samples}, 1, 1, samples};
    const Window out{
        reinterpret_cast<std::byte*>(ours.data()), SampleType::float32, {0, outputs}, 1, 1, outputs};
    const double mine = median_seconds([&] { stage->run(in, out, Lanes{}, stream); });

    double best = 1e9;
    Index best_length = 0;
    int best_batch = 0;
    bool best_interleaved = false;
    Index length = 128;
    while (length < 2 * taps)
        length *= 2;
    for (int more = 0; more < 4 && length <= samples / 2; ++more, length *= 2)
        for (const int batch : {1, 8, 32})
            for (const bool interleaved : {false, true}) {
                if ((batch == 1 && interleaved) || (batch > 1 && length * batch > (1 << 19))) continue;
                const FftwFilter filter(h, length, batch, interleaved);
                const double seconds = median_seconds([&] { filter.run(x.data(), theirs.data(), outputs); });
                if (seconds >= best) continue;
                best = seconds;
                best_length = length;
                best_batch = batch;
                best_interleaved = interleaved;
            }
    double differ = 0, largest = 0;
    for (Index i = 0; i < outputs; ++i) {
        differ = std::max<double>(differ, std::abs(ours[i] - theirs[i]));
        largest = std::max<double>(largest, std::abs(ours[i]));
    }
    const double rate = static_cast<double>(outputs) / 1e6;
    const char* const layout = best_batch == 1 ? "at a time" : best_interleaved ? "interleaved" : "planar";
    if (csv)
        std::printf("%ld,%ld,%.9g,%.9g,blocks of %ld; %d %s\n", static_cast<long>(taps),
                    static_cast<long>(samples), mine, best, static_cast<long>(best_length), best_batch,
                    layout);
    else
        std::printf(
            "%6ld taps: fft %7.1f Ms/s, FFTW %7.1f Ms/s (blocks of %ld, %d %s): %.2f times as fast, "
            "difference "
            "%.1e\n",
            static_cast<long>(taps), rate / mine, rate / best, static_cast<long>(best_length), best_batch,
            layout, best / mine, differ / largest);
    std::fflush(stdout);
    return best >= mine && differ < 1e-5 * largest;
}

}  // namespace

int main(int argc, char** argv) {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    std::vector<Index> taps;
    const char* wisdom = nullptr;
    bool csv = false;
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "--wisdom" && i + 1 < argc)
            wisdom = argv[++i];
        else if (std::string_view(argv[i]) == "--csv")
            csv = true;
        else
            taps.push_back(std::atol(argv[i]));
    if (wisdom != nullptr) fftwf_import_wisdom_from_filename(wisdom);
    if (taps.empty()) taps = {31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 10001, 16383, 32767, 65535};
    if (csv) std::printf("taps,samples,fft_s,fftw_s,plan\n");
    bool good = true;
    for (const Index m : taps)
        good = judge(m, csv) && good;
    if (wisdom != nullptr) fftwf_export_wisdom_to_filename(wisdom);
    return good ? 0 : 1;
}
