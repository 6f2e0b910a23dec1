#include "core/base/catalog.hpp"

#include <string>

#include "tests/catch.hpp"

namespace {

struct Member {
    std::string_view name;
};
const Member first{"first"}, second{"second"};
const Member* const members[] = {&first, &second};
const convoy::Catalog<Member> list{"thing", members};

}  // namespace

TEST_CASE("a catalogue finds its members by name") {
    CHECK(list.find("second") == &second);
    CHECK(list.find("third") == nullptr);
    CHECK(&list.at("first") == &first);
    CHECK(list.names() == "first, second");
}

TEST_CASE("a wrong name is a wrong request that lists the right ones") {
    try {
        list.at("third");
        FAIL("no error");
    } catch (const convoy::Error& error) {
        CHECK(error.fault() == convoy::Fault::usage);
        CHECK(std::string(error.what()) == "no thing is called 'third'; choose one of first, second");
    }
}
