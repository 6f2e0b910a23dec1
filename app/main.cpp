// The program: every error becomes one line and an exit status.
#include <new>

#include "app/command.hpp"
#include "app/log.hpp"
#include "core/base/error.hpp"
#include "pipelines/cancel.hpp"

int main(int argc, char** argv) {
    using namespace convoy;
    pipelines::catch_signals();
    try {
        return app::run_command_line(argc, argv);
    } catch (const Error& error) {
        app::log_error(error.what());
        return error.fault() == Fault::usage ? 2 : 1;
    } catch (const pipelines::Cancelled& cancelled) {
        app::log_error("stopped by signal " + std::to_string(cancelled.signal()) +
                       (cancelled.kept() ? "; what is done is kept: run it again with --resume"
                                         : "; what was being written is removed"));
        return 128 + cancelled.signal();
    } catch (const std::bad_alloc&) {
        app::log_error("not enough memory; use a smaller --chunk");
        return 1;
    } catch (const std::exception& error) {
        app::log_error(std::string("unexpected: ") + error.what());
        return 1;
    }
}
