// A shared library that users need not have: opened when it is first asked for, and never closed.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>

namespace convoy {

class OpenedLibrary {
  public:
    /// Opens the first of these names or paths that can be opened.
    explicit OpenedLibrary(std::span<const std::string> names) {
        for (const std::string& name : names)
            if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        complete_ = handle_ != nullptr;
    }
    /// Whether it is open and had every function that was asked for.
    bool there() const { return complete_; }

  protected:
    /// Sets a pointer to the function of that name.
    template <class Function>
    void get(Function*& function, const char* name) {
        if (handle_ != nullptr) function = reinterpret_cast<Function*>(dlsym(handle_, name));
        complete_ = complete_ && function != nullptr;
    }

  private:
    void* handle_ = nullptr;
    bool complete_ = false;
};

}  // namespace convoy
