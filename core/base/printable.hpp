// Text that stays on its line.
#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// Control characters as \n, \t, \x1b, ...: what a file is called cannot break a message in two, nor steer a
/// terminal. Doing it twice changes nothing.
std::string printable(std::string_view text);

}  // namespace convoy
