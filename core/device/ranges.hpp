// Named stretches of host time that a profiler shows: read, h2d, kernel, d2h, write. Nothing without CUDA.
#pragma once

namespace convoy::device {

/// Marks the calling thread's time from here to the end of the scope. `name` is a literal.
class Range {
  public:
    explicit Range(const char* name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace convoy::device
