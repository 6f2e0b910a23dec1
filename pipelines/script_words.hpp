// Which words a pipeline file may hold, and how its values become the texts of parameters. Shared by the
// check and the schema.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/params.hpp"
#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

inline constexpr std::array<std::string_view, 5> sections{"inputs", "output", "filters", "steps",
                                                          "execution"};

std::span<const Param> input_words();      // below inputs:, beside files
std::span<const Param> output_words();     // below output:, beside path
std::span<const Param> execution_words();  // below execution:

/// "atten-db" as pipeline files write it: "atten_db".
std::string underscored(std::string_view name);

/// The declaration that a key means, with its other spellings; nullptr where there is none.
const Param* find_param(std::span<const Param> declared, std::string_view key);

/// A value as the text that a command line would hold: lists by commas, lists of lists by semicolons. Empty
/// where a flag is false. Error (a wrong request) where the parameter cannot take such a value.
std::optional<std::string> text_for(const Param& p, const Yaml& value);

}  // namespace convoy::pipelines
