// source_of and Problem::folded against numpy.pad and against a walk over every extended frame.
#include "core/base/padding.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/conv1d/conv1d.hpp"
#include "tests/catch.hpp"
#include "tests/core/conv1d/judge.hpp"
#include "tests/scipy.hpp"

using namespace convoy;

namespace {

const Padding every_padding[] = {Padding::zero, Padding::reflect, Padding::edge, Padding::odd};

double extended(const std::vector<double>& x, Index i, Padding padding) {
    const auto s = source_of(i, static_cast<Index>(x.size()), padding);
    return s.index < 0
               ? 0
               : s.sign * x[static_cast<std::size_t>(s.index)] + static_cast<double>(s.first) * x.front() +
                     static_cast<double>(s.last) * x.back();
}

}  // namespace

TEST_CASE("the index map is numpy.pad's") {
    // One fold at a time: numpy before 2 goes wrong where it has to fold more often and unequally.
    const auto numpy = test::scipy(R"(
for n in 1, 2, 3, 5, 8:
    x = np.arange(n) ** 2 % 7 + 1.0
    for kw in dict(mode='constant'), dict(mode='reflect'), dict(mode='edge'), dict(mode='reflect', reflect_type='odd'):
        row(np.pad(x, max(n - 1, 1), **kw))
)");
    std::size_t at = 0;
    for (const Index n : {1, 2, 3, 5, 8}) {
        std::vector<double> x;
        for (Index i = 0; i < n; ++i)
            x.push_back(static_cast<double>(i * i % 7 + 1));
        const Index pad = std::max<Index>(n - 1, 1);
        for (const Padding padding : every_padding) {
            const std::vector<double>& padded = numpy.at(at++);
            for (Index i = -pad; i < n + pad; ++i) {
                INFO("n " << n << ", padding " << static_cast<int>(padding) << ", frame " << i);
                REQUIRE(extended(x, i, padding) == padded.at(static_cast<std::size_t>(i + pad)));
            }
        }
    }
    CHECK(at == numpy.size());
}

TEST_CASE("folding goes on beyond the first fold") {
    for (const Index n : {1, 2, 3, 4, 7}) {
        std::vector<double> x;
        for (Index i = 0; i < n; ++i)
            x.push_back(static_cast<double>(i * i % 5 + 3));
        for (const Padding padding : every_padding) {
            const std::vector<double> walked = conv1d::judge::extend(x, 40, 40, padding);
            for (Index i = -40; i < n + 40; ++i) {
                INFO("n " << n << ", padding " << static_cast<int>(padding) << ", frame " << i);
                REQUIRE(extended(x, i, padding) == walked[static_cast<std::size_t>(i + 40)]);
            }
        }
    }
}

TEST_CASE("folded() is the hull of what the frames map to, and no more") {
    conv1d::Problem p;
    for (const Index n : {1, 2, 5, 9})
        for (const std::size_t taps : {1, 2, 5, 12, 30})
            for (const Index decimate : {1, 3})
                for (const auto mode : {conv1d::Mode::same, conv1d::Mode::full})
                    for (const Padding padding : every_padding) {
                        p.taps.assign(taps, 1);
                        p.mode = mode;
                        p.padding = padding;
                        p.decimate = decimate;
                        p.shape.frames = n;
                        const Span reach = p.reach();
                        for (Index a = reach.first - 2; a < reach.end() + 2; ++a)
                            for (Index b = a + 1; b <= reach.end() + 2; ++b) {
                                Index low = n, high = 0;
                                bool once = true;
                                for (Index i = std::max(a, reach.first); i < std::min(b, reach.end()); ++i) {
                                    const auto s = source_of(i, n, padding);
                                    const auto use = [&](Index f) {
                                        low = std::min(low, f);
                                        high = std::max(high, f + 1);
                                    };
                                    if (s.index >= 0) use(s.index);
                                    if (s.first != 0) use(0);
                                    if (s.last != 0) use(n - 1);
                                    once = once && i >= -(n - 1) && i < 2 * n - 1;
                                }
                                const Span hull = low < high ? Span{low, high - low} : Span{0, 0};
                                const Span got = p.folded(a, b);
                                INFO("n " << n << ", taps " << taps << ", padding "
                                          << static_cast<int>(padding) << ", frames " << a << " to " << b
                                          << ": " << got.first << " + " << got.count);
                                REQUIRE(got.contains(hull));
                                if (once) REQUIRE(got == hull);
                            }
                    }
}
