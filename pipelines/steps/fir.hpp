// What the steps that convolve along time share: filter, decimate, keep_every, gain, envelope.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/conv1d/conv1d.hpp"
#include "pipelines/step.hpp"

namespace convoy::pipelines {

/// A convolution along time, of whatever flows in.
struct Fir {
    std::vector<double> taps;
    conv1d::Mode mode = conv1d::Mode::same;
    Padding padding = Padding::zero;
    Index decimate = 1;
    std::vector<std::pair<std::string, std::string>> notes = {};  // for the report
};

/// The type of a step's arithmetic: as asked, else float64 where what flows in is wide.
SampleType arithmetic_of(const Flow& flow, const Execution& execution);

/// Plans the convolution and turns `flow` into what flows out. Error (a wrong request) as conv1d::check.
Planned plan_fir(Fir fir, Flow& flow, const Execution& execution);

}  // namespace convoy::pipelines
