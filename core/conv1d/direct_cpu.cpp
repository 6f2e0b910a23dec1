// Direct sums with Highway. A strip of outputs stays in registers while the taps go by; each vector of
// samples that is loaded serves several taps that are a vector's length apart, so that loads do not hold up
// the multiplications.
//
// Decimation splits samples and taps into phases (polyphase form): row r holds samples r, r + D, ...; D = 1
// has one.
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"
#include "core/conv1d/cpu_cost.hpp"
#include "core/conv1d/cpu_stage.hpp"
#include "core/conv1d/wide_range.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/direct_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
class DirectRows : public RowKernel<T> {
    static constexpr hn::ScalableTag<T> tag{};
    using Vec = hn::Vec<hn::ScalableTag<T>>;
    static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(tag));
    // Two sums for each vector of outputs, so that they need not wait for one another: 8 vectors where there
    // are 32 registers, 5 where there are 16, beside the taps and the samples.
    static constexpr int vectors = HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM_A64 ? 8 : 5;
    static constexpr Index strip = vectors * lanes;
    static constexpr Index most_taps = 4;  // that a vector of samples serves

    // Taps offset + p + lanes * t of a row's filter, p by p: t <= each for the first `more` p's, t < each for
    // the other lanes - more. After the last group of a block the sums join the totals.
    struct Group {
        Index row, offset, more, each;
        Index taps;  // where they start in taps_
        bool last = true;

        Index chain() const { return (more + 1) / 2 * (each + 1) + (lanes - more + 1) / 2 * each; }
    };

  public:
    explicit DirectRows(const Problem& p)
        : m_(static_cast<Index>(p.taps.size())), decimate_(p.decimate), rows_(std::min(decimate_, m_)) {
        for (Index r = 0; r < rows_; ++r)
            for (Index q = 0; q < length_of(r); q += lanes * most_taps)
                add_group(p.taps, r, q);
        // Errors: a term is rounded once for each sum after it in its chain and once a block, and that must
        // stay below 4 (2 + sqrt(M)) for any samples.
        const double root = std::sqrt(static_cast<double>(m_)),
                     most = std::max(root, std::min(32.0, 4 * root));
        Index chain = 0;
        for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
            chain += groups_[g].chain();
            groups_[g].last = static_cast<double>(chain + groups_[g + 1].chain()) > most;
            if (groups_[g].last) chain = 0;
        }
    }

    Index tile() const override { return std::max(4096 / decimate_, strip); }
    Index scratch() const override { return rows_ * pitch(tile()) + strip; }

    void run(const T* const* x, T* const* y, Index rows, Index, Index count, T* scratch) override {
        for (Index r = 0; r < rows; ++r)
            run_row(x[r], y[r], count, scratch);
    }

  private:
    Index length_of(Index row) const { return (m_ - row + decimate_ - 1) / decimate_; }  // taps of a phase
    Index pitch(Index count) const { return std::max(count, strip) + length_of(0) - 1; }

    void add_group(const std::vector<double>& taps, Index row, Index offset) {
        const Index left = length_of(row) - offset;
        const bool full = left >= lanes * most_taps;
        const Group g{row, offset, full ? 0 : left % lanes, full ? most_taps : left / lanes,
                      static_cast<Index>(taps_.size())};
        groups_.push_back(g);
        for (Index p = 0; p < lanes; ++p)
            for (Index t = 0; t < g.each + (p < g.more); ++t)
                taps_.push_back(static_cast<T>(
                    taps[static_cast<std::size_t>(m_ - 1 - (row + decimate_ * (offset + p + lanes * t)))]));
    }

    void run_row(const T* x, T* y, Index count, T* scratch) const {
        const T* rows = x;
        if (decimate_ > 1 || count < strip) {
            split(x, count, scratch);
            rows = scratch;
        }
        const Index next = pitch(count);
        if (count < strip) {
            T* const all = scratch + rows_ * next;
            run_strip(rows, next, all);
            std::copy_n(all, count, y);
            return;
        }
        // The last strip ends with the outputs; what it does again comes out the same.
        for (Index i = 0; i < count; i += strip) {
            const Index at = std::min(i, count - strip);
            run_strip(rows + at, next, y + at);
        }
    }

    // Phases of x into rows of the scratch, followed by zeros where a whole strip reads on.
    void split(const T* x, Index count, T* scratch) const {
        constexpr Index at_once = 64;
        static const LaneScale as_they_are[at_once];
        const Index next = pitch(count), least = length_of(rows_ - 1), common = count - 1 + least;
        for (Index first = 0; first < rows_; first += at_once) {
            const Index here = std::min(at_once, rows_ - first);
            T* row[at_once];
            for (Index r = 0; r < here; ++r)
                row[r] = scratch + (first + r) * next;
            load_rows<T>(reinterpret_cast<const std::byte*>(x + first), SampleTypeOf<T>::value, decimate_,
                         here, common, as_they_are, row);
        }
        for (Index r = 0; r < rows_; ++r) {
            T* end = scratch + r * next + common;
            if (length_of(r) > least) *end++ = x[common * decimate_ + r];
            std::fill(end, scratch + (r + 1) * next, T{0});
        }
    }

    // Vectors of sums; elements are named by constants only, so that they stay in registers.
    struct Sums {
        Vec v[vectors];
    };
    static constexpr auto every = std::make_index_sequence<vectors>();

    // A strip of outputs from rows that are `next` samples apart.
    void run_strip(const T* rows, Index next, T* y) const {
        Sums even = zeros(every), odd = zeros(every);
        bool first = true;
        for (const Group& g : groups_) {
            const T* const x = rows + g.row * next + g.offset;
            const T* const taps = taps_.data() + g.taps;
            switch (g.each) {
                case 0:
                    phases<1>(x, taps, g.more, even, odd);
                    break;
                case 1:
                    both<1>(x, taps, g.more, even, odd);
                    break;
                case 2:
                    both<2>(x, taps, g.more, even, odd);
                    break;
                case 3:
                    both<3>(x, taps, g.more, even, odd);
                    break;
                default:
                    phases<4>(x, taps, lanes, even, odd);
            }
            if (!g.last) continue;
            total(even, odd, first, y, every);
            first = false;
            even = zeros(every), odd = zeros(every);
        }
    }

    template <std::size_t... u>
    static HWY_INLINE Sums zeros(std::index_sequence<u...>) {
        return {{(static_cast<void>(u), hn::Zero(tag))...}};
    }
    template <std::size_t... u>
    static HWY_INLINE void total(const Sums& even, const Sums& odd, bool first, T* y,
                                 std::index_sequence<u...>) {
        const auto put = [&](Vec sum, T* to) {
            hn::StoreU(first ? sum : hn::Add(hn::LoadU(tag, to), sum), tag, to);
        };
        (put(hn::Add(even.v[u], odd.v[u]), y + static_cast<Index>(u) * lanes), ...);
    }

    template <int each>
    static HWY_INLINE void both(const T* x, const T* taps, Index more, Sums& even, Sums& odd) {
        phases<each + 1>(x, taps, more, even, odd);
        phases<each>(x + more, taps + more * (each + 1), lanes - more, even, odd);
    }

    // `count` phases of n taps, in turn to the one sum and to the other.
    template <int n>
    static HWY_INLINE void phases(const T* x, const T* taps, Index count, Sums& even, Sums& odd) {
        constexpr auto loads = std::make_index_sequence<vectors + n - 1>();
        constexpr auto all = std::make_index_sequence<n>();
        Index p = 0;
        for (; p + 1 < count; p += 2) {
            phase(x + p, taps + p * n, even, loads, all);
            phase(x + p + 1, taps + (p + 1) * n, odd, loads, all);
        }
        if (p < count) phase(x + p, taps + p * n, even, loads, all);
    }

    template <std::size_t... v, std::size_t... t>
    static HWY_INLINE void phase(const T* x, const T* taps, Sums& sum, std::index_sequence<v...>,
                                 std::index_sequence<t...> all) {
        const Vec tap[] = {hn::Set(tag, taps[t])...};
        (use<static_cast<int>(v)>(load<sizeof...(t)>(x + static_cast<Index>(v) * lanes), tap, sum, all), ...);
    }

    // GCC would rather load samples once for each tap than keep them, which costs a third of the speed: it
    // must not know that the register holds what is in memory.
    template <std::size_t uses>
    static HWY_INLINE Vec load(const T* x) {
        Vec samples = hn::LoadU(tag, x);
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
        if constexpr (uses > 1) asm("" : "+v"(samples.raw));
#endif
        return samples;
    }

    // Vector v of samples times tap t belongs to vector v - t of outputs.
    template <int v, std::size_t... t>
    static HWY_INLINE void use(Vec x, const Vec* tap, Sums& sum, std::index_sequence<t...>) {
        (add<v - static_cast<int>(t)>(x, tap[t], sum), ...);
    }
    template <int u>
    static HWY_INLINE void add(Vec x, Vec tap, Sums& sum) {
        if constexpr (u >= 0 && u < vectors) sum.v[u] = hn::MulAdd(x, tap, sum.v[u]);
    }

    Index m_, decimate_, rows_;
    std::vector<T> taps_;
    std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<RowKernel<float>> direct_rows32(const Problem& p) {
    return std::make_unique<DirectRows<float>>(p);
}
std::unique_ptr<RowKernel<double>> direct_rows64(const Problem& p) {
    return std::make_unique<DirectRows<double>>(p);
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

namespace {

HWY_EXPORT(direct_rows32);
HWY_EXPORT(direct_rows64);

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic == SampleType::float64)
        return make_cpu_stage(p, nullptr, HWY_DYNAMIC_DISPATCH(direct_rows64)(p));
    return make_cpu_stage(p, with_wide_range(HWY_DYNAMIC_DISPATCH(direct_rows32)(p), p), nullptr);
}

std::optional<double> cost(const Problem& p, const device::Device&) {
    return cpu_cost::direct_seconds(p);
}

}  // namespace

extern constinit const Strategy direct_cpu{
    "direct", device::Backend::cpu, "sums in the arithmetic type, in vectors", unsupported, make, cost};

}  // namespace convoy::conv1d
#endif
