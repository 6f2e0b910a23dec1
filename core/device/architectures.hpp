// What this build's kernels were compiled for.
#pragma once

namespace convoy::device {

/// The oldest compute capability that the build has kernels for, as 10 * major + minor.
int oldest_architecture();

}  // namespace convoy::device
