// Our detection of vector targets against that of Highway's own library, which is opened here for that.
#include <dlfcn.h>
#include <hwy/targets.h>

#include "tests/catch.hpp"

TEST_CASE("the processor's vector targets are those that Highway's library finds", "[simd]") {
    void* library = dlopen("libhwy.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto theirs = reinterpret_cast<int64_t (*)()>(dlsym(library, "_ZN3hwy16SupportedTargetsEv"));
    REQUIRE(theirs != nullptr);
    const int64_t looked_for = HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3;
    CHECK((hwy::SupportedTargets() & looked_for) == (theirs() & looked_for));
    CHECK((hwy::SupportedTargets() & HWY_STATIC_TARGET) != 0);
}

TEST_CASE("a test can have other targets chosen", "[simd]") {
    const int64_t before = hwy::SupportedTargets();
    hwy::SetSupportedTargetsForTest(HWY_STATIC_TARGET);
    CHECK(hwy::SupportedTargets() == HWY_STATIC_TARGET);
    hwy::SetSupportedTargetsForTest(0);
    CHECK(hwy::SupportedTargets() == before);
}
