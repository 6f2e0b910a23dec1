#include "io/hdf5/crash_guard.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy::io::h5;

namespace {

struct End {
    int status;
    std::string said;
};

// What a process of its own comes to.
template <class F>
End in_child(F&& f) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        f();
        ::_exit(0);
    }
    ::close(ends[1]);
    End end{0, {}};
    char buffer[512];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        end.said.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    REQUIRE(::waitpid(child, &end.status, 0) == child);
    return end;
}

}  // namespace

TEST_CASE("a crash of the library is one error line, and leaves no unfinished output") {
    const convoy::test::Temporary folder;
    const std::string part = folder.file("out.h5.part");
    std::ofstream(part) << "unfinished";
    const End end = in_child([&] {
        const CrashGuard reading("other.h5");
        const CrashGuard copying("input.h5:/data", part);
        std::raise(SIGSEGV);
    });
    CHECK(WIFEXITED(end.status));
    CHECK(WEXITSTATUS(end.status) == 1);
    CHECK(end.said.rfind("convoy: error: input.h5:/data: is damaged", 0) == 0);
    CHECK(end.said.find('\n') == end.said.size() - 1);
    CHECK_FALSE(std::filesystem::exists(part));
}

TEST_CASE("a crash elsewhere stays one") {
    const End end = in_child([] {
        { const CrashGuard over("input.h5"); }
        std::raise(SIGSEGV);
    });
    CHECK_FALSE((WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0));
    CHECK(end.said.find("input.h5") == std::string::npos);
}
