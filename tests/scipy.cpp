#include "tests/scipy.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace convoy::test {

namespace {
const char* const preamble = R"(import sys
import numpy as np
import scipy
from scipy import signal
out = open(sys.argv[1], 'wb')
def row(values):
    v = np.atleast_1d(np.asarray(values)).ravel()
    v = np.ascontiguousarray(v, complex if np.iscomplexobj(v) else float).view(float)
    out.write(np.int64(v.size).tobytes() + v.tobytes())
)";

// A folder of its own that goes with the object.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "convoy-scipy-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};
}  // namespace

std::vector<std::vector<double>> scipy(const std::string& program) {
    const Folder folder;
    const auto script = folder.path / "judge.py", answer = folder.path / "answer",
               errors = folder.path / "errors";
    std::ofstream(script) << preamble << program << '\n';
    const std::string command =
        CONVOY_PYTHON " '" + script.string() + "' '" + answer.string() + "' 2>'" + errors.string() + "'";
    if (std::system(command.c_str()) != 0) {
        std::ifstream file(errors);
        throw std::runtime_error("SciPy (" CONVOY_PYTHON ", package python3-scipy) failed: " +
                                 std::string(std::istreambuf_iterator<char>(file), {}));
    }
    std::ifstream file(answer, std::ios::binary);
    std::vector<std::vector<double>> rows;
    std::int64_t count = 0;
    while (file.read(reinterpret_cast<char*>(&count), sizeof count)) {
        rows.emplace_back(static_cast<std::size_t>(count));
        file.read(reinterpret_cast<char*>(rows.back().data()),
                  count * static_cast<std::int64_t>(sizeof(double)));
    }
    return rows;
}

}  // namespace convoy::test
