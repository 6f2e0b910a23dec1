// Circular convolution of two real blocks at once with the same real taps: what overlap-save is made of.
//
// The blocks are the real and the imaginary part of one complex series of length n; since the taps are real,
// so they are of the result, and nothing has to be untangled. The series is cut into 16 rows of n / 16: a
// 16-point transform down the columns, read straight from the blocks, leaves 16 independent transforms of
// length n / 16, which go through the lanes of the registers together (Bailey's four-step order, 1990). So
// one pair is enough to fill the registers, and its working set is one transform.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/device/device.hpp"
#include "core/fft/lanes.hpp"

namespace convoy::fft {

/// Rows that a series is cut into, whatever the number of lanes: bits do not depend on the CPU's register
/// width.
inline constexpr Index rows = 16;

/// The largest magnitude among the complex numbers of a spectrum (PairConvolver::spectrum).
double largest_of(const std::vector<double>& spectrum);

/// How large the n results of both blocks of a convolution are: what its rounding errors are in proportion
/// to.
template <class T>
struct Size {
    T peak;    // largest magnitude
    T energy;  // sum of squares
};

/// What the code for one vector target needs of a transform: m bins a lane, outer and inner factors.
template <class T>
struct Factors {
    Index m;
    const T *turns, *w;
};

/// Convolves pairs of blocks of n samples (a power of two, 256 or more) in T arithmetic. Immutable; shared by
/// threads.
template <class T>
class PairConvolver {
  public:
    static constexpr Index least = 256;

    /// With `every` more than 1 (a power of two, at most most_every(n)) it can also give every so many-th
    /// result alone, at the cost of a shorter transform back.
    explicit PairConvolver(Index n, Index every = 1);
    static constexpr Index most_every(Index n) { return n / least; }

    Index size() const { return lane_.size() * rows; }
    /// Values of T that a call needs as scratch, aligned to 64 bytes.
    static constexpr Index scratch(Index n, Index every = 1) {
        return 2 * n + (every > 1 ? 2 * n / every : 0);
    }
    Index scratch() const { return scratch(size(), every_); }

    /// The transform of real taps, for convolvers in either arithmetic: sum_k taps[k] e^(-2 pi i j (k -
    /// advance) / n), divided by n, as [position][part][row] in the order that the passes leave.
    std::vector<double> spectrum(const std::vector<double>& taps,
                                 Index advance) const requires std::is_same_v<T, double>;
    /// A spectrum() in the order of this CPU's lanes: taps for run().
    device::Buffer load(const std::vector<double>& spectrum) const;

    /// ya[i] = sum_k taps[k] a[(i + advance - k) mod n] for i < keep, and yb likewise from b, for loaded
    /// taps. Returns the size of all n results of both, kept or not.
    template <class S>
    Size<T> run(const device::Buffer& taps, const S* a, const S* b, S* ya, S* yb, Index keep,
                T* scratch) const;

    /// The same results 0, every, 2 every, ...: ya[i] is what run() gives as ya[i * every], i < keep. Results
    /// in between count in the energy that is returned, and not in the peak.
    template <class S>
    Size<T> run_every(const device::Buffer& taps, const S* a, const S* b, S* ya, S* yb, Index keep,
                      T* scratch) const;

  private:
    /// The way back to every so many-th result only: bins that lie n / every apart then are one and the same.
    struct Back {
        Back(Index n, Index every, const std::vector<Index>& position);
        LaneFft<T> lane;
        device::Buffer turns;
        std::vector<std::int32_t> alike;  // places of bins that are added up: [place in `lane`][every]
    };

    LaneFft<T> lane_;
    device::Buffer turns_;  // outer twiddles, by 16 columns: [row 1 .. 15][part][column]
    Index every_;
    std::optional<Back> back_;
};

}  // namespace convoy::fft
