// The parameters of every command.
#include "app/command.hpp"

namespace convoy::command {

namespace {
constexpr Param list[] = {
    {.name = "quiet", .kind = Kind::flag, .help = "no progress; warnings stay", .also = "q"},
    {.name = "log-level",
     .kind = Kind::choice,
     .value = "LEVEL",
     .help = "least level that is told: info adds what was chosen, debug how the work was cut and what took "
             "how long",
     .fallback = "warning",
     .choices = "debug,info,warning,error"},
    {.name = "report", .value = "FILE", .help = "write what was done as JSON; - is standard output"},
};
}  // namespace

std::span<const Param> common_params() {
    return list;
}

}  // namespace convoy::command
