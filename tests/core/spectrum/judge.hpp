// What the tests of spectrograms share: samples that SciPy makes alike, whole results from pieces,
// comparisons.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/window/window.hpp"
#include "tests/catch.hpp"

namespace convoy::spectrum::judge {

// Noise that C++ and Python make alike: whole numbers.
inline double noise(Index i) {
    return static_cast<double>((i * 7919 + i * i * 104729 + i / 7 * 31) % 65536 - 32768) / 32768;
}
inline const std::string same_noise =
    "i = np.arange(100000, dtype=np.int64)\n"
    "x = ((i * 7919 + i * i * 104729 + i // 7 * 31) % 65536 - 32768) / 32768\n";

inline std::vector<double> noise_of(Index n, Index offset = 0) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] = noise(i + offset);
    return x;
}

inline Problem problem_for(Index frames, const char* window, Index length, Index nfft, Index hop) {
    Problem p;
    p.window = window::make(window, length, window::Symmetry::periodic);
    p.nfft = nfft;
    p.hop = hop;
    p.rate = 8000;
    p.shape = {1, frames, 1};
    p.in = SampleType::float64;
    p.arithmetic = SampleType::float64;
    return p;
}

// The whole result, in columns of `chunk` at a time, as [row][frame][part] of doubles. Each window holds what
// the stage says it needs and nothing more; its surroundings are NaN.
template <class T>
std::vector<double> run(const Problem& p, const std::vector<T>& samples, Index chunk = 0) {
    const auto stage = plan(p, device::cpu());
    const Shape shape = stage->shape();
    std::vector<double> result(static_cast<std::size_t>(shape.samples()));
    device::Stream stream;
    if (chunk == 0) chunk = std::max<Index>(shape.frames, 1);
    for (Index first = 0; first < shape.frames; first += chunk) {
        const Span span{first, std::min(chunk, shape.frames - first)};
        const Span need = stage->needed(span);
        REQUIRE(need.first >= 0);
        REQUIRE(need.end() <= p.shape.frames);
        REQUIRE(need.count <= stage->needed_at_most(span.count));
        const Index pitch = need.count + 3;
        std::vector<T> part(static_cast<std::size_t>(p.shape.outer * pitch * p.shape.inner),
                            static_cast<T>(NAN));
        for (Index o = 0; o < p.shape.outer; ++o)
            std::copy_n(samples.data() + (o * p.shape.frames + need.first) * p.shape.inner,
                        need.count * p.shape.inner, part.data() + o * pitch * p.shape.inner);
        const Window in{reinterpret_cast<std::byte*>(part.data()),
                        SampleTypeOf<T>::value,
                        need,
                        p.shape.outer,
                        p.shape.inner,
                        pitch};
        std::vector<std::byte> bytes(
            static_cast<std::size_t>(shape.outer * span.count * shape.inner * bytes_of(stage->type())));
        const Window out{bytes.data(), stage->type(), span, shape.outer, shape.inner, span.count};
        stage->run(in, out, Lanes::all(p.shape), stream);
        dispatch(stage->type(), [&](auto zero) {
            using R = decltype(zero);
            for (Index row = 0; row < shape.outer; ++row)
                for (Index i = 0; i < span.count * shape.inner; ++i)
                    result[static_cast<std::size_t>((row * shape.frames + first) * shape.inner + i)] =
                        static_cast<double>(out.row<R>(row)[i]);
        });
    }
    return result;
}

// Largest difference, as a share of the largest value.
inline double difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
    REQUIRE(ours.size() == theirs.size());
    double worst = 0, largest = 1e-300;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (std::isnan(ours[i]) != std::isnan(theirs[i])) return INFINITY;
        if (!std::isnan(ours[i])) worst = std::max(worst, std::abs(ours[i] - theirs[i]));
        largest = std::max(largest, std::abs(theirs[i]));
    }
    return worst / largest;
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

inline std::vector<float> to_float(const std::vector<double>& x) {
    return {x.begin(), x.end()};
}

inline std::string message_of(const Problem& p) {
    try {
        plan(p, device::cpu());
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::usage);
        return error.what();
    }
    return "no error";
}

}  // namespace convoy::spectrum::judge
