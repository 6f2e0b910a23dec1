// A tile of sums in registers, for one SIMD target: four outputs by a strip of neighbouring columns. Included
// by sources that Highway compiles once a target (hwy/foreach_target.h).
#if defined(CONVOY_CONV2D_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOY_CONV2D_TILE_INL
#undef CONVOY_CONV2D_TILE_INL
#else
#define CONVOY_CONV2D_TILE_INL
#endif

#include <hwy/highway.h>

#include <utility>

#include "core/base/signal.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::conv2d::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// sums[o][i] += taps[o] * samples[i], a tap after the other, for outputs o < 4 and columns i of a strip.
template <class T>
class Sums {
    static constexpr hn::ScalableTag<T> tag{};
    using Vec = hn::Vec<hn::ScalableTag<T>>;
    static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(tag));
    // Sums, samples and a tap: 16 of 16 registers, or 31 of 32.
    static constexpr int vectors = HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM_A64 ? 6 : 3;

  public:
    static constexpr int outputs = 4;
    static constexpr Index strip = vectors * lanes;

    HWY_INLINE Sums() : Sums(all) {}

    /// `count` taps, samples `step` apart from tap to tap, taps[count][active] for outputs first .. first +
    /// active.
    template <int first, int active>
    HWY_INLINE void add(const T* samples, Index step, const T* taps, Index count) {
        for (Index i = 0; i < count; ++i, samples += step, taps += active)
            tap<first>(samples, taps, across, std::make_index_sequence<active>());
    }

    /// Adds the sums to those at to[o], or puts them there.
    HWY_INLINE void total(bool put, T* const* to) const { total(put, to, all); }

    /// Bias and ReLU of the strip of one output, in memory.
    static HWY_INLINE void finish(T* at, T bias, bool relu) {
        for (int v = 0; v < vectors; ++v, at += lanes) {
            Vec sum = hn::Add(hn::LoadU(tag, at), hn::Set(tag, bias));
            if (relu) sum = hn::IfThenElse(hn::Lt(sum, hn::Zero(tag)), hn::Zero(tag), sum);  // NaN stays
            hn::StoreU(sum, tag, at);
        }
    }

  private:
    // Elements are named by constants only, so that they stay in registers.
    static constexpr auto all = std::make_index_sequence<outputs * vectors>();
    static constexpr auto across = std::make_index_sequence<vectors>();

    template <std::size_t... i>
    explicit HWY_INLINE Sums(std::index_sequence<i...>) : v_{(static_cast<void>(i), hn::Zero(tag))...} {}

    template <int first, std::size_t... v, std::size_t... o>
    HWY_INLINE void tap(const T* x, const T* taps, std::index_sequence<v...>, std::index_sequence<o...>) {
        const Vec samples[] = {load<sizeof...(o)>(x + static_cast<Index>(v) * lanes)...};
        (multiply_add<first + static_cast<int>(o)>(samples, hn::Set(tag, taps[o]), across), ...);
    }
    template <int o, std::size_t... v>
    HWY_INLINE void multiply_add(const Vec* samples, Vec tap, std::index_sequence<v...>) {
        constexpr int at = o * vectors;
        ((v_[at + static_cast<int>(v)] = hn::MulAdd(samples[v], tap, v_[at + static_cast<int>(v)])), ...);
    }

    // GCC would rather load samples once for each tap than keep them: it must not know that the register
    // holds what is in memory.
    template <std::size_t uses>
    static HWY_INLINE Vec load(const T* x) {
        Vec samples = hn::LoadU(tag, x);
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
        if constexpr (uses > 1) asm("" : "+v"(samples.raw));
#endif
        return samples;
    }

    template <std::size_t... i>
    HWY_INLINE void total(bool put, T* const* to, std::index_sequence<i...>) const {
        const auto one = [&](Vec sum, T* at) {
            hn::StoreU(put ? sum : hn::Add(hn::LoadU(tag, at), sum), tag, at);
        };
        (one(v_[i], to[i / vectors] + static_cast<Index>(i % vectors) * lanes), ...);
    }

    Vec v_[outputs * vectors];
};

}  // namespace convoy::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
