// The step `conv2d` in Python.
#pragma once

#include <string>

#include "core/conv2d/conv2d.hpp"
#include "io/npy.hpp"
#include "pipelines/step.hpp"

namespace convoy::pipelines {

/// `file` names the kernel's file; empty: its numbers are written out.
Python conv2d_python(const conv2d::Problem& problem, const io::Array& kernel, const std::string& file);

}  // namespace convoy::pipelines
