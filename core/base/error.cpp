#include "core/base/error.hpp"

#include <cstdio>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/printable.hpp"

namespace convoy {

namespace {
std::string one_line(const std::string& where, const std::string& what, const std::string& hint) {
    return printable((where.empty() ? "" : where + ": ") + what + (hint.empty() ? "" : "; " + hint));
}

std::mutex handler_mutex;
WarningHandler handler = [](const std::string& where, const std::string& text) {
    std::fprintf(stderr, "convoy: warning: %s\n", one_line(where, text, {}).c_str());
};

std::vector<WarningListener*>& listeners() {  // under handler_mutex
    static std::vector<WarningListener*> list;
    return list;
}
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
    for (const WarningListener* listener : listeners())
        listener->heard_(where, text);
    handler(printable(where), printable(text));
}

WarningListener::WarningListener(WarningHandler heard) : heard_(std::move(heard)) {
    std::scoped_lock lock(handler_mutex);
    listeners().push_back(this);
}

WarningListener::~WarningListener() {
    std::scoped_lock lock(handler_mutex);
    std::erase(listeners(), this);
}

WarningHandler on_warning(WarningHandler next) {
    std::scoped_lock lock(handler_mutex);
    return std::exchange(handler, std::move(next));
}

}  // namespace convoy
