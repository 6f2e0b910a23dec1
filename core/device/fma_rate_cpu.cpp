#include "core/device/fma_rate_cpu.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "core/device/device.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/device/fma_rate_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::device::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int chains = 12;  // more than latency times issue width, fewer than there are registers

// `rounds` multiply-adds in each of 12 independent chains; returns the operations done.
double multiply_add(long rounds, float* out) {
    const hn::ScalableTag<float> d;
    // Chains that start alike would be one to the compiler.
    const auto start = [&](int chain) { return hn::Set(d, out[0] + static_cast<float>(chain)); };
    auto a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5), h = start(6);
    auto i = start(7), j = start(8), k = start(9), l = start(10), m = start(11);
    const auto x = hn::Set(d, out[0]), y = hn::Set(d, out[1]);
    for (long r = 0; r < rounds; ++r) {
        a = hn::MulAdd(x, a, y), b = hn::MulAdd(x, b, y), c = hn::MulAdd(x, c, y), e = hn::MulAdd(x, e, y);
        f = hn::MulAdd(x, f, y), g = hn::MulAdd(x, g, y), h = hn::MulAdd(x, h, y), i = hn::MulAdd(x, i, y);
        j = hn::MulAdd(x, j, y), k = hn::MulAdd(x, k, y), l = hn::MulAdd(x, l, y), m = hn::MulAdd(x, m, y);
    }
    const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i)));
    out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, hn::Add(hn::Add(j, k), hn::Add(l, m)))));
    return 2.0 * static_cast<double>(rounds) * chains * static_cast<double>(hn::Lanes(d));
}

}  // namespace convoy::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::device {

namespace {

HWY_EXPORT(multiply_add);

// The best rate of nine runs of `work`, which returns how much it has done: a ceiling is what the machine
// can, not what its other users leave.
template <class Work>
double best_rate(const Work& work) {
    std::array<double, 9> rates;
    for (double& rate : rates) {
        const auto start = std::chrono::steady_clock::now();
        const double done = work();
        rate = done / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return *std::max_element(rates.begin(), rates.end());
}

}  // namespace

double fma_rate() {
    volatile float sink = 0;
    return best_rate([&] {
        float values[2] = {0.5f, 0.25f};
        const double done = HWY_DYNAMIC_DISPATCH(multiply_add)(2'000'000, values);
        sink = values[0];
        return done;
    });
}

double copy_rate() {
    constexpr std::size_t bytes = 64u << 20;
    const Buffer from(cpu(), bytes), to(cpu(), bytes);
    std::memset(from.data(), 1, bytes);
    std::memset(to.data(), 2, bytes);
    return best_rate([&] {
        std::memcpy(to.data(), from.data(), bytes);
        return 2.0 * static_cast<double>(bytes);
    });
}

}  // namespace convoy::device
#endif
