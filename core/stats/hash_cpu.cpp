#include "core/stats/hash_cpu.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/stats/hash_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::stats::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t weyl = 0x9e3779b97f4a7c15;

// Words as they lie; 16-bit ones are widened. The tail is filled up with words whose terms are masked off.
template <class Word>
Hash run(const Word* words, Index count, Index first) {
    const hn::ScalableTag<std::uint64_t> d;
    const hn::Rebind<Word, decltype(d)> dw;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const auto one = hn::Set(d, std::uint64_t{1} << 32);
    const auto step = hn::Set(d, weyl * static_cast<std::uint64_t>(lanes));
    const auto start = static_cast<std::uint64_t>(first) + 1;
    HWY_ALIGN std::uint64_t keys[HWY_MAX_BYTES / 8];
    for (Index i = 0; i < lanes; ++i)
        keys[i] = weyl * (start + static_cast<std::uint64_t>(i));
    auto k = hn::Load(d, keys);
    auto low = hn::Zero(d), high = hn::Zero(d);
    const auto product = [&](auto a, auto b) {  // of the low halves
#if HWY_TARGET == HWY_SCALAR
        return hn::Set(d, (hn::GetLane(a) & 0xffffffff) * (hn::GetLane(b) & 0xffffffff));
#else
        const hn::Repartition<std::uint32_t, decltype(d)> d32;
        return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
#endif
    };
    const auto mix = [&](auto w, auto& to_low, auto& to_high) {
        const auto r = hn::Xor(k, product(k, hn::ShiftRight<32>(k)));
        const auto r_high = hn::ShiftRight<32>(r);
        to_low = product(hn::Xor(w, r), hn::ShiftRight<32>(hn::Or(r, one)));
        to_high = product(hn::Add(w, r_high), hn::Xor(w, k));
        k = hn::Add(k, step);
    };
    const auto load = [&](const Word* from) {
        if constexpr (sizeof(Word) == 2)
            return hn::PromoteTo(
                d, hn::PromoteTo(hn::Rebind<std::uint32_t, decltype(d)>(), hn::LoadU(dw, from)));
        else
            return hn::PromoteTo(d, hn::LoadU(dw, from));
    };
    Index i = 0;
    auto to_low = low, to_high = high;
    for (; i + lanes <= count; i += lanes) {
        mix(load(words + i), to_low, to_high);
        low = hn::Add(low, to_low);
        high = hn::Add(high, to_high);
    }
    if (i < count) {
        Word rest[HWY_MAX_BYTES / 8] = {};
        std::memcpy(rest, words + i, static_cast<std::size_t>(count - i) * sizeof(Word));
        mix(load(rest), to_low, to_high);
        const auto there = hn::FirstN(d, static_cast<std::size_t>(count - i));
        low = hn::Add(low, hn::IfThenElseZero(there, to_low));
        high = hn::Add(high, hn::IfThenElseZero(there, to_high));
    }
    return {hn::GetLane(hn::SumOfLanes(d, low)), hn::GetLane(hn::SumOfLanes(d, high))};
}

Hash run16(const std::byte* words, Index count, Index first) {
    return run(reinterpret_cast<const std::uint16_t*>(words), count, first);
}
Hash run32(const std::byte* words, Index count, Index first) {
    return run(reinterpret_cast<const std::uint32_t*>(words), count, first);
}

}  // namespace convoy::stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::stats {

HWY_EXPORT(run16);
HWY_EXPORT(run32);

Hash hash_run(const std::byte* samples, Index bytes, Index count, Index first) {
    if (bytes == 2) return HWY_DYNAMIC_DISPATCH(run16)(samples, count, first);
    const Index words = bytes / 4;
    return HWY_DYNAMIC_DISPATCH(run32)(samples, count * words, first * words);
}

}  // namespace convoy::stats
#endif
