// What one thread of this CPU can do at best, measured: the ceilings that CPU kernels are held against.
#pragma once

namespace convoy::device {

/// Floating-point operations a second, two for each fused multiply-add in float32, in the widest vectors.
/// Best of several runs, about 50 ms in all.
double fma_rate();

/// Bytes a second that a copy of memory well beyond the caches moves, read and written ones both counted.
/// Best of several runs, about 200 ms in all.
double copy_rate();

}  // namespace convoy::device
