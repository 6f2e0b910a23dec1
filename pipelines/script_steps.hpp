// The filters and steps of a pipeline file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/chain_plan.hpp"
#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

class StepReader {
  public:
    /// `folder` is that of the pipeline file: files that parameters name are looked for there first.
    explicit StepReader(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// Takes in named filters, a map; all are checked.
    void read_filters(const Yaml& value);
    std::vector<StepCall> read_steps(const Yaml& value) const;

  private:
    StepCall read_step(const std::string& name, const Yaml& value, const std::string& place) const;
    const Yaml& named(const Yaml& name) const;
    void set_main(StepCall& call, const Yaml& value) const;

    std::filesystem::path folder_;
    std::vector<std::pair<std::string, Yaml>> filters_;
};

}  // namespace convoy::pipelines
