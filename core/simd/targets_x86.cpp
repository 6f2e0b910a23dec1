// What Highway's run-time dispatch asks for, defined here: the vector targets of this processor. Highway's
// own shared library has them too, and measures the resolution of the clock whenever it is loaded, which
// takes 3 ms and would be half of the program's start. With these four definitions the linker has no need of
// it.
#include <hwy/targets.h>

#include <atomic>

namespace hwy {

namespace {

std::atomic<int64_t> for_test{0};

// What the processor and the system support, as Highway defines its targets. Newer ones than AVX-512 are left
// to AVX-512: our kernels would gain nothing.
int64_t detected() {
    __builtin_cpu_init();
    int64_t targets = HWY_STATIC_TARGET;
    const bool ssse3 = __builtin_cpu_supports("ssse3") != 0;
    if (ssse3) targets |= HWY_SSSE3;
    const bool sse4 = ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
    if (sse4) targets |= HWY_SSE4;
    const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c");
    if (avx2) targets |= HWY_AVX2;
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (avx512) targets |= HWY_AVX3;
    return targets;
}

}  // namespace

int64_t SupportedTargets() {
    static const int64_t found = detected();
    const int64_t instead = for_test.load();
    return instead != 0 ? instead : found;
}

void SetSupportedTargetsForTest(int64_t targets) {
    for_test.store(targets);
}

ChosenTarget& GetChosenTarget() {
    static constinit ChosenTarget chosen;
    return chosen;
}

}  // namespace hwy
