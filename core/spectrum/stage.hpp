// What spectrograms on every backend share: shapes and spans.
#pragma once

#include "core/spectrum/spectrum.hpp"

namespace convoy::spectrum {

class SpectrogramStage : public Stage {
  public:
    explicit SpectrogramStage(const Problem& problem) : p_(problem) {}

    Shape shape() const override { return {p_.channels() * p_.bins(), p_.outputs(), p_.parts()}; }
    SampleType type() const override { return p_.arithmetic; }
    Span needed(Span out) const override;
    Index needed_at_most(Index count) const override;
    /// Channels, where each is rows or columns of its own.
    Index pieces() const override { return apart() ? p_.channels() : 1; }
    Lanes lanes_of(Index first, Index count) const override;
    Lanes used(Lanes out) const override;
    bool single_pass() const override { return p_.hop >= p_.window_length(); }

  protected:
    const Problem& problem() const { return p_; }
    /// Lanes of the result that input lanes `in` make.
    Lanes rows_of(Lanes in) const;
    /// Lanes of a channel of the input: 2 where it is complex.
    Index input_parts() const { return p_.complex ? 2 : 1; }
    /// Extended samples that transforms use.
    Span samples_of(Span transforms) const {
        return {p_.start(transforms.first), (transforms.count - 1) * p_.hop + p_.window_length()};
    }

  private:
    bool apart() const { return p_.shape.outer == 1 || p_.shape.inner == input_parts(); }
    Problem p_;
};

}  // namespace convoy::spectrum
