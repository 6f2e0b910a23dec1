#include "pipelines/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.hpp"

extern char** environ;

namespace convoy::pipelines {

namespace {

std::string read_all(int descriptor) {
    std::string text;
    char part[4096];
    for (ssize_t n; (n = ::read(descriptor, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0) text.append(part, static_cast<std::size_t>(n));
    return text;
}

}  // namespace

Ended run_program(std::vector<std::string> words, bool errors) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {-1, system_error_text(errno)};
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors) ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    Ended ended{-1, error == 0 ? read_all(ends[0]) : system_error_text(error)};
    ::close(ends[0]);
    if (error != 0) return ended;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
}

}  // namespace convoy::pipelines
