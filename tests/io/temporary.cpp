#include "tests/io/temporary.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace convoy::test {

namespace fs = std::filesystem;

Temporary::Temporary() {
    std::string pattern = (fs::temp_directory_path() / "convoy-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path = pattern;
}

Temporary::~Temporary() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

std::vector<std::string> Temporary::names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path))
        all.push_back(fs::relative(entry.path(), path));
    std::sort(all.begin(), all.end());
    return all;
}

Warnings::Warnings()
    : before_(on_warning([this](const std::string& where, const std::string& text) {
          all.push_back(where + ": " + text);
      })) {}

Warnings::~Warnings() {
    on_warning(before_);
}

void copy_file(const std::string& from, const std::string& to) {
    fs::copy_file(from, to);
}
void cut_file(const std::string& path, std::int64_t bytes) {
    fs::resize_file(path, static_cast<std::uintmax_t>(bytes));
}

std::string file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

namespace {
std::string little(std::uint32_t value, int bytes) {
    return {reinterpret_cast<const char*>(&value), static_cast<std::size_t>(bytes)};
}
std::string chunk(const std::string& id, const std::string& contents) {
    return id + little(static_cast<std::uint32_t>(contents.size()), 4) + contents +
           (contents.size() % 2 ? std::string(1, '\0') : std::string());
}
}  // namespace

void write_wav(const std::string& path, std::uint32_t rate, std::uint16_t channels,
               const std::vector<std::int16_t>& samples, const Chunks& before, const Chunks& after) {
    const std::string format = little(1, 2) + little(channels, 2) + little(rate, 4) +
                               little(rate * channels * 2u, 4) + little(channels * 2u, 2) + little(16, 2);
    std::string data(samples.size() * 2, '\0');
    if (!samples.empty()) std::memcpy(data.data(), samples.data(), data.size());
    std::string all = "WAVE" + chunk("fmt ", format);
    for (const auto& [id, contents] : before)
        all += chunk(id, contents);
    all += chunk("data", data);
    for (const auto& [id, contents] : after)
        all += chunk(id, contents);
    std::ofstream(path, std::ios::binary)
        << "RIFF" << little(static_cast<std::uint32_t>(all.size()), 4) << all;
}

std::string python(const std::string& script) {
    const Temporary folder;
    const std::string file = folder.file("script.py"), out = folder.file("out.txt");
    std::ofstream(file) << script;
    const int status = std::system((CONVOY_PYTHON " " + file + " >" + out + " 2>&1").c_str());
    const std::string printed = file_bytes(out);
    if (status != 0) throw std::runtime_error("Python: " + printed);
    return printed;
}

std::vector<double> python_numbers(const std::string& script) {
    const Temporary folder;
    const std::string file = folder.file("x.bin");
    python(script + "\nnp.asarray(x, float).ravel().tofile('" + file + "')\n");
    const std::string bytes = file_bytes(file);
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace convoy::test
