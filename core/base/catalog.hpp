// A family of members: one contract, one file a member, one list. The list is written by CMake
// (catalog.cmake) in the order of its convoy_member lines; help texts, tests, benchmarks and error messages
// walk it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace convoy {

/// The members of one family. `Member` has a `name` that is unique in the list.
template <class Member>
class Catalog {
  public:
    constexpr Catalog(std::string_view kind, std::span<const Member* const> members)
        : kind_(kind), members_(members) {}

    auto begin() const { return members_.begin(); }
    auto end() const { return members_.end(); }
    std::size_t size() const { return members_.size(); }

    /// The member that satisfies `wanted`, or nullptr.
    template <class Predicate>
    const Member* find_if(Predicate wanted) const {
        auto found = std::find_if(begin(), end(), [&](const Member* m) { return wanted(*m); });
        return found == end() ? nullptr : *found;
    }

    const Member* find(std::string_view name) const {
        return find_if([&](const Member& m) { return m.name == name; });
    }

    /// The member called `name`; Error (a wrong request) that lists those there are.
    const Member& at(std::string_view name) const {
        if (const Member* found = find(name)) return *found;
        throw usage_error("no " + std::string(kind_) + " is called '" + std::string(name) + "'",
                          "choose one of " + names());
    }

    /// All names, separated by commas.
    std::string names() const {
        std::string list;
        for (const Member* m : members_)
            list += (list.empty() ? "" : ", ") + std::string(m->name);
        return list;
    }

  private:
    std::string_view kind_;
    std::span<const Member* const> members_;
};

}  // namespace convoy
