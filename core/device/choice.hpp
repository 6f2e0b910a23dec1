// What the front doors of strategies have in common: how one is named, and which is the fastest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/error.hpp"
#include "core/device/device.hpp"

namespace convoy::device {

/// The strategy called `name` on a device; `kind` is what messages call it: "1-D strategy". Error (a wrong
/// request) that lists those there are, or says why it cannot do the problem.
template <class Strategy, class Problem>
const Strategy& named_strategy(const Catalog<Strategy>& catalog, std::string_view kind, std::string_view name,
                               const Problem& problem, const Device& device) {
    std::string there;
    const Strategy* named = nullptr;
    for (const Strategy* s : catalog) {
        if (s->backend != device.backend) continue;
        there += (there.empty() ? "" : ", ") + std::string(s->name);
        if (s->name == name) named = s;
    }
    if (named == nullptr)
        throw usage_error(
            "no " + std::string(kind) + " on " + device.id() + " is called '" + std::string(name) + "'",
            "choose auto or one of " + there);
    if (std::string why = named->unsupported(problem, device); !why.empty())
        throw usage_error("--strategy " + std::string(name) + " cannot do this: " + why,
                          "use --strategy auto");
    return *named;
}

/// The row of a cost model's table with the least `seconds`, the first of several; nullptr where none has
/// any.
template <class Modelled>
const Modelled* fastest(const std::vector<Modelled>& rows) {
    const Modelled* best = nullptr;
    for (const Modelled& row : rows)
        if (row.seconds && (best == nullptr || *row.seconds < *best->seconds)) best = &row;
    return best;
}

}  // namespace convoy::device
