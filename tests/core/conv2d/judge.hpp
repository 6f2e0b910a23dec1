// What every 2-D strategy is held against: a job with its samples, its sums written out as the formula says,
// and a stage run in columns of a few at a time, as the stream does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d::judge {

/// Stored samples of whole images, [image][channel][row][column][part] or
/// [image][row][column][channel][part], and what is to be done with them.
struct Job {
    Problem problem;
    std::vector<std::byte> stored;

    Index at(Index outer, Index column, Index inner) const {
        return ((outer * problem.extent.columns + column) * problem.in_shape().inner + inner) *
               bytes_of(problem.in);
    }
    void set(Index outer, Index column, Index inner, double value) {
        dispatch(problem.in, [&](auto v) {
            v = static_cast<decltype(v)>(value);
            std::memcpy(stored.data() + at(outer, column, inner), &v, sizeof v);
        });
    }
    /// The scaled sample, rounded to the arithmetic's type; zero beyond the edges.
    double sample(Index plane, Index row, Index column, Index part) const {
        const Problem& p = problem;
        if (row < 0 || row >= p.extent.rows || column < 0 || column >= p.extent.columns) return 0;
        const Index image = plane / p.channels, channel = plane % p.channels;
        const Index outer = p.channels_last ? image * p.extent.rows + row : plane * p.extent.rows + row;
        const Index lane = p.channels_last ? outer * p.channels + channel : outer;
        double value = 0;
        dispatch(p.in, [&](auto v) {
            std::memcpy(
                &v, stored.data() + at(outer, column, p.channels_last ? channel * p.parts() + part : part),
                sizeof v);
            value = static_cast<double>(v);
        });
        const auto of = [&](const std::vector<double>& each, double none) {
            return each.empty() ? none : each[each.size() == 1 ? 0 : static_cast<std::size_t>(lane)];
        };
        value = value * of(p.scaling.gain, 1) + of(p.scaling.offset, 0);
        return p.arithmetic() == SampleType::float32 ? static_cast<float>(value) : value;
    }
};

inline std::vector<double> numbers(Index count, unsigned seed, double mean = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(mean, 1);
    std::vector<double> all(static_cast<std::size_t>(count));
    for (double& x : all)
        x = normal(random);
    return all;
}

/// A job with random samples about `mean` (integers over half their range) and, where it has none, a random
/// kernel.
inline Job make_job(Problem p, unsigned seed = 1, double mean = 0) {
    if (p.kernel.empty()) p.kernel = numbers(p.filters * p.terms(), seed + 100);
    Job job{std::move(p), {}};
    const Shape s = job.problem.in_shape();
    job.stored.resize(static_cast<std::size_t>(s.samples() * bytes_of(job.problem.in)));
    const double unit = job.problem.in == SampleType::int16   ? 4000
                        : job.problem.in == SampleType::int32 ? 2e8
                                                              : 1;
    const auto values = numbers(s.samples(), seed, mean);
    for (Index i = 0; i < s.samples(); ++i)
        job.set(i / s.inner / s.frames, i / s.inner % s.frames, i % s.inner,
                unit * std::clamp(values[static_cast<std::size_t>(i)], -8., 8. + 2 * mean));
    return job;
}

/// Outputs, as they are stored, and the sums of the magnitudes of their terms.
struct Expected {
    std::vector<double> y, terms;
};

inline Expected expect(const Job& job) {
    const Problem& p = job.problem;
    const Pair out = p.outputs(), before = p.before();
    const Shape shape = p.out_shape();
    Expected e;
    for (Index i = 0; i < shape.samples(); ++i) {
        const Index inner = i % shape.inner, q = i / shape.inner % out.columns,
                    outer = i / shape.inner / out.columns;
        const Index part = inner % p.parts(), row = outer % out.rows, plane = outer / out.rows;
        const Index k = p.channels_last ? inner / p.parts() : plane % p.filters,
                    n = p.channels_last ? plane : plane / p.filters;
        const Index group = k / (p.filters / p.groups);
        long double sum = 0, terms = 0;
        for (Index c = 0; c < p.group_channels(); ++c)
            for (Index r = 0; r < p.taps.rows; ++r)
                for (Index s = 0; s < p.taps.columns; ++s) {
                    const Index a = p.correlate ? r : p.taps.rows - 1 - r,
                                b = p.correlate ? s : p.taps.columns - 1 - s;
                    const double w = p.kernel[static_cast<std::size_t>(
                        ((k * p.group_channels() + c) * p.taps.rows + a) * p.taps.columns + b)];
                    const double x =
                        job.sample(n * p.channels + group * p.group_channels() + c,
                                   row * p.stride.rows - before.rows + r * p.dilation.rows,
                                   q * p.stride.columns - before.columns + s * p.dilation.columns, part);
                    sum += static_cast<long double>(w) * x;
                    terms += std::abs(static_cast<long double>(w) * x);
                }
        if (!p.bias.empty()) {
            sum += p.bias[static_cast<std::size_t>(k)];
            terms += std::abs(p.bias[static_cast<std::size_t>(k)]);
        }
        e.y.push_back(static_cast<double>(p.relu && sum < 0 ? 0 : sum));
        e.terms.push_back(static_cast<double>(terms));
    }
    return e;
}

/// |error| <= bound * sum |w| |x|.
inline double bound(const Problem& p) {
    const double u = p.arithmetic() == SampleType::float32 ? 0x1p-24 : 0x1p-53;
    return 4 * u * (2 + std::sqrt(static_cast<double>(p.terms())));
}

/// Lanes `lanes` of the result in columns of `chunk` at a time, put into the whole result. Each window holds
/// what the stage says that it needs, among NaN (or the largest integers).
template <class T>
void run_lanes(Stage& stage, const Job& job, Lanes lanes, Index chunk, std::vector<T>& result) {
    const Problem& p = job.problem;
    const Shape in = p.in_shape(), out = stage.shape();
    const Lanes used = stage.used(lanes);
    const Index bytes = bytes_of(p.in);
    device::Stream stream;
    for (Index first = 0; first < out.frames; first += chunk) {
        const Span span{first, std::min(chunk, out.frames - first)}, need = stage.needed(span);
        if (need.first < 0 || need.end() > in.frames || need.count > stage.needed_at_most(span.count))
            throw std::logic_error("needed() is beyond what is there");
        const Index pitch = need.count + 3;
        std::vector<std::byte> window(static_cast<std::size_t>(used.outer_count * pitch * in.inner * bytes),
                                      std::byte{0xff});
        for (Index o = 0; o < used.outer_count; ++o)
            std::memcpy(window.data() + o * pitch * in.inner * bytes,
                        job.stored.data() + job.at(used.outer_first + o, need.first, 0),
                        static_cast<std::size_t>(need.count * in.inner * bytes));
        const Index out_pitch = span.count + 2;
        std::vector<T> part(static_cast<std::size_t>(lanes.outer_count * out_pitch * out.inner), T{-77});
        stage.run({window.data(), p.in, need, used.outer_count, in.inner, pitch, used.outer_first},
                  {reinterpret_cast<std::byte*>(part.data()), SampleTypeOf<T>::value, span, lanes.outer_count,
                   out.inner, out_pitch, lanes.outer_first},
                  used, stream);
        for (Index o = 0; o < lanes.outer_count; ++o) {
            std::copy_n(part.data() + o * out_pitch * out.inner, span.count * out.inner,
                        result.data() + ((lanes.outer_first + o) * out.frames + first) * out.inner);
            for (Index i = span.count * out.inner; i < out_pitch * out.inner; ++i)
                if (part[static_cast<std::size_t>(o * out_pitch * out.inner + i)] != T{-77})
                    throw std::logic_error("written beyond the window");
        }
    }
}
/// The whole result in columns of `chunk` and `pieces` of the stage at a time (0: all at once).
template <class T>
std::vector<double> run_as(Stage& stage, const Job& job, Index chunk, Index pieces) {
    const Shape out = stage.shape();
    std::vector<T> result(static_cast<std::size_t>(out.samples()), T{-78});
    const Index all = stage.pieces(), each = pieces == 0 ? all : pieces;
    for (Index first = 0; first < all; first += each)
        run_lanes(stage, job, stage.lanes_of(first, std::min(each, all - first)),
                  chunk == 0 ? out.frames : chunk, result);
    return {result.begin(), result.end()};
}
inline std::vector<double> run_all(Stage& stage, const Job& job, Index chunk = 0, Index pieces = 0) {
    return job.problem.arithmetic() == SampleType::float64 ? run_as<double>(stage, job, chunk, pieces)
                                                           : run_as<float>(stage, job, chunk, pieces);
}

/// The first output that is farther from what it should be than `allowed` times its terms, in words; empty:
/// none.
inline std::string worst(const Expected& e, const std::vector<double>& got, double allowed) {
    if (got.size() != e.y.size())
        return std::to_string(got.size()) + " outputs, not " + std::to_string(e.y.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!std::isfinite(e.y[i]) && !std::isfinite(got[i])) continue;  // spoiled, one way or the other
        if (std::abs(got[i] - e.y[i]) <= allowed * e.terms[i]) continue;
        return "output " + std::to_string(i) + " of " + std::to_string(got.size()) + " is " +
               std::to_string(got[i]) + ", not " + std::to_string(e.y[i]);
    }
    return {};
}

inline std::string describe(const Problem& p) {
    const auto pair = [](Pair x) { return std::to_string(x.rows) + "x" + std::to_string(x.columns); };
    return std::to_string(p.images) + "x" + std::to_string(p.channels) + "x" + pair(p.extent) + " -> " +
           std::to_string(p.filters) + ", taps " + pair(p.taps) + ", stride " + pair(p.stride) +
           ", dilation " + pair(p.dilation) + ", groups " + std::to_string(p.groups) + ", fit " +
           std::to_string(static_cast<int>(p.fit)) + " " + pair(p.pad) + ", " +
           std::string(name_of(p.precision)) + ", in " + std::string(name_of(p.in)) +
           (p.channels_last ? ", channels last" : "");
}

}  // namespace convoy::conv2d::judge
