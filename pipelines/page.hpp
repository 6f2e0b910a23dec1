// What self-contained HTML pages are made of: nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::pipelines::page {

/// The page up to its first heading, with the one style of all; `foot` ends it.
std::string head(const std::string& title);
inline constexpr const char* foot = "</body></html>\n";

/// Text that means itself.
std::string escaped(const std::string& text);

/// A number in four figures.
std::string figures(double value);

/// The extents of an array: "64 × 2000".
std::string extents(const std::vector<Index>& dims);

/// A row of a table; cells are HTML already. `cell`: td or th.
std::string row(const std::vector<std::string>& cells, const char* cell = "td");

}  // namespace convoy::pipelines::page
