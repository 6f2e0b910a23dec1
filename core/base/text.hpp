// Text as it is compared and shown.
#pragma once

#include <string>
#include <vector>

#include "core/base/quantity.hpp"

namespace convoy {

/// ASCII letters in lower case, whatever the locale.
inline std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return text;
}

/// Extents of an array: "64 x 48000".
inline std::string extents_text(const std::vector<Index>& extents) {
    std::string text;
    for (const Index n : extents)
        text += (text.empty() ? "" : " x ") + to_text(n);
    return text;
}

}  // namespace convoy
