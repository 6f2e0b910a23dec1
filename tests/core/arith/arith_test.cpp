// Operators of core/arith against plain loops in double: every layout and type, in one window and in small
// ones, of all lanes and of some.
#include "core/arith/arith.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/device/device.hpp"
#include "tests/catch.hpp"

using namespace convoy;

namespace {

/// A whole array, [outer][frames][inner], in double.
struct Array {
    Shape shape;
    std::vector<double> x;
    double& at(Index o, Index f, Index i) {
        return x[static_cast<std::size_t>((o * shape.frames + f) * shape.inner + i)];
    }
    double at(Index o, Index f, Index i) const { return const_cast<Array*>(this)->at(o, f, i); }
};

Array zeros(Shape shape) {
    return {shape, std::vector<double>(static_cast<std::size_t>(shape.samples()))};
}

/// Small integers, so that every type holds them.
Array numbers(Shape shape) {
    Array a = zeros(shape);
    for (std::size_t k = 0; k < a.x.size(); ++k)
        a.x[k] = static_cast<double>((k * 7919 + k / 13 * 31) % 201) - 100;
    return a;
}

template <class T>
std::vector<std::byte> stored(const Array& a, Span span, Lanes lanes) {
    std::vector<T> values;
    for (Index o = 0; o < lanes.outer_count; ++o)
        for (Index f = span.first; f < span.end(); ++f)
            for (Index i = 0; i < lanes.inner_count; ++i)
                values.push_back(static_cast<T>(a.at(lanes.outer_first + o, f, lanes.inner_first + i)));
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    return {bytes, bytes + values.size() * sizeof(T)};
}

std::vector<std::byte> stored(const Array& a, SampleType type, Span span, Lanes lanes) {
    return dispatch(type, [&](auto zero) { return stored<decltype(zero)>(a, span, lanes); });
}

Window window(std::vector<std::byte>& bytes, SampleType type, Span span, Lanes lanes) {
    return {bytes.data(), type, span, lanes.outer_count, lanes.inner_count, span.count};
}

/// The stage's whole result, in chunks of `chunk` frames.
Array run(Stage& stage, const Array& in, SampleType type, Index chunk) {
    const Lanes all = Lanes::all(in.shape), made = Lanes::all(stage.shape());
    if (stage.learns())
        for (Index f = 0; f < in.shape.frames; f += chunk) {
            const Span part{f, std::min(chunk, in.shape.frames - f)};
            std::vector<std::byte> bytes = stored(in, type, part, all);
            stage.learn(window(bytes, type, part, all), part, all);
        }
    CHECK(stage.used(stage.lanes_of(0, stage.pieces())) == all);
    Array result = zeros(stage.shape());
    device::Stream stream;
    for (Index f = 0; f < result.shape.frames; f += chunk) {
        const Span out{f, std::min(chunk, result.shape.frames - f)}, needed = stage.needed(out);
        CHECK(needed.count <= stage.needed_at_most(out.count));
        CHECK((needed.first >= 0 && needed.end() <= in.shape.frames));
        std::vector<std::byte> from = stored(in, type, needed, all),
                               to(static_cast<std::size_t>(made.count() * out.count *
                                                           bytes_of(stage.type())));
        stage.run(window(from, type, needed, all), window(to, stage.type(), out, made), all, stream);
        dispatch(stage.type(), [&](auto zero) {
            const auto* y = reinterpret_cast<const decltype(zero)*>(to.data());
            for (Index o = 0; o < made.outer_count; ++o)
                for (Index n = 0; n < out.count; ++n)
                    for (Index i = 0; i < made.inner_count; ++i)
                        result.at(o, f + n, i) =
                            static_cast<double>(y[(o * out.count + n) * made.inner_count + i]);
        });
    }
    return result;
}

double apart(const Array& a, const Array& b) {
    REQUIRE(a.shape == b.shape);
    double worst = 0;
    for (std::size_t k = 0; k < a.x.size(); ++k)
        worst = std::max(worst, std::abs(a.x[k] - b.x[k]));
    return worst;
}

using Plain = std::function<Array(const Array& values)>;  // what is expected of scaled values

/// Every layout, type and chunk; results must not depend on the chunk at all.
void judge(const std::function<std::unique_ptr<Stage>(const arith::Input&)>& make, const Plain& plain,
           double tolerance, bool scaled = true) {
    for (const Shape shape : {Shape{1, 57, 3}, Shape{3, 57, 1}, Shape{1, 1, 3}, Shape{3, 200, 1}})
        for (const SampleType type :
             {SampleType::int16, SampleType::int32, SampleType::float32, SampleType::float64}) {
            arith::Input input{
                shape, type, false, {}, type == SampleType::float64 ? type : SampleType::float32};
            if (scaled) input.scaling = {{0.5, 2, 0.25}, {3}};
            const Array in = numbers(shape);
            Array values = in;
            for (Index o = 0; o < shape.outer && scaled; ++o)
                for (Index f = 0; f < shape.frames; ++f)
                    for (Index i = 0; i < shape.inner; ++i)
                        values.at(o, f, i) =
                            in.at(o, f, i) * input.scaling.gain[static_cast<std::size_t>(o + i)] + 3;
            const Array expected = plain(values), whole = run(*make(input), in, type, 10000);
            INFO(shape.outer << " x " << shape.frames << " x " << shape.inner << " of " << name_of(type));
            CHECK(apart(whole, expected) <= tolerance);
            for (const Index chunk : {Index{1}, Index{7}, Index{64}})
                CHECK(run(*make(input), in, type, chunk).x == whole.x);
        }
}

/// The same function of every frame of every lane.
Plain each_lane(const std::function<std::vector<double>(std::vector<double>)>& f) {
    return [f](const Array& a) {
        std::vector<std::vector<double>> lanes;
        for (Index lane = 0; lane < a.shape.lanes(); ++lane) {
            std::vector<double> x;
            for (Index n = 0; n < a.shape.frames; ++n)
                x.push_back(a.at(lane / a.shape.inner, n, lane % a.shape.inner));
            lanes.push_back(f(std::move(x)));
        }
        Array y = zeros({a.shape.outer, static_cast<Index>(lanes.front().size()), a.shape.inner});
        for (Index lane = 0; lane < a.shape.lanes(); ++lane)
            for (Index n = 0; n < y.shape.frames; ++n)
                y.at(lane / a.shape.inner, n, lane % a.shape.inner) =
                    lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(n)];
        return y;
    };
}

}  // namespace

TEST_CASE("detrend takes the mean or the line of least squares out of each lane") {
    judge([](const arith::Input& in) { return arith::detrend(in, arith::Trend::constant); },
          each_lane([](std::vector<double> x) {
              double mean = 0;
              for (const double v : x)
                  mean += v / static_cast<double>(x.size());
              for (double& v : x)
                  v -= mean;
              return x;
          }),
          5e-5);
    judge([](const arith::Input& in) { return arith::detrend(in, arith::Trend::linear); },
          each_lane([](std::vector<double> x) {
              const auto n = static_cast<double>(x.size());
              double mean = 0, slope = 0, spread = 0;
              for (std::size_t k = 0; k < x.size(); ++k) {
                  const double t = static_cast<double>(k) - (n - 1) / 2;
                  mean += x[k] / n, slope += t * x[k], spread += t * t;
              }
              for (std::size_t k = 0; k < x.size(); ++k)
                  x[k] -= mean + (spread > 0 ? slope / spread * (static_cast<double>(k) - (n - 1) / 2) : 0);
              return x;
          }),
          5e-5);
}

TEST_CASE("normalize brings each channel, or all, to a peak or an RMS, and leaves silence") {
    judge([](const arith::Input& in) { return arith::normalize(in, arith::Norm::peak, 2, false); },
          each_lane([](std::vector<double> x) {
              double peak = 0;
              for (const double v : x)
                  peak = std::max(peak, std::abs(v));
              for (double& v : x)
                  v *= 2 / peak;
              return x;
          }),
          1e-6);
    judge([](const arith::Input& in) { return arith::normalize(in, arith::Norm::rms, 0.5, true); },
          [](const Array& a) {
              double sum = 0;
              for (const double v : a.x)
                  sum += v * v;
              Array y = a;
              for (double& v : y.x)
                  v *= 0.5 / std::sqrt(sum / static_cast<double>(a.x.size()));
              return y;
          },
          1e-6);
    const arith::Input input{{1, 40, 2}, SampleType::float32, false, {}, SampleType::float32};
    CHECK(
        run(*arith::normalize(input, arith::Norm::peak, 1, false), zeros(input.shape), SampleType::float32, 9)
            .x == zeros(input.shape).x);
}

TEST_CASE("what is not finite stays where it is, and is no part of a mean or a peak") {
    const arith::Input input{{1, 50, 1}, SampleType::float64, false, {}, SampleType::float64};
    Array in = numbers(input.shape), clean = in;
    in.at(0, 7, 0) = std::numeric_limits<double>::quiet_NaN();
    in.at(0, 20, 0) = std::numeric_limits<double>::infinity();
    const Array y = run(*arith::normalize(input, arith::Norm::peak, 1, false), in, SampleType::float64, 11);
    clean.at(0, 7, 0) = clean.at(0, 20, 0) = 0;
    const Array z =
        run(*arith::normalize(input, arith::Norm::peak, 1, false), clean, SampleType::float64, 11);
    CHECK(std::isnan(y.at(0, 7, 0)));
    CHECK(std::isinf(y.at(0, 20, 0)));
    for (Index f = 0; f < 50; ++f)
        if (f != 7 && f != 20) CHECK(y.at(0, f, 0) == z.at(0, f, 0));
}

TEST_CASE("mix adds channels up by a matrix") {
    const std::vector<std::vector<double>> matrix{{0.5, -1, 2}, {1, 0, 0}};
    judge([&](const arith::Input& in) { return arith::mix(in, matrix); },
          [&](const Array& a) {
              const bool rows = a.shape.outer > 1;
              Array y = zeros({rows ? 2 : 1, a.shape.frames, rows ? 1 : 2});
              for (Index m = 0; m < 2; ++m)
                  for (Index f = 0; f < a.shape.frames; ++f)
                      for (Index k = 0; k < 3; ++k)
                          y.at(rows ? m : 0, f, rows ? 0 : m) +=
                              matrix[static_cast<std::size_t>(m)][static_cast<std::size_t>(k)] *
                              (rows ? a.at(k, f, 0) : a.at(0, f, k));
              return y;
          },
          1e-4);
}

TEST_CASE("pick keeps samples as they are stored") {
    for (const Shape shape : {Shape{1, 57, 3}, Shape{3, 57, 1}})
        for (const SampleType type : {SampleType::int16, SampleType::float64}) {
            const arith::Input input{shape, type, false, {}, type};
            const Array in = numbers(shape);
            const auto stage = arith::pick(input, {2, 0, 2}, {5, 30});
            CHECK(stage->type() == type);
            const Array y = run(*stage, in, type, 8);
            REQUIRE(y.shape == Shape{shape.outer, 30, shape.inner});
            const Index channels[] = {2, 0, 2};
            for (Index c = 0; c < 3; ++c)
                for (Index f = 0; f < 30; ++f)
                    CHECK((shape.outer > 1 ? y.at(c, f, 0) == in.at(channels[c], f + 5, 0)
                                           : y.at(0, f, c) == in.at(0, f + 5, channels[c])));
        }
}

TEST_CASE("resample is the sum of its formula, whatever lies beyond the ends") {
    const std::vector<double> taps{0.25, 0.5, 1, 1.5, 1, 0.5, 0.25};
    for (const auto& [up, down] : {std::pair<Index, Index>{3, 2}, {1, 4}, {5, 1}})
        for (const Padding padding : {Padding::zero, Padding::reflect, Padding::edge, Padding::odd})
            judge([&, u = up,
                   d = down](const arith::Input& in) { return arith::resample(in, u, d, taps, padding); },
                  each_lane([&, u = up, d = down](const std::vector<double>& x) {
                      const auto n = static_cast<Index>(x.size());
                      const auto beyond =
                          [&](Index k) -> double {  // one turn at each end is enough for these taps
                          if (k >= 0 && k < n) return x[static_cast<std::size_t>(k)];
                          if (padding == Padding::zero) return 0;
                          const double end = k < 0 ? x.front() : x.back();
                          if (padding == Padding::edge || n == 1) return end;
                          const double other = x[static_cast<std::size_t>(k < 0 ? -k : 2 * (n - 1) - k)];
                          return padding == Padding::odd ? 2 * end - other : other;
                      };
                      std::vector<double> y(static_cast<std::size_t>((n * u + d - 1) / d));
                      for (Index m = 0; m < static_cast<Index>(y.size()); ++m)
                          for (Index k = 0; k < 7; ++k) {
                              const Index at = m * d + 3 - k;
                              if (((at % u) + u) % u == 0)
                                  y[static_cast<std::size_t>(m)] += taps[static_cast<std::size_t>(k)] *
                                                                    beyond(at >= 0 ? at / u : -(-at / u));
                          }
                      return y;
                  }),
                  2e-4);
}
