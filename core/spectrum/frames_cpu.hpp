// The spectra of a few frames at once, a frame a SIMD lane: window, transform, power or magnitude, bands. No
// frame sees another one, so neither NaN nor rounding passes between them, and a frame's bits do not depend
// on its company.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/fft/lanes.hpp"
#include "core/fft/mixed_radix.hpp"
#include "core/spectrum/spectrum.hpp"

namespace convoy::spectrum {

/// What is needed to turn the transforms of a few frames into values: the arguments of the kernels.
template <class T>
struct FrameJob {
    const T* z;             // [length][2][lanes], bin k at position[k]
    const Index* position;  // of `length` bins
    Index length, lanes;
    const T* twiddles;  // exp(-2 pi i k / nfft), pairs
    const T* gain;      // by bin
    Quantity quantity;
    T* out;
};

template <class T>
class FrameSpectra {
  public:
    explicit FrameSpectra(const Problem& problem);

    /// Frames of one call.
    Index lanes() const { return lanes_; }
    /// T's of scratch and of values that a call needs; both aligned to 64 bytes.
    Index scratch() const;
    Index values() const { return rows_ * lanes_; }

    /// The samples under the window; im is not looked at for real signals.
    struct Frame {
        const T* re;
        const T* im;
    };
    /// values[(bin * parts + part) * lanes + lane] for `count` <= lanes frames; those of the other lanes are
    /// any.
    void run(const Frame* frames, Index count, T* values, T* scratch) const;

  private:
    void fill(const Frame* frames, Index count, T* z) const;

    Index lanes_, nfft_, length_, lead_, bins_, rows_;
    bool complex_in_, halved_, detrend_;
    Quantity quantity_;
    std::vector<T> window_, gain_, twiddles_;
    std::vector<Index> position_;
    std::optional<fft::LaneFft<T>> power_of_two_;
    std::optional<fft::MixedRadix<T>> any_length_;
    struct Row {
        Index first, count, weights;  // where its weights start
    };
    std::vector<Row> bands_;
    std::vector<T> weights_;
};

/// values become decibels; 0 becomes -infinity or the floor, and NaN stays.
template <class T>
void to_decibels(T* values, Index count, const Problem::Logarithm& logarithm);

}  // namespace convoy::spectrum
