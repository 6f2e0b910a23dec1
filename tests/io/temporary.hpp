// What tests of files need: a folder that goes, warnings that are caught, small files, and Python as a second
// reader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace convoy::test {

/// A folder that goes with its contents.
class Temporary {
  public:
    Temporary();
    ~Temporary();
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    std::string file(const std::string& name) const { return path + "/" + name; }
    /// Names of everything in it, sorted.
    std::vector<std::string> names() const;
    std::string path;
};

/// Catches warnings as "where: text" while it lives.
class Warnings {
  public:
    Warnings();
    ~Warnings();
    std::vector<std::string> all;

  private:
    WarningHandler before_;
};

void copy_file(const std::string& from, const std::string& to);
void cut_file(const std::string& path, std::int64_t bytes);
std::string file_bytes(const std::string& path);

/// A 16-bit WAV file with chunks before and after its samples.
using Chunks = std::vector<std::pair<std::string, std::string>>;
void write_wav(const std::string& path, std::uint32_t rate, std::uint16_t channels,
               const std::vector<std::int16_t>& samples, const Chunks& before = {}, const Chunks& after = {});

/// Runs a Python script; throws with what it printed where it fails. Returns its standard output.
std::string python(const std::string& script);
/// Runs a script that sets `x` (an array of numbers), and returns that.
std::vector<double> python_numbers(const std::string& script);

}  // namespace convoy::test
