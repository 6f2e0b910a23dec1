// Problems whose results are computed in pieces: many images, images too high, and too many filters.
#pragma once

#include "tests/core/conv2d/judge.hpp"

namespace convoy::conv2d::judge {

struct PlaneCase {
    Index images, channels;
    Pair extent;
    Index filters, groups = 1;
    bool channels_last = false;
    bool plain = false;  // a square kernel, and float samples as they are
};

inline std::vector<PlaneCase> plane_cases() {
    return {{7, 1, {9, 40}, 1},
            {5, 3, {8, 20}, 4},
            {5, 4, {8, 20}, 6, 1, true},
            {1, 1, {270'000, 6}, 1},
            {2, 1, {270'000, 4}, 1},
            {1, 3, {90'000, 3}, 2, 1, true},
            {1, 2, {1'000, 5}, 800},
            {2, 4, {1'000, 4}, 800, 2},
            {1, 1, {270'000, 3}, 2},
            {1, 1, {270'000, 9}, 1, 1, false, true},
            {4, 3, {40, 70}, 5, 1, false, true},
            {1, 1, {1'000, 9}, 800, 1, false, true}};
}

inline Problem plane_problem(const PlaneCase& c) {
    Problem p;
    p.images = c.images;
    p.channels = c.channels;
    p.extent = c.extent;
    p.filters = c.filters;
    p.groups = c.groups;
    p.channels_last = c.channels_last;
    p.taps = {3, 3};
    return p;
}

/// With biases; where it is not plain, with a kernel of 5 x 3, samples of 16 bits and a scale for each row.
inline Job plane_job(const PlaneCase& c, Pair stride) {
    Problem p = plane_problem(c);
    p.stride = stride;
    p.bias = numbers(c.filters, 7);
    if (c.plain) return make_job(p);
    p.taps = {5, 3};
    p.dilation = {2, 1};
    p.in = SampleType::int16;
    p.scaling.gain = numbers(c.images * c.channels * c.extent.rows, 5);
    return make_job(p);
}

}  // namespace convoy::conv2d::judge
