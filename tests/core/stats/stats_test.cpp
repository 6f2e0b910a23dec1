#include "core/stats/stats.hpp"

#include <tbb/global_control.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/base/signal.hpp"
#include "tests/catch.hpp"
#include "tests/vector_targets.hpp"

using namespace convoy;
using namespace convoy::stats;

namespace {

// Samples [outer][frames][inner] of T, normal with deviation `unit`.
template <class T>
struct Samples {
    Shape shape;
    std::vector<T> values;

    Samples(Shape s, double unit, unsigned seed = 3)
        : shape(s), values(static_cast<std::size_t>(s.samples())) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal(0, unit);
        for (T& v : values)
            v = static_cast<T>(normal(random));
    }
    T& at(Index outer, Index frame, Index inner) {
        return values[static_cast<std::size_t>((outer * shape.frames + frame) * shape.inner + inner)];
    }
    Window window() {
        return {reinterpret_cast<std::byte*>(values.data()),
                SampleTypeOf<T>::value,
                {100, shape.frames},
                shape.outer,
                shape.inner,
                shape.frames};
    }
};

template <class T>
void check_levels(Samples<T> x) {
    std::vector<Level> got(static_cast<std::size_t>(x.shape.lanes()));
    const Span part{103, x.shape.frames - 5};
    measure(x.window(), part, got.data());
    for (Index o = 0; o < x.shape.outer; ++o)
        for (Index i = 0; i < x.shape.inner; ++i) {
            Level want;
            for (Index f = 3; f < x.shape.frames - 2; ++f) {
                const double v = static_cast<double>(x.at(o, f, i));
                want.nan += std::isnan(v);
                want.inf += std::isinf(v);
                want.over += std::is_floating_point_v<T> && std::abs(v) > 1;
                if (!std::isfinite(v)) continue;
                ++want.finite;
                want.peak = std::max(want.peak, std::abs(v));
                want.sum_squares += v * v;
            }
            const Level& g = got[static_cast<std::size_t>(o * x.shape.inner + i)];
            INFO("lane " << o << ", " << i << " of " << x.shape.outer << " x " << x.shape.frames << " x "
                         << x.shape.inner << " " << name_of(SampleTypeOf<T>::value));
            CHECK(g.peak == want.peak);
            CHECK(std::abs(g.sum_squares - want.sum_squares) <= 1e-12 * want.sum_squares);
            CHECK(g.finite == want.finite);
            CHECK(g.nan == want.nan);
            CHECK(g.inf == want.inf);
            CHECK(g.over == want.over);
        }
}

const Shape shapes[] = {{1, 6, 1},    {1, 70001, 1}, {1, 40000, 2}, {1, 9000, 7},
                        {2, 999, 64}, {1, 700, 150}, {130, 80, 1},  {3, 50, 33}};

Hash hash_of(Window w, Span part, const Shape& whole) {
    return hash(w, part, 100, Lanes::all(whole), whole);
}
bool same(const Hash& a, const Hash& b) {
    return a.low == b.low && a.high == b.high;
}

}  // namespace

TEST_CASE("levels are those of a plain loop, for any layout and type") {
    for (const Shape shape : shapes) {
        check_levels(Samples<float>(shape, 0.6));
        check_levels(Samples<double>(shape, 0.6));
        check_levels(Samples<std::int16_t>(shape, 9000));
        check_levels(Samples<std::int32_t>(shape, 4e8));
    }
    Samples<std::int32_t> lowest({1, 100, 1}, 1);
    lowest.at(0, 50, 0) = std::numeric_limits<std::int32_t>::min();
    check_levels(lowest);
    Samples<std::int16_t> short_lowest({1, 100, 3}, 1);
    short_lowest.at(0, 50, 1) = -32768;
    check_levels(short_lowest);
}

TEST_CASE("NaN and Inf are counted and left out") {
    for (const Shape shape : shapes) {
        Samples<float> x(shape, 1);
        x.at(0, shape.frames / 2, 0) = std::numeric_limits<float>::quiet_NaN();
        x.at(shape.outer - 1, shape.frames / 2, shape.inner - 1) = -std::numeric_limits<float>::infinity();
        check_levels(x);
        Samples<double> huge(shape, 1e200);  // squares overflow, samples do not
        std::vector<Level> got(static_cast<std::size_t>(shape.lanes()));
        measure(huge.window(), huge.window().span, got.data());
        CHECK(got[0].finite == shape.frames);
    }
}

TEST_CASE("levels add up over chunks and do not depend on the threads") {
    Samples<float> x({2, 200000, 3}, 1);
    std::vector<Level> once(6), twice(6), alone(6);
    measure(x.window(), {100, 200000}, once.data());
    measure(x.window(), {100, 77}, twice.data());
    measure(x.window(), {177, 199923}, twice.data());
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    measure(x.window(), {100, 200000}, alone.data());
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(alone[i].sum_squares == once[i].sum_squares);
        CHECK(twice[i].finite == once[i].finite);
        CHECK(twice[i].peak == once[i].peak);
        CHECK(std::abs(twice[i].sum_squares - once[i].sum_squares) < 1e-11 * once[i].sum_squares);
    }
    CHECK(once[0].rms() == std::sqrt(once[0].sum_squares / 200000));
    CHECK(Level{}.rms() == 0);
}

TEST_CASE("levels are the same on every processor") {
    const auto bits = [](auto x) {
        std::vector<Level> levels(static_cast<std::size_t>(x.shape.lanes()));
        measure(x.window(), x.window().span, levels.data());
        std::vector<double> all;
        for (const Level& l : levels)
            all.insert(all.end(), {l.peak, l.sum_squares, static_cast<double>(l.over)});
        return all;
    };
    for (const Shape shape : shapes) {
        const auto here = bits(Samples<float>(shape, 1)), here64 = bits(Samples<double>(shape, 1));
        test::each_vector_target([&] {
            CHECK(bits(Samples<float>(shape, 1)) == here);
            CHECK(bits(Samples<double>(shape, 1)) == here64);
        });
    }
}

TEST_CASE("the hash is the sum that its header writes out") {
    const auto plain = [](const auto& words, Index first) {
        Hash sum;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint64_t k = (static_cast<std::uint64_t>(first) + i + 1) * 0x9e3779b97f4a7c15;
            const auto lo = [](std::uint64_t v) { return v & 0xffffffff; };
            const auto hi = [](std::uint64_t v) { return v >> 32; };
            const std::uint64_t r = k ^ (lo(k) * hi(k)), w = words[i];
            sum.low += lo(w ^ lo(r)) * (hi(r) | 1);
            sum.high += lo(w + hi(r)) * lo(w ^ lo(k));
        }
        return sum;
    };
    for (const Index n : {1, 2, 7, 8, 9, 1000, 40001}) {
        Samples<float> x({1, n, 1}, 1);
        std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
        std::memcpy(words.data(), x.values.data(), words.size() * 4);
        CHECK(same(hash_of(x.window(), {100, n}, x.shape), plain(words, 0)));
        Samples<double> d({1, n, 1}, 1);
        words.resize(2 * words.size());
        std::memcpy(words.data(), d.values.data(), words.size() * 4);
        CHECK(same(hash_of(d.window(), {100, n}, d.shape), plain(words, 0)));
        Samples<std::int16_t> s({1, n, 1}, 5000);
        std::vector<std::uint16_t> half(static_cast<std::size_t>(n));
        std::memcpy(half.data(), s.values.data(), half.size() * 2);
        CHECK(same(hash_of(s.window(), {100, n}, s.shape), plain(half, 0)));
    }
    CHECK(Hash{0x1, 0xabc}.text() == "0000000000000abc0000000000000001");
}

TEST_CASE("the hash is the same on every processor") {
    Samples<double> x({1, 1237, 3}, 1);
    const Hash here = hash_of(x.window(), {100, 1237}, x.shape);
    int targets = 0;
    test::each_vector_target([&] {
        CHECK(same(hash_of(x.window(), {100, 1237}, x.shape), here));
        ++targets;
    });
    CHECK(targets > 0);
}

TEST_CASE("the hash does not depend on chunks, groups of lanes or their order") {
    for (const Shape shape : shapes) {
        Samples<float> x(shape, 1);
        const Hash whole = hash_of(x.window(), {100, shape.frames}, shape);
        const Index cut = shape.frames / 3;
        Hash parts = hash_of(x.window(), {100 + cut, shape.frames - cut}, shape);
        parts.add(hash_of(x.window(), {100, cut}, shape));
        CHECK(same(parts, whole));

        // Each lane on its own, as passes over groups of channels hand them over.
        Hash lanes;
        for (Index o = 0; o < shape.outer; ++o)
            for (Index i = 0; i < shape.inner; ++i) {
                Samples<float> lane({1, shape.frames, 1}, 1);
                for (Index f = 0; f < shape.frames; ++f)
                    lane.at(0, f, 0) = x.at(o, f, i);
                lanes.add(hash(lane.window(), {100, shape.frames}, 100, {o, 1, i, 1}, shape));
            }
        CHECK(same(lanes, whole));
    }
}

TEST_CASE("the hash tells changed, exchanged and displaced samples") {
    Samples<float> x({1, 5000, 2}, 1);
    const Hash whole = hash_of(x.window(), {100, 5000}, x.shape);
    const auto differs = [&](Samples<float> y) {
        const Hash other = hash_of(y.window(), {100, 5000}, y.shape);
        return other.low != whole.low && other.high != whole.high;
    };
    for (const Index at : {0, 1, 777, 4998}) {
        Samples<float> bit = x, exchanged = x, sign = x;
        bit.at(0, at, 1) = std::nextafter(bit.at(0, at, 1), 9.f);
        std::swap(exchanged.at(0, at, 0), exchanged.at(0, at + 1, 0));
        sign.at(0, at, 0) = -sign.at(0, at, 0);
        CHECK(differs(bit));
        CHECK(differs(exchanged));
        CHECK(differs(sign));
    }
    Samples<float> moved = x;
    std::rotate(moved.values.begin(), moved.values.begin() + 2, moved.values.end());
    CHECK(differs(moved));
    CHECK_FALSE(same(hash_of(x.window(), {100, 4999}, x.shape), whole));
}
