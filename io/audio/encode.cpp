// Samples on their way into an audio file: interleaved, scaled, rounded, kept within range and counted.
#include <algorithm>
#include <cstring>

#include "core/base/quantity.hpp"
#include "io/audio/writer.hpp"

namespace convoy::io::audio {
namespace {

/// To the nearest integer, ties to even: adding and taking away 1.5 * 2^(mantissa bits) leaves no bits behind
/// the point. Vectorises where std::rint does not; right for |v| < 2^22 (2^51).
float nearest_even(float v) {
    return (v + 0x1.8p23F) - 0x1.8p23F;
}
double nearest_even(double v) {
    return (v + 0x1.8p52) - 0x1.8p52;
}

struct Counts {
    Index clipped = 0, not_finite = 0;
};

/// `n` samples, `step` apart, to places `stride` bytes apart. Real: the arithmetic that holds the target
/// exactly.
template <int Bits, class Real, class In>
Counts to_integer(const In* in, Index step, Index n, Real gain, unsigned char* out, Index stride) {
    constexpr Real full = static_cast<Real>(std::int64_t{1} << (Bits - 1));
    constexpr Index block = 4096;  // counted in ints, as wide as the lanes of a vector
    Counts all;
    for (Index first = 0; first < n; first += block) {
        const Index count = std::min(block, n - first);
        const In* from = in + first * step;
        unsigned char* to = out + first * stride;
        int clipped = 0, bad = 0;
        for (Index i = 0; i < count; ++i) {
            const Real v = static_cast<Real>(from[i * step]) * gain;
            clipped += v >= full - Real(0.5) ? 1 : 0;
            clipped += v < -full - Real(0.5) ? 1 : 0;
            bad += v != v ? 1 : 0;
            const Real number = v == v ? v : Real(0);
            const Real least = number > -full ? number : -full;
            const Real within = least < full - 1 ? least : full - 1;
            const auto whole = static_cast<std::int32_t>(nearest_even(within));
            if constexpr (Bits == 16) {
                const auto narrow = static_cast<std::int16_t>(whole);
                std::memcpy(to + i * stride, &narrow, 2);
            } else {
                std::memcpy(to + i * stride, &whole, Bits / 8);  // little-endian: the lower bytes
            }
        }
        all.clipped += clipped;
        all.not_finite += bad;
    }
    return all;
}

template <class Out, class In>
void to_float(const In* in, Index step, Index n, double gain, unsigned char* out, Index stride) {
    for (Index i = 0; i < n; ++i) {
        const auto v = static_cast<Out>(static_cast<double>(in[i * step]) * gain);
        std::memcpy(out + i * stride, &v, sizeof v);
    }
}

template <class In>
Counts run(Encoding encoding, const In* in, Index step, Index n, double gain, unsigned char* out,
           Index stride) {
    const auto dense =
        [&](auto&& convert) {  // constants where they are, so that the loop becomes a vector loop
            return step == 1 && stride == bytes_of(encoding) ? convert(Index{1}, bytes_of(encoding))
                                                             : convert(step, stride);
        };
    switch (encoding) {
        case Encoding::int16:
            if constexpr (std::is_same_v<In, float> || std::is_same_v<In, std::int16_t>) {
                const auto g = static_cast<float>(gain * 0x1p15);
                if (step == 1 && stride == 2) return to_integer<16>(in, 1, n, g, out, 2);
                return to_integer<16>(in, step, n, g, out, stride);
            } else {
                return to_integer<16>(in, step, n, gain * 0x1p15, out, stride);
            }
        case Encoding::int24:
            return dense([&](Index s, Index t) { return to_integer<24>(in, s, n, gain * 0x1p23, out, t); });
        case Encoding::int32:
            return dense([&](Index s, Index t) { return to_integer<32>(in, s, n, gain * 0x1p31, out, t); });
        case Encoding::float32:
            to_float<float>(in, step, n, gain, out, stride);
            break;
        case Encoding::float64:
            to_float<double>(in, step, n, gain, out, stride);
            break;
    }
    return {};
}

}  // namespace

double full_scale_gain(const OutputSpec& spec) {
    if (spec.type == SampleType::int16) return spec.scale_factor != 0 ? spec.scale_factor : 0x1p-15;
    return spec.type == SampleType::int32 ? 0x1p-31 : 1.0;
}

void encode(const OutputSpec& spec, Encoding encoding, const std::byte* src, Index pitch, Lanes lanes,
            Span part, unsigned char* out, Index frame_bytes, Losses& losses) {
    const double gain = full_scale_gain(spec);
    Counts all;
    dispatch(spec.type, [&](auto zero) {
        using T = decltype(zero);
        const Index inner = lanes.inner_count, width = bytes_of(encoding);
        for (Index o = 0; o < lanes.outer_count; ++o) {
            const T* in = reinterpret_cast<const T*>(src) + (o * pitch + part.first) * inner;
            unsigned char* to = out + o * inner * width;
            const auto add = [&](Counts c) { all.clipped += c.clipped, all.not_finite += c.not_finite; };
            if (frame_bytes == inner * width) {
                add(run(encoding, in, 1, part.count * inner, gain, to, width));
                continue;
            }
            for (Index c = 0; c < inner; ++c)
                add(run(encoding, in + c, inner, part.count, gain, to + c * width, frame_bytes));
        }
    });
    losses.clipped += all.clipped;
    losses.not_finite += all.not_finite;
}

}  // namespace convoy::io::audio
