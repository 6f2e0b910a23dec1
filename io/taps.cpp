#include "io/taps.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "core/base/error.hpp"
#include "io/format.hpp"

namespace convoy::io {

namespace {

std::vector<double> parse_text(std::istream& in, const std::string& name) {
    std::vector<double> taps;
    Index number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        line = line.substr(0, line.find('#'));
        for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r,;", at)) != std::string::npos;) {
            const std::size_t end = std::min(line.find_first_of(" \t\r,;", at), line.size());
            const char* first = line.data() + at + (line[at] == '+' ? 1 : 0);
            double value = 0;
            const auto [stop, error] = std::from_chars(first, line.data() + end, value);
            const std::string where = name + ": line " + std::to_string(number);
            if (error != std::errc{} || stop != line.data() + end)
                throw failed(where, "'" + line.substr(at, end - at) + "' is not a number",
                             "give filter coefficients, one a line");
            if (!std::isfinite(value))
                throw failed(where,
                             "tap " + std::to_string(taps.size()) + " is not finite (" +
                                 line.substr(at, end - at) + ")",
                             "mend the filter's coefficients");
            taps.push_back(value);
            at = end;
        }
    }
    return taps;
}

Array read_array(const std::string& source, const OpenOptions& options) {
    const auto reader = open(source, options);
    const Recording& r = reader->recording();
    if (r.complex) throw failed(r.label(), "holds complex values", "give real taps");
    const Shape& s = r.shape;
    std::vector<std::byte> raw(static_cast<std::size_t>(s.samples() * bytes_of(r.type)));
    reader->read({0, s.frames}, Lanes::all(s), raw.data(), s.frames);
    Array array{r.dims, {}};
    if (array.shape.size() == 2 && array.shape[1] == 1) array.shape.pop_back();
    dispatch(r.type, [&](auto zero) {
        const auto* values = reinterpret_cast<const decltype(zero)*>(raw.data());
        array.values.assign(values, values + s.samples());
    });
    const double gain = r.scaling.gain.empty() ? 1 : r.scaling.gain.front();
    const double offset = r.scaling.offset.empty() ? 0 : r.scaling.offset.front();
    for (double& v : array.values)
        v = v * gain + offset;
    return array;
}

std::vector<double> as_taps(Array array, const std::string& source) {
    Index longer = 0;
    for (const Index extent : array.shape)
        longer += extent > 1 ? 1 : 0;
    if (longer > 1)
        throw failed(source, "holds an array of " + std::to_string(array.shape.size()) + " axes",
                     "taps are one series of numbers");
    return std::move(array.values);
}

// Neither audio nor HDF5 nor .npy: only characters that a list of numbers has, and those of comments.
bool looks_like_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    char buffer[512];
    in.read(buffer, sizeof buffer);
    for (std::streamsize i = 0; i < in.gcount(); ++i)
        if (const unsigned char c = static_cast<unsigned char>(buffer[i]);
            c < 9 || (c > 13 && c < 32) || c == 127)
            return false;
    return std::string_view(buffer, static_cast<std::size_t>(std::min<std::streamsize>(in.gcount(), 4))) !=
           "RIFF";
}

std::vector<double> finite(std::vector<double> taps, const std::string& source) {
    if (taps.empty()) throw failed(source, "holds no taps", "give at least one filter coefficient");
    for (std::size_t k = 0; k < taps.size(); ++k)
        if (!std::isfinite(taps[k]))
            throw failed(source, "tap " + std::to_string(k) + " is not finite (NaN or Inf)",
                         "mend the filter's coefficients");
    return taps;
}

}  // namespace

std::vector<double> read_taps(const std::string& source) {
    if (source == "-") return finite(parse_text(std::cin, "standard input"), "standard input");
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(source, ignored)) {
        if (source.find(':') != std::string::npos)
            return finite(as_taps(read_array(source, {}), source), source);
        if (!std::filesystem::exists(source, ignored)) throw failed(source, "there is no such file of taps");
    }
    if (is_npy(source)) return finite(as_taps(read_npy(source), source), source);
    if (!looks_like_text(source)) return finite(as_taps(read_array(source, {}), source), source);
    std::ifstream in(source);
    if (!in) throw failed(source, "cannot be read");
    return finite(parse_text(in, source), source);
}

Array read_kernel(const std::string& source) {
    std::error_code ignored;
    OpenOptions options;
    options.image = true;  // the order of its samples is all that matters
    Array kernel = std::filesystem::exists(source, ignored) && is_npy(source) ? read_npy(source)
                                                                              : read_array(source, options);
    finite(kernel.values, source);
    return kernel;
}

}  // namespace convoy::io
