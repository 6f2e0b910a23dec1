#include "core/base/error.hpp"

#include <cstdio>
#include <mutex>
#include <system_error>
#include <utility>

namespace convoy {

namespace {
std::string one_line(const std::string& where, const std::string& what, const std::string& hint) {
    return (where.empty() ? "" : where + ": ") + what + (hint.empty() ? "" : "; " + hint);
}

std::mutex handler_mutex;
WarningHandler handler = [](const std::string& where, const std::string& text) {
    std::fprintf(stderr, "convoy: warning: %s\n", one_line(where, text, {}).c_str());
};
}  // namespace

Error::Error(Fault fault, std::string where, std::string what, std::string hint)
    : std::runtime_error(one_line(where, what, hint)),
      fault_(fault),
      where_(std::move(where)),
      problem_(std::move(what)),
      hint_(std::move(hint)) {}

Error failed(std::string where, std::string what, std::string hint) {
    return {Fault::failed, std::move(where), std::move(what), std::move(hint)};
}

Error usage_error(std::string what, std::string hint, std::string where) {
    return {Fault::usage, std::move(where), std::move(what), std::move(hint)};
}

std::string system_error_text(int code) {
    return std::generic_category().message(code);
}

void warn(std::string where, std::string text) {
    std::scoped_lock lock(handler_mutex);
    handler(where, text);
}

WarningHandler on_warning(WarningHandler next) {
    std::scoped_lock lock(handler_mutex);
    return std::exchange(handler, std::move(next));
}

}  // namespace convoy
