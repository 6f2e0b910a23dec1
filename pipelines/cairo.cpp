#include "pipelines/cairo.hpp"

#include <dlfcn.h>

#include <string>

#include "core/base/error.hpp"

namespace convoy::pipelines::cairo {

void* address_of(const char* name) {
    static void* const library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);  // stays open
    if (library == nullptr)
        throw failed("libcairo.so.2", "cannot be opened, and pictures are drawn by it",
                     "install cairo (Debian: libcairo2), or ask for no picture");
    void* const address = dlsym(library, name);
    if (address == nullptr)
        throw failed("libcairo.so.2", std::string("has no ") + name, "install a newer cairo");
    return address;
}

}  // namespace convoy::pipelines::cairo
