// The one exception type of the project, and warnings. A message says where, what is wrong, and what to do
// about it; app/main.cpp prints it as one line.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace convoy {

/// Why the work stopped: `usage` where the request itself is wrong (exit status 2), `failed` otherwise (1).
enum class Fault { failed, usage };

/// An error to be read by a person: `where` is a file, dataset or script line (may be empty), `hint` what to
/// do.
class Error : public std::runtime_error {
  public:
    Error(Fault fault, std::string where, std::string what, std::string hint);
    Fault fault() const { return fault_; }
    const std::string& where() const { return where_; }
    const std::string& problem() const { return problem_; }
    const std::string& hint() const { return hint_; }

  private:
    Fault fault_;
    std::string where_, problem_, hint_;
};

/// Something that went wrong in the work: a bad file, no space, a device error.
Error failed(std::string where, std::string what, std::string hint = {});

/// Something wrong in the request itself.
Error usage_error(std::string what, std::string hint = {}, std::string where = {});

/// Text of the system's error number `code`.
std::string system_error_text(int code);

/// Tells the user of something that did not stop the work. Safe to call from any thread.
void warn(std::string where, std::string text);

/// Who is told of warnings from now on; by default they go to standard error. Returns the former one.
using WarningHandler = std::function<void(const std::string& where, const std::string& text)>;
WarningHandler on_warning(WarningHandler handler);

/// Hears warnings too, as long as it lives: for reports.
class WarningListener {
  public:
    explicit WarningListener(WarningHandler heard);
    WarningListener(const WarningListener&) = delete;
    WarningListener& operator=(const WarningListener&) = delete;
    ~WarningListener();

  private:
    WarningHandler heard_;
    friend void warn(std::string where, std::string text);
};

}  // namespace convoy
