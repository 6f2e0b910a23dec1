// Problems whose results are computed in pieces: many images, images too high, and too many filters.
#pragma once

#include "tests/core/conv2d/judge.hpp"

namespace convoy::conv2d::judge {

struct PlaneCase {
    Index images, channels;
    Pair extent;
    Index filters, groups = 1;
    bool channels_last = false;
};

inline std::vector<PlaneCase> plane_cases() {
    return {{7, 1, {9, 40}, 1},      {5, 3, {8, 20}, 4},         {5, 4, {8, 20}, 6, 1, true},
            {1, 1, {270'000, 6}, 1}, {2, 1, {270'000, 4}, 1},    {1, 3, {90'000, 3}, 2, 1, true},
            {1, 2, {1'000, 5}, 800}, {2, 4, {1'000, 4}, 800, 2}, {1, 1, {270'000, 3}, 2}};
}

/// With a kernel of 5 x 3, biases, samples of 16 bits and a scale for each row.
inline Job plane_job(const PlaneCase& c, Pair stride) {
    Problem p;
    p.images = c.images;
    p.channels = c.channels;
    p.extent = c.extent;
    p.filters = c.filters;
    p.groups = c.groups;
    p.channels_last = c.channels_last;
    p.taps = {5, 3};
    p.stride = stride;
    p.dilation = {2, 1};
    p.in = SampleType::int16;
    p.scaling.gain = numbers(c.images * c.channels * c.extent.rows, 5);
    p.bias = numbers(c.filters, 7);
    return make_job(p);
}

}  // namespace convoy::conv2d::judge
