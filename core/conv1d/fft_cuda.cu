// Overlap-save in one kernel: a block of threads takes a pair of neighbouring blocks of samples from memory
// through a transform, the product with the filter's and the way back, to the outputs.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/quantity.hpp"
#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/fft_guard.hpp"
#include "core/conv1d/fft_kernels_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d {

namespace gpu {
namespace {

// Of pairs on one H200 (data/benchmarks/h200-fir-2026-11-30.json); twice as long on half as many
// multiprocessors.
constexpr PairTime time16{25e-9, 18e-9}, time32{190e-9, 62e-9}, time16_double{52e-9, 38e-9};

std::optional<OverlapSave> careful_way(const Problem& p) {
    return overlap_save(p, 16, time16_double);
}

/// Transforms in float, unless noise would be too much for them: shorter filters with one tap above all
/// others.
std::optional<OverlapSave> quick_way(const Problem& p) {
    if (p.arithmetic == SampleType::float64) return std::nullopt;
    double largest = 0;
    for (const double h : p.taps)
        largest = std::max(largest, std::abs(h));
    if (!(largest > 1e-15 && largest < 1e15)) return std::nullopt;
    const std::optional<OverlapSave> shorter = overlap_save(p, 16, time16),
                                     longer = overlap_save(p, 32, time32);
    if (!shorter || !longer) return shorter ? shorter : longer;
    const bool less = shorter->pair * longer->keep <= longer->pair * shorter->keep;
    return less ? shorter : longer;
}

double allowed_error(const Problem& p) {
    const double u = p.arithmetic == SampleType::float32 ? 0x1p-24 : 0x1p-53;
    return u * (4 * (2 + std::sqrt(static_cast<double>(p.taps.size()))) - 1);
}

/// The largest magnitude in a spectrum that block_spectrum() gave.
template <class T>
double gain_of(const std::vector<fft::Complex<T>>& spectrum) {
    double largest = 0;
    for (const fft::Complex<T>& c : spectrum)
        largest = std::max(largest, std::hypot(static_cast<double>(c.re), static_cast<double>(c.im)));
    return largest * static_cast<double>(spectrum.size());
}
double norm_of(const std::vector<double>& taps) {
    double sum = 0;
    for (const double h : taps)
        sum += h * h;
    return std::sqrt(sum);
}

/// Whether transforms in the arithmetic of the problem keep the promise for noise.
bool enough_for_noise(const Problem& p, const OverlapSave& way) {
    const Index taps = static_cast<Index>(p.taps.size());
    if (taps >= 2000) return true;  // long filters sum up enough, and take long to weigh
    const double gain = gain_of(way.radix == 16 ? fft::block_spectrum<float, 16>(p.taps, 0)
                                                : fft::block_spectrum<float, 32>(p.taps, 0));
    const Guard<float> guard(p.taps, segment_for(way.radix, taps));
    return conv1d::enough_for_noise(taps, {norm_of(p.taps), gain}, way.length, guard.noise());
}

/// A filter's tables on the device.
template <class T>
class Tables {
  public:
    Tables(const Problem& p, const device::Device& device, const OverlapSave& way, int blocks) {
        if (way.radix == 16)
            make<16>(p, device, way);
        else
            make<32>(p, device, way);
        if (way.parts > 1)
            sums_ = device::Buffer(device, static_cast<std::size_t>(blocks * way.length) * sizeof(Complex));
        const Index taps = static_cast<Index>(p.taps.size());
        filter_ = {at<Complex>(turns_),
                   at<Complex>(spectra_),
                   at<T>(parts_),
                   at<T>(weights_),
                   weight_count_,
                   way.keep,
                   way.parts,
                   way.part,
                   taps,
                   static_cast<T>(fft_error_factor * std::numeric_limits<T>::epsilon() / 2),
                   static_cast<T>(allowed_error(p)),
                   longest_segment(taps),
                   at<Complex>(sums_)};
    }
    const FftFilter<T>& filter() const { return filter_; }

  private:
    using Complex = fft::Complex<T>;

    template <int R>
    void make(const Problem& p, const device::Device& device, const OverlapSave& way) {
        std::vector<Complex> spectra;
        std::vector<T> parts, weights;
        const int group = segment_for(way.radix, static_cast<Index>(p.taps.size()));
        for (int part = 0; part < way.parts; ++part) {
            const std::vector<double> taps = way.taps_of(part, p.taps);
            const auto one = fft::block_spectrum<T, R>(taps, static_cast<Index>(taps.size()) - 1);
            spectra.insert(spectra.end(), one.begin(), one.end());
            const double norm = norm_of(taps), gain = gain_of(one);
            // Of several parts each product is rounded, and so are the sums; bins are within the gain.
            const double rounded = way.parts > 1 ? 4 + way.parts : 0;
            const Guard<T> guard(taps, group);
            for (const double v :
                 {norm * norm, gain * gain, rounded * gain * gain / static_cast<double>(way.length),
                  static_cast<double>(guard.slack())})
                parts.push_back(static_cast<T>(v));
            // A part has few enough taps for the guard to take all segments from the second on; the first
            // part has most.
            if (part == 0) weight_count_ = static_cast<int>(round_up(way.part / group, 4));
            weights.insert(weights.end(), guard.weights().begin(), guard.weights().end());
            weights.resize(static_cast<std::size_t>((part + 1) * weight_count_), T{0});
        }
        turns_ = upload(device, fft::block_turns<T, R>());
        spectra_ = upload(device, spectra);
        parts_ = upload(device, parts);
        weights_ = upload(device, weights);
    }
    template <class V>
    static device::Buffer upload(const device::Device& device, const std::vector<V>& values) {
        device::Buffer buffer(device, std::max<std::size_t>(values.size(), 1) * sizeof(V));
        if (!values.empty()) device::upload(buffer, values.data(), values.size() * sizeof(V));
        return buffer;
    }
    template <class V>
    static V* at(const device::Buffer& buffer) {
        return reinterpret_cast<V*>(buffer.data());
    }

    device::Buffer turns_, spectra_, parts_, weights_, sums_;
    int weight_count_ = 0;
    FftFilter<T> filter_{};
};

/// A kernel's shared memory, and the blocks that fill the device.
template <class Kernel>
int blocks_of(Kernel kernel, int threads, std::size_t bytes, const device::Device& device) {
    use_shared_memory(reinterpret_cast<const void*>(kernel), device);
    int blocks = 0;
    device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes),
                  "counting blocks");
    return std::max(blocks, 1) * std::max(device.attributes.multiprocessors, 1);
}

/// S is the arithmetic of the problem.
template <class S>
class FftStage : public CudaStage {
  public:
    FftStage(const Problem& p, const device::Device& device, const OverlapSave& careful,
             const std::optional<OverlapSave>& quick)
        : CudaStage(p, device, true),
          careful_(careful),
          quick_(quick),
          careful_kernel_(careful_kernel_for(taps())),
          careful_bytes_(FftShared<double, 16, 8>::bytes(careful.keep)),
          careful_blocks_(blocks_of(careful_kernel_, 256, careful_bytes_, device)),
          careful_tables_(p, device, careful, careful_blocks_),
          taps_(upload_values(device, SampleType::float64, backwards(p.taps))),
          left_(device, 64 + most_items * sizeof(unsigned)) {
        const std::vector<std::byte> nothing(64);
        device::upload(left_, nothing.data(), nothing.size());
        if (!quick) return;
        quick_bytes_ = quick->radix == 16 ? FftShared<float, 16, 8>::bytes(quick->keep)
                                          : FftShared<float, 32, 32>::bytes(quick->keep);
        quick_threads_ = quick->radix * 16;
        quick_kernel_ = quick_kernel_for(*quick, taps());
        quick_blocks_ = blocks_of(quick_kernel_, quick_threads_, quick_bytes_, device);
        quick_tables_.emplace(p, device, *quick, quick_blocks_);
    }

    Index block() const override { return way().results() / problem().decimate; }
    bool single_pass() const override {
        const OverlapSave& w = way();
        return problem().shape.inner == 1 && w.parts == 1 && 16 * (w.part - 1) <= w.results();
    }
    Facts facts() const override {
        unsigned long long counts[2] = {};
        device::use(device());
        device::check(cudaMemcpy(counts, left_.data() + 16, sizeof counts, cudaMemcpyDeviceToHost),
                      "counting blocks");
        const auto total = static_cast<double>(total_.load());
        return {{"fft_length", static_cast<double>(way().length)},
                {"blocks_total", total},
                {"blocks_float64", std::is_same_v<S, double> ? 0
                                   : quick_                  ? 2 * static_cast<double>(counts[0])
                                                             : total},
                {"blocks_direct", 2 * static_cast<double>(counts[1])}};
    }

  protected:
    // Outputs that use padding come from transforms of their own, so that the others, of which samples lie in
    // the same blocks, have the same bits with any padding.
    void launch(const Job& job, cudaStream_t stream) override {
        Job inside = job;
        inside.padding = Padding::zero;
        transform(inside, job.out_span, stream);
        if (job.padding == Padding::zero) return;
        const AtEnds ends = outputs_at_ends(job);
        transform(job, ends.start, stream);
        transform(job, ends.end, stream);
    }

  private:
    static constexpr Index most_items = Index{1} << 18;  // of one launch

    void transform(const Job& job, Span wanted, cudaStream_t stream) {
        FftWork work;
        work.pairs = pairs_of(job, block(), wanted);
        work.by_decimation = Divisor(static_cast<int>(job.decimate));
        const FftLeft left{reinterpret_cast<unsigned*>(left_.data()),
                           reinterpret_cast<unsigned*>(left_.data() + 64),
                           reinterpret_cast<unsigned long long*>(left_.data() + 16)};
        for (Index all = work.pairs.count(); work.first < all; work.first += work.count) {
            work.count = std::min(all - work.first, most_items);
            work.pieces = 1;
            if (quick_) launch_quick(job, work, left, stream);
            work.pieces = static_cast<int>(ceil_div(way().results(), careful_.results()));
            const auto blocks = std::min<Index>(work.count * work.pieces, careful_blocks_);
            careful_kernel_<<<static_cast<unsigned>(blocks), 256, careful_bytes_, stream>>>(
                job, careful_tables_.filter(), work, left, quick_.has_value(),
                reinterpret_cast<const double*>(taps_.data()));
            device::check_launch("fft");
            total_ += 2 * work.count;
        }
    }

    using CarefulKernel = void (*)(Job, FftFilter<double>, FftWork, FftLeft, bool, const double*);
    using QuickKernel = void (*)(Job, FftFilter<float>, FftWork, FftLeft);
    static CarefulKernel careful_kernel_for(Index taps) {
        const int q = segment_for(16, taps);
        return q == 8 ? careful_kernel<S, 8> : q == 16 ? careful_kernel<S, 16> : careful_kernel<S, 32>;
    }
    static QuickKernel quick_kernel_for(const OverlapSave& way, Index taps) {
        const int q = segment_for(way.radix, taps);
        if (way.radix == 32) return fft_kernel<32, 32>;
        return q == 8 ? fft_kernel<16, 8> : q == 16 ? fft_kernel<16, 16> : fft_kernel<16, 32>;
    }

    const OverlapSave& way() const { return quick_ ? *quick_ : careful_; }
    void launch_quick(const Job& job, const FftWork& work, const FftLeft& left, cudaStream_t stream) const {
        device::check(cudaMemsetAsync(left.listed, 0, sizeof(unsigned), stream), "clearing a count");
        const auto blocks = static_cast<unsigned>(std::min<Index>(work.count, quick_blocks_));
        quick_kernel_<<<blocks, static_cast<unsigned>(quick_threads_), quick_bytes_, stream>>>(
            job, quick_tables_->filter(), work, left);
        device::check_launch("fft");
    }

    OverlapSave careful_;
    std::optional<OverlapSave> quick_;
    CarefulKernel careful_kernel_;
    std::size_t careful_bytes_, quick_bytes_ = 0;
    int careful_blocks_, quick_blocks_ = 0, quick_threads_ = 0;
    QuickKernel quick_kernel_ = nullptr;
    Tables<double> careful_tables_;
    std::optional<Tables<float>> quick_tables_;
    device::Buffer taps_, left_;
    std::atomic<Index> total_{0};
};

/// What is done for a problem: in float where that will mostly do.
struct Ways {
    std::optional<OverlapSave> quick, careful;
    const OverlapSave& taken() const { return quick ? *quick : *careful; }
};
Ways ways(const Problem& p) {
    Ways w{quick_way(p), careful_way(p)};
    if (w.quick && !enough_for_noise(p, *w.quick)) w.quick.reset();
    return w;
}

std::string unsupported(const Problem& p, const device::Device&) {
    if (careful_way(p)) return {};
    return "it keeps less than one result of a transform when decimating by " + to_text(p.decimate);
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device& d) {
    const Ways w = ways(p);
    if (p.arithmetic == SampleType::float64)
        return std::make_unique<FftStage<double>>(p, d, *w.careful, std::nullopt);
    return std::make_unique<FftStage<float>>(p, d, *w.careful, w.quick);
}

std::optional<double> cost(const Problem& p, const device::Device& d) {
    const Ways all = ways(p);
    // Where bounds are too weak for noise in the arithmetic of the problem, most outputs may be summed
    // directly.
    if (p.taps.size() < 64 || (p.arithmetic == SampleType::float64 && !enough_for_noise(p, all.taken())))
        return std::nullopt;
    const OverlapSave way = all.taken();
    const double units = std::max(d.attributes.multiprocessors, 1);
    const double pairs = 1e9 * static_cast<double>(p.decimate) / static_cast<double>(way.results());
    // Interleaved samples come in whole sectors, of which a lane uses one word.
    const double slower = p.shape.inner == 1 ? 1 : 4.5;
    return std::max(1.15 * floor_of(p, d).memory, slower * pairs * way.pair * 132 / units);
}

Index transform_length(const Problem& p, const device::Device&) {
    return ways(p).taken().length;
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy fft_cuda{
    "fft",     device::Backend::cuda, "overlap-save in one kernel: long filters", gpu::unsupported, gpu::make,
    gpu::cost, gpu::transform_length};

}  // namespace convoy::conv1d
