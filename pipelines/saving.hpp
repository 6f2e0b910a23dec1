// Intermediate results that are written too: they come out of the pass that makes the result, which leaves
// out at most what no output needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipelines/chain_plan.hpp"

namespace convoy::pipelines {

class Saving {
  public:
    /// One output for each of plan.saved. `cuts` tells how the pass will be cut; none where it does not begin
    /// at the beginning, or its intermediate results are not where the CPU sees them: saved results then have
    /// passes of their own.
    Saving(ChainPlan& plan, std::vector<io::OutputSpec> specs, const Cuts* cuts);
    ~Saving();

    /// Makes the files, and writes what lies before that which passes.
    void begin(const StreamOptions& options);
    /// For the pass.
    std::vector<Tap> taps() const;
    /// Writes what lies behind that, and completes the files.
    void finish(const StreamOptions& options);
    /// Of one result's samples, as StreamReport::hash; empty where that was not asked for.
    std::string hash(std::size_t i) const;

  private:
    struct Output;
    void write(Output& output, Span frames, const StreamOptions& options);
    ChainPlan& plan_;
    std::vector<std::unique_ptr<Output>> outputs_;
};

}  // namespace convoy::pipelines
