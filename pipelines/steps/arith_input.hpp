// What the steps on core/arith share.
#pragma once

#include "core/arith/arith.hpp"
#include "pipelines/steps/fir.hpp"

namespace convoy::pipelines {

/// Channels lie before time: of one channel the shape alone does not tell.
inline bool channel_rows(const Flow& flow) {
    return flow.shape.outer > 1 || (flow.dims.size() > 1 && flow.time_axis > 0);
}

/// What flows in, for an operator that computes.
inline arith::Input arith_input(const Flow& flow, const Execution& execution) {
    return {flow.shape,        flow.type, flow.complex, flow.scaling, arithmetic_of(flow, execution),
            channel_rows(flow)};
}

/// The flow behind such an operator: its shape, its arithmetic, nothing left to scale.
inline void computed(Flow& flow, const Stage& stage) {
    flow.shape = stage.shape();
    flow.type = stage.type();
    flow.wide = stage.type() == SampleType::float64;
    flow.scaling = {};
    flow.dims[static_cast<std::size_t>(flow.time_axis)] = flow.shape.frames;
}

}  // namespace convoy::pipelines
