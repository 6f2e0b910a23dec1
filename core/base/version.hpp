// The version, from CMakeLists.txt.
#pragma once

namespace convoy {
inline constexpr const char* version = CONVOY_VERSION;
}
