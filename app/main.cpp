// The program: every error becomes one line and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>

#include "app/command.hpp"
#include "app/log.hpp"
#include "core/base/error.hpp"
#include "io/pipe.hpp"
#include "pipelines/cancel.hpp"

namespace {

// A descriptor that the shell closed (`<&-`) would become that of the first file opened: then messages and
// reports go into recordings. Reading or writing these says what is wrong.
void occupy_closed_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace convoy;
    occupy_closed_descriptors();
    pipelines::catch_signals();
    io::while_waiting(pipelines::check_cancelled);
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
    } catch (const std::filesystem::filesystem_error& error) {
        app::log_error(failed(error.path1().string(), "cannot be reached: " + error.code().message()).what());
        return 1;
    } catch (const std::bad_alloc&) {
        app::log_error("not enough memory; use a smaller --chunk");
        return 1;
    } catch (const std::exception& error) {
        app::log_error(std::string("unexpected: ") + error.what());
        return 1;
    }
}
