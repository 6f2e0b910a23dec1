#include "io/pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/file.hpp"

namespace convoy::io {

namespace {

std::atomic<void (*)()> looks{nullptr};

// Waits until there is something to read; false after a while without.
bool ready(int descriptor) {
    constexpr int tenth_of_a_second = 100;
    pollfd waiting{descriptor, POLLIN, 0};
    return ::poll(&waiting, 1, tenth_of_a_second) > 0;
}

}  // namespace

void while_waiting(void (*look)()) {
    looks = look;
}

bool is_stream(const std::string& source) {
    struct stat status {};
    if (source == "-") return true;
    return ::stat(source.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::string read_stream(const std::string& source, Index most) {
    const bool standard = source == "-";
    const std::string name = standard ? "standard input" : source;
    // Without waiting for a writer: that is what poll() is for.
    const File opened(standard ? -1 : ::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    const int descriptor = standard ? STDIN_FILENO : opened.descriptor();
    if (descriptor < 0) throw failed(name, "cannot be opened: " + system_error_text(errno));
    std::string text;
    char piece[1 << 16];
    for (;;) {
        const bool something = ready(descriptor);
        if (const auto look = looks.load()) look();
        if (!something) continue;
        const auto got = ::read(descriptor, piece, sizeof piece);
        if (got == 0) return text;
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) throw failed(name, "cannot be read: " + system_error_text(errno));
        text.append(piece, static_cast<std::size_t>(got));
        if (static_cast<Index>(text.size()) > most)
            throw failed(name, "gives more than " + bytes_text(static_cast<double>(most)),
                         "write it to a file first, if it is what you mean");
    }
}

}  // namespace convoy::io
