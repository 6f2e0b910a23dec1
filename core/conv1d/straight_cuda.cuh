// The sums of `register` for 12 to 131 taps: straight code without a loop over taps or a branch among them.
// Taps come in the launch's parameters, so that an instruction names its tap and no register holds it.
#pragma once

#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"

namespace convoy::conv1d::gpu {

/// Code for 4 * Quads to 4 * Quads + 3 taps. Outputs neighbour one another as in `Neighbouring`, and their
/// sums have the same order.
template <int Quads>
struct Straight {
    static constexpr int V = 4, outputs = straight_outputs(Quads), window = outputs + V, whole = Quads * V,
                         segment = straight_segment(Quads);
    struct Taps {
        float taps[whole + V];
        int rest;  // taps after the quads
    };

    /// x: the first sample of the thread's first output, from a boundary of 16 bytes. To look is to look at
    /// as many samples as there are outputs, from the `whole`th on.
    static __device__ __forceinline__ void add(float (&totals)[outputs], const float* x, const Taps& g,
                                               bool look, LoudAndFaint& seen) {
        float w[window], sums[outputs] = {};
#pragma unroll
        for (int i = 0; i < outputs; i += V)
            load_vector(&w[i], x + i);
        quads<0>(totals, sums, w, x, g);
        load_vector(&w[(whole + outputs) % window], x + whole + outputs);
        if (g.rest > 0) products<whole>(sums, w, g);
        if (g.rest > 1) products<whole + 1>(sums, w, g);
        if (g.rest > 2) products<whole + 2>(sums, w, g);
#pragma unroll
        for (int e = 0; e < outputs; ++e)
            totals[e] = whole > segment ? totals[e] + sums[e] : sums[e];
        if (!look) return;
#pragma unroll
        for (int i = 0; i < outputs; i += V) {
            const int s = (whole + i) % window;
            seen.quad(make_float4(w[s], w[s + 1], w[s + 2], w[s + 3]));
        }
    }

  private:
    template <int q>
    static __device__ __forceinline__ void quads(float (&totals)[outputs], float (&sums)[outputs],
                                                 float (&w)[window], const float* x, const Taps& g) {
        if constexpr (q < Quads) {
            constexpr int s = q * V;
            if constexpr (q > 0 && s % segment == 0)
#pragma unroll
                for (int e = 0; e < outputs; ++e) {
                    totals[e] = s > segment ? totals[e] + sums[e] : sums[e];
                    sums[e] = 0;
                }
            load_vector(&w[(s + outputs) % window], x + s + outputs);
            products<s>(sums, w, g);
            products<s + 1>(sums, w, g);
            products<s + 2>(sums, w, g);
            products<s + 3>(sums, w, g);
            quads<q + 1>(totals, sums, w, x, g);
        }
    }
    template <int s>
    static __device__ __forceinline__ void products(float (&sums)[outputs], const float (&w)[window],
                                                    const Taps& g) {
#pragma unroll
        for (int e = 0; e < outputs; ++e)
            sums[e] = fma(g.taps[s], w[(s + e) % window], sums[e]);
    }
};

}  // namespace convoy::conv1d::gpu
