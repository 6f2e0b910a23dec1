// SciPy as a judge, at test time: runs a Python program with the system's interpreter and reads back the rows
// of numbers that it prints.
#pragma once

#include <string>
#include <vector>

namespace convoy::test {

/// Runs `program` (numpy as np, scipy, signal and a function row(values) are at hand; each row() becomes one
/// row). Complex values give two numbers each. Throws std::runtime_error with Python's words where it fails:
/// a missing SciPy is a failed test, not a skipped one.
std::vector<std::vector<double>> scipy(const std::string& program);

}  // namespace convoy::test
