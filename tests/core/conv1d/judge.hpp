// What every 1-D strategy is held against: a job with its samples, the sums written out as the formula says
// with padding built sample by sample, and a stage run chunk by chunk as the stream does.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d::judge {

/// Stored samples of a whole signal, [outer][frames][inner], and what is to be done with them.
struct Job {
    Problem problem;
    std::vector<std::byte> stored;

    double sample(Index outer, Index frame, Index inner) const {
        const Shape& s = problem.shape;
        double value = 0;
        dispatch(problem.in, [&](auto v) {
            std::memcpy(&v, stored.data() + ((outer * s.frames + frame) * s.inner + inner) * Index(sizeof v),
                        sizeof v);
            value = static_cast<double>(v);
        });
        return value;
    }
    void set(Index outer, Index frame, Index inner, double value) {
        const Shape& s = problem.shape;
        dispatch(problem.in, [&](auto v) {
            v = static_cast<decltype(v)>(value);
            std::memcpy(stored.data() + ((outer * s.frames + frame) * s.inner + inner) * Index(sizeof v), &v,
                        sizeof v);
        });
    }
    /// Scaled samples of one lane.
    std::vector<double> lane(Index outer, Index inner) const {
        const Shape& s = problem.shape;
        const Index parts = problem.complex ? 2 : 1;
        const auto channel = static_cast<std::size_t>(outer * (s.inner / parts) + inner / parts);
        const auto pick = [&](const std::vector<double>& v, double none) {
            return v.empty() ? none : v.size() == 1 ? v[0] : v[channel];
        };
        std::vector<double> x;
        for (Index f = 0; f < s.frames; ++f)
            x.push_back(sample(outer, f, inner) * pick(problem.scaling.gain, 1) +
                        pick(problem.scaling.offset, 0));
        return x;
    }
};

/// A job with random samples (integers over half their range, floats about `mean` with variance 1) and random
/// taps.
inline Job make_job(Problem p, Index taps, unsigned seed = 1, double mean = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 1);
    if (p.taps.empty())
        for (Index k = 0; k < taps; ++k)
            p.taps.push_back(normal(random));
    Job job{std::move(p), {}};
    const Shape& s = job.problem.shape;
    job.stored.resize(static_cast<std::size_t>(s.samples() * bytes_of(job.problem.in)));
    const double unit = job.problem.in == SampleType::int16   ? 8000
                        : job.problem.in == SampleType::int32 ? 4e8
                                                              : 1;
    for (Index o = 0; o < s.outer; ++o)
        for (Index f = 0; f < s.frames; ++f)
            for (Index i = 0; i < s.inner; ++i)
                job.set(o, f, i, unit * std::clamp(normal(random), -4., 4.) + mean);
    return job;
}

/// x with `before` and `after` samples more, each found by walking on from the one next to it.
inline std::vector<double> extend(const std::vector<double>& x, Index before, Index after, Padding padding) {
    const Index n = static_cast<Index>(x.size());
    const auto side = [&](Index count, bool left) {
        std::vector<double> out;
        const auto at = [&](Index i) { return x[static_cast<std::size_t>(left ? i : n - 1 - i)]; };
        Index position = 0, step = 1;
        double last = at(0),
               sign = -1;  // of `odd`: differences go on with the sign they had, turned at the ends
        for (Index i = 0; i < count; ++i) {
            if (padding == Padding::zero) {
                out.push_back(0);
            } else if (padding == Padding::edge || n == 1) {
                out.push_back(at(0));
            } else {
                const double here = at(position);
                position += step;
                last += sign * (at(position) - here);
                out.push_back(padding == Padding::reflect ? at(position) : last);
                if (position == n - 1 || position == 0) step = -step, sign = -sign;
            }
        }
        return out;
    };
    std::vector<double> all = side(before, true), tail = side(after, false);
    std::reverse(all.begin(), all.end());
    all.insert(all.end(), x.begin(), x.end());
    all.insert(all.end(), tail.begin(), tail.end());
    return all;
}

/// Outputs of one lane and the sum of magnitudes of their terms.
struct Expected {
    std::vector<double> y, terms;
};

inline Expected expect(const Problem& p, const std::vector<double>& x) {
    const Index m = static_cast<Index>(p.taps.size()), n = static_cast<Index>(x.size());
    const std::vector<double> e = extend(x, m - 1, m - 1, p.padding);
    const Index offset = p.mode == Mode::same ? (m - 1) / 2 : p.mode == Mode::valid ? m - 1 : 0;
    const Index length = p.mode == Mode::same ? n : p.mode == Mode::full ? n + m - 1 : n - m + 1;
    Expected out;
    for (Index i = 0; i < length; i += p.decimate) {
        long double sum = 0, terms = 0;
        for (Index k = 0; k < m; ++k) {
            const double h = p.taps[static_cast<std::size_t>(k)];
            const double v = e[static_cast<std::size_t>(i + offset - k + m - 1)];
            sum += static_cast<long double>(h) * v;
            terms += std::abs(static_cast<long double>(h) * v);
        }
        out.y.push_back(static_cast<double>(sum));
        out.terms.push_back(static_cast<double>(terms));
    }
    return out;
}

/// |error| <= bound * sum |h| |x|.
inline double bound(const Problem& p) {
    const double u = p.arithmetic == SampleType::float32 ? 0x1p-24 : 0x1p-53;
    return 4 * u * (2 + std::sqrt(static_cast<double>(p.taps.size())));
}

/// Copies frames `span` of some lanes to `to`: [outer][span.count][inner] of the stored type.
inline void gather(const Job& job, Span span, const Lanes& lanes, std::byte* to) {
    const Shape& s = job.problem.shape;
    const Index bytes = bytes_of(job.problem.in), frame = lanes.inner_count * bytes;
    for (Index o = 0; o < lanes.outer_count; ++o)
        for (Index f = 0; f < span.count; ++f)
            std::memcpy(to + (o * span.count + f) * frame,
                        job.stored.data() + (((lanes.outer_first + o) * s.frames + span.first + f) * s.inner +
                                             lanes.inner_first) *
                                                bytes,
                        static_cast<std::size_t>(frame));
}

/// The whole result of some lanes, made of run(span), bytes [outer][span.count][inner], for spans of `chunk`
/// outputs (rounded up to whole blocks); 0: at once.
template <class Run>
std::vector<std::byte> in_spans(const Stage& stage, const Lanes& lanes, Index chunk, Run&& run) {
    const Index total = stage.shape().frames, block = stage.block();
    chunk = chunk == 0 ? total : (chunk + block - 1) / block * block;
    const Index frame = lanes.inner_count * bytes_of(stage.type());
    std::vector<std::byte> all(static_cast<std::size_t>(lanes.outer_count * total * frame));
    for (Index first = 0; first < total; first += chunk) {
        const Span span{first, std::min(chunk, total - first)};
        const std::vector<std::byte> part = run(span);
        for (Index o = 0; o < lanes.outer_count; ++o)
            std::memcpy(all.data() + (o * total + first) * frame, part.data() + o * span.count * frame,
                        static_cast<std::size_t>(span.count * frame));
    }
    return all;
}

/// Outputs `out` of some lanes, as bytes [outer][out.count][inner] of the arithmetic type. The window that
/// the stage gets holds what needed() says and not a sample more, or the whole signal.
inline std::vector<std::byte> run_span(Stage& stage, const Job& job, Span out, const Lanes& lanes,
                                       bool whole_input = false) {
    const Span need = whole_input ? Span{0, job.problem.shape.frames} : stage.needed(out);
    std::vector<std::byte> in(
        static_cast<std::size_t>(lanes.count() * need.count * bytes_of(job.problem.in)));
    std::vector<std::byte> result(
        static_cast<std::size_t>(lanes.count() * out.count * bytes_of(stage.type())));
    gather(job, need, lanes, in.data());
    Window from{in.data(), job.problem.in, need, lanes.outer_count, lanes.inner_count, need.count};
    Window to{result.data(), stage.type(), out, lanes.outer_count, lanes.inner_count, out.count};
    device::Stream stream;
    stage.run(from, to, lanes, stream);
    return result;
}

/// The whole result of some lanes, in spans of `chunk` outputs.
inline std::vector<std::byte> run_all(Stage& stage, const Job& job, Lanes lanes, Index chunk = 0,
                                      bool whole_input = false) {
    return in_spans(stage, lanes, chunk,
                    [&](Span span) { return run_span(stage, job, span, lanes, whole_input); });
}

/// Value (outer, frame, inner) of a result of run_all over all lanes.
inline double value(const Stage& stage, const std::vector<std::byte>& result, Index outer, Index frame,
                    Index inner) {
    const Shape s = stage.shape();
    double v = 0;
    dispatch(stage.type(), [&](auto stored) {
        std::memcpy(&stored,
                    result.data() + ((outer * s.frames + frame) * s.inner + inner) * Index(sizeof stored),
                    sizeof stored);
        v = static_cast<double>(stored);
    });
    return v;
}

/// "taps 5, same, reflect, decimate 2, 1 x 9 x 3, int16": what a failing check prints.
inline std::string describe(const Problem& p) {
    const char* modes[] = {"same", "full", "valid"};
    const char* paddings[] = {"zero", "reflect", "edge", "odd"};
    return "taps " + std::to_string(p.taps.size()) + ", " + modes[static_cast<int>(p.mode)] + ", " +
           paddings[static_cast<int>(p.padding)] + ", decimate " + std::to_string(p.decimate) + ", " +
           std::to_string(p.shape.outer) + " x " + std::to_string(p.shape.frames) + " x " +
           std::to_string(p.shape.inner) + (p.complex ? " complex " : " ") + std::string(name_of(p.in)) +
           " to " + std::string(name_of(p.arithmetic));
}

/// The first output of a result that breaks the bound, in words; empty where none does.
inline std::string worst(const Stage& stage, const Job& job, const std::vector<std::byte>& result) {
    const Problem& p = job.problem;
    for (Index o = 0; o < p.shape.outer; ++o)
        for (Index i = 0; i < p.shape.inner; ++i) {
            const Expected e = expect(p, job.lane(o, i));
            if (static_cast<Index>(e.y.size()) != stage.shape().frames)
                return "the result has " + std::to_string(stage.shape().frames) + " frames, not " +
                       std::to_string(e.y.size());
            for (std::size_t f = 0; f < e.y.size(); ++f) {
                const double got = value(stage, result, o, static_cast<Index>(f), i);
                const double most = bound(p) * e.terms[f];
                if (!(std::abs(got - e.y[f]) <= most))
                    return "lane (" + std::to_string(o) + ", " + std::to_string(i) + "), output " +
                           std::to_string(f) + ": " + std::to_string(got) + ", not " +
                           std::to_string(e.y[f]) + " +- " + std::to_string(most);
            }
        }
    return {};
}

}  // namespace convoy::conv1d::judge
