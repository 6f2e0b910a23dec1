// Steps: what a pipeline file lists and what `convoy filter`, `spectrogram` and `conv2d` run one of. A step
// declares its parameters once (command line, pipeline file, help and schema come from them), and turns a
// description of what flows in into a planned stage and the description of what flows out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/params.hpp"
#include "core/base/stage.hpp"
#include "core/device/device.hpp"
#include "io/format.hpp"
#include "pipelines/illustrate.hpp"

namespace convoy::pipelines {

/// What flows between steps: everything known of an array but its samples.
struct Flow {
    std::string label;               // of the input, for messages
    std::string dataset = "/audio";  // path that the result gets
    std::vector<Index> dims;
    int time_axis = 0;
    Shape shape;  // the same as [outer][frames][inner]
    SampleType type = SampleType::float32;
    bool complex = false;
    bool wide = false;           // arithmetic defaults to float64
    Scaling scaling;             // still to be applied
    std::optional<double> rate;  // Hz, of the signal (a spectrogram keeps it)
    std::string rate_looked_for;
    std::vector<io::Axis> axes;   // one for each of dims
    bool signal = true;           // time and channels, as in the source: not an image
    bool own_axes = false;        // channels are not the source's: its scales stay behind
    std::vector<Index> selected;  // channels of the source's file, where some are taken
    // Frame m stands for input frame (time_first + m * time_step) / time_up.
    Index time_first = 0, time_step = 1, time_up = 1;
    std::vector<std::pair<std::string, std::string>> attributes;

    /// The rate at which frames follow one another: of an image that of its columns. Error that names the
    /// step and what was looked for where none is known.
    double rate_for(std::string_view step) const;
};

/// What an input is before the first step.
Flow flow_of(const io::Recording& recording);

/// How the work is to be done: the execution part of a pipeline file, the same for every step.
struct Execution {
    device::Device device;
    std::string strategy = "auto";
    std::string dtype;     // float32, float64; empty: by the input
    bool explain = false;  // Planned::explanation is asked for

    /// What to compute in: `dtype`, or by whether the input is `wide` where that is empty.
    SampleType arithmetic(bool wide) const {
        return (dtype.empty() ? wide : dtype == "float64") ? SampleType::float64 : SampleType::float32;
    }
};

/// A planned step and what the report and /convoy say of it.
struct Planned {
    std::unique_ptr<Stage> stage;                            // none where the step changes nothing
    std::string strategy, reason;                            // empty where a step has no choice
    std::vector<std::pair<std::string, std::string>> notes;  // "numtaps": "101"
    std::vector<double> taps;                                // of a filter
    std::string explanation;  // the cost model's table behind `auto`, for --explain
    std::string save;         // no stage: what flows here is written to this file too
    PictureRequest picture;   // of the result, which must be the last step's
};

/// A step in Python, with NumPy and SciPy.
struct Python {
    std::string code;     // lines that turn x (its axes are the flow's) and its rate into the step's result
    std::string missing;  // why SciPy has nothing like it; `code` is empty then
    std::vector<std::string_view> helpers =
        {};  // definitions that the code uses, each with what it uses itself
};

/// One kind of step.
struct Step {
    std::string_view name;
    std::string_view summary;
    std::span<const Param> params;
    /// Plans the step for what flows in and turns `flow` into what flows out. Error (a wrong request) where
    /// the parameters make no sense for it.
    Planned (*plan)(const Params&, Flow& flow, const Execution&);
    bool image = false;          // works on images: as the first step, its input is opened as one
    std::string_view main = {};  // the parameter that a lone value in a pipeline file sets: `decimate: 4`
    bool cpu_only = false;       // has no stage for a GPU
    /// The step in Python, for what flows in and as it was planned; none: SciPy has nothing like it.
    Python (*python)(const Params&, const Flow& in, const Planned&) = nullptr;
    /// Of an image, as the first step: the axis that is streamed, counted from behind; none: the last one.
    int (*streamed)(const Params&) = nullptr;
};

}  // namespace convoy::pipelines

namespace convoy::step {
using pipelines::Step;
const Catalog<Step>& catalog();
}  // namespace convoy::step
