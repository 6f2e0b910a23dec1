// How much of a job's way is timed: from file to file, from memory to memory, or only what the device sees.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/device/device.hpp"
#include "io/format.hpp"

namespace convoy::pipelines {

enum class Scope {
    link,    // chunks lie in the slots already, and results are left there
    memory,  // the CPU fills the slots from RAM and drains them to RAM
    file,
};
inline constexpr Scope all_scopes[] = {Scope::link, Scope::memory, Scope::file};

std::string_view name_of(Scope scope);
/// Error (a wrong request) where there is none of that name.
Scope scope_of(std::string_view name);

/// The first frames of an array in RAM, which stand for those that follow: frame f lies where frame
/// f % frames() does.
class RamArray {
  public:
    /// Holds at most `most` bytes, and a frame at least.
    RamArray(Shape whole, SampleType type, std::size_t most);
    Index frames() const { return held_.frames; }
    /// Copies frames `span` of `lanes` to or from `outside`, [outer][pitch][inner].
    void get(Span span, Lanes lanes, std::byte* outside, Index pitch) const;
    void put(Span span, Lanes lanes, const std::byte* outside, Index pitch) const;

  private:
    template <class Copy>
    void each_row(Span span, const Lanes& lanes, Index pitch, Copy&& copy) const;

    Shape held_;
    Index size_;  // bytes of a sample
    device::Buffer data_;
};

/// RAM in place of the files of jobs that have the same input and result, one after the other.
class RamFiles {
  public:
    explicit RamFiles(std::size_t most = std::size_t{512} << 20) : most_(most) {}

    /// The input from RAM, which the first job fills. For Scope::link, a place in memory is filled once and
    /// then left as it is.
    std::unique_ptr<io::Reader> reader(std::unique_ptr<io::Reader> input, Scope scope);
    /// Takes a result; for Scope::link nothing is done with it.
    std::unique_ptr<io::Writer> writer(Shape shape, SampleType type, Scope scope);

  private:
    std::size_t most_;  // bytes of each array
    std::optional<RamArray> source_, sink_;
};

}  // namespace convoy::pipelines
