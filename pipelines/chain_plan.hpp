// Steps planned for an input: the chain of stages, and all that is known of its result before a sample is
// read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/options.hpp"
#include "pipelines/step.hpp"
#include "pipelines/stream.hpp"

namespace convoy::pipelines {

/// A step with its values.
struct StepCall {
    const Step* step;
    Params params;
    std::string place = {};  // where it was written: "pipeline.yaml:12"
};

/// The call without what it draws.
StepCall without_picture(const StepCall& call);

/// The parameter of a step that names a file it writes beside the result (an intermediate result, a picture);
/// empty where it writes none.
std::string_view written_by(const StepCall& call);

/// Has the input opened as an image, streamed along its columns, where the first step works on images.
void open_as_image(io::OpenOptions& options, std::span<const StepCall> steps);

/// A step as planned.
struct StepReport {
    std::string name, strategy, reason;
    std::vector<std::pair<std::string, std::string>> notes;
    std::string explanation;  // the table behind `auto`
    Stage::Facts facts;
    Shape shape;  // of its result
    SampleType type = SampleType::float32;
    std::optional<double> rate;     // of the signal, after it
    double seconds = 0;             // on the CPU, where steps run one after another
    std::vector<double> taps = {};  // of a filter
    Index halo = 0;                 // input frames beside the one that an output stands for
};

/// An intermediate result that is written too: what flows behind the first `stages` of the chain.
struct Saved {
    std::size_t stages;
    Flow flow;
    Span wanted;
    std::string path;
};

struct ChainPlan {
    io::Reader* input = nullptr;
    std::unique_ptr<io::Reader> piece;  // the input, where that is a piece of a signal with gaps
    Chain chain;
    Flow flow;    // behind the last step
    Span wanted;  // of its frames
    std::vector<StepReport> steps;
    std::vector<std::size_t> step_of;  // of each stage of the chain
    std::vector<Saved> saved;
    std::vector<double> taps;  // of a single filter step
    PictureRequest picture;    // of the result

    /// Whether a stage has to see its whole input in a pass of its own.
    bool learns() const;
};

/// Plans `steps` for `input`, which must outlive the plan. `part`: the input frames whose outputs are wanted.
/// Error (naming the place of the step) where a step cannot do what is asked, or nothing is left to do.
ChainPlan plan_chain(io::Reader& input, std::span<const StepCall> steps, const Execution& execution,
                     const Part& part);

/// The same for frames `piece` of a signal, of which `part` is wanted; wanted is empty where that lies
/// outside.
ChainPlan plan_piece(io::Reader& signal, Span piece, std::span<const StepCall> steps,
                     const Execution& execution, const Part& part);

/// The first frame of `flow` whose input frame is `input` or later.
Index frame_at(const Flow& flow, Index input);

/// A pass through the first `stages` of the chain: frames `frames` of what they give, with the chunks that
/// suit them.
StreamReport run_first(ChainPlan& plan, std::size_t stages, Span frames, io::Writer& writer,
                       const StreamOptions& options);

/// Lets stages that need to know their whole input see it, each in a pass of its own.
void learn(ChainPlan& plan, const StreamOptions& options);

}  // namespace convoy::pipelines
