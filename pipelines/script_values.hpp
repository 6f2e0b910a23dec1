// Values of a pipeline file as parameters, and what is said of those that are wrong.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/params.hpp"
#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

/// A wrong request, with the place of a value.
Error wrong(const Yaml& at, const std::string& what, const std::string& hint = {});
/// The same for a key that there is not; names the nearest known one.
Error unknown_key(const std::string& key, const std::string& place, const std::vector<std::string>& known);

/// The name of a file next to the pipeline file, which is in `folder`, where there is one; else the name as
/// it is.
std::string beside(const std::filesystem::path& folder, const std::string& name);

/// Sets a parameter; null leaves it unset.
void set(Params& params, const Param& p, const Yaml& value, const std::filesystem::path& folder);
/// Sets every member of a map as a parameter of `declared`, apart from `others`. Error for keys that there
/// are not.
void set_all(const Yaml& map, Params& params, std::span<const Param> declared,
             std::vector<std::string> others, const std::filesystem::path& folder);

}  // namespace convoy::pipelines
