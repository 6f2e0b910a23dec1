#include "core/base/opened_library.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace convoy;

namespace {

class Maths : public OpenedLibrary {
  public:
    Maths(const std::vector<std::string>& names, const char* function) : OpenedLibrary(names) {
        get(call, function);
    }
    double (*call)(double) = nullptr;
};

}  // namespace

TEST_CASE("the first library that can be opened gives the functions, and it is told where one is missing") {
    const Maths maths({"libnowhere.so.1", "libm.so.6"}, "fabs");
    REQUIRE(maths.there());
    CHECK(maths.call(-3) == 3);
    CHECK_FALSE(Maths({"libm.so.6"}, "no_such_function").there());
    CHECK_FALSE(Maths({"libnowhere.so.1"}, "fabs").there());
}
