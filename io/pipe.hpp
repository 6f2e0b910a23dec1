// Small texts that come by a pipe: standard input, a FIFO, the shell's <(command).
#pragma once

#include <string>

#include "core/base/signal.hpp"

namespace convoy::io {

/// Whether `source` must be read at once and in order: `-`, or anything that is there and no regular file or
/// folder.
bool is_stream(const std::string& source);

/// All that comes until the other end closes it; `-` is standard input. Error where it cannot be read, or
/// more than `most` bytes come.
std::string read_stream(const std::string& source, Index most = Index{64} << 20);

/// What is called every tenth of a second while read_stream() waits: may throw, so that a signal ends the
/// wait.
void while_waiting(void (*look)());

}  // namespace convoy::io
