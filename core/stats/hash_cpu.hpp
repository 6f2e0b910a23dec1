// The hash of a run of samples.
#pragma once

#include "core/stats/stats.hpp"

namespace convoy::stats {

/// Sum of the mixed words of `count` samples of `bytes` bytes (2, 4 or 8) at positions `first`, first + 1,
/// ... of a result. Each 32-bit word w at word position p gives two 64-bit terms, sums being modulo 2^64:
///
///   k = (p + 1) * 0x9e3779b97f4a7c15,  r = k ^ lo(k) * hi(k),  low: (w ^ lo(r)) * (hi(r) | 1),
///   high: (w + hi(r)) * (w ^ lo(k)),   lo and hi being 32-bit halves, and w ^, w + of 32 bits
///
/// so that a sample that changes, or that lands somewhere else, changes both. Samples of 8 bytes are two
/// words, lower half first; of 2 bytes, one.
Hash hash_run(const std::byte* samples, Index bytes, Index count, Index first);

}  // namespace convoy::stats
