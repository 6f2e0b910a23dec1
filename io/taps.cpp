#include "io/taps.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "core/base/error.hpp"
#include "io/format.hpp"
#include "io/pipe.hpp"

namespace convoy::io {

namespace {

/// "0,25": a tap with a decimal comma, or two of them?
bool may_be_decimal_comma(const std::string& line) {
    const std::size_t from = line.find_first_not_of(" \t\r+-");
    if (from == std::string::npos || line.compare(from, 2, "0,") != 0) return false;
    return line.size() > from + 2 && line[from + 2] >= '0' && line[from + 2] <= '9' &&
           line.find_first_of(".;,", from + 2) == std::string::npos;
}

/// As std::from_chars, but what is too small for a number is 0.
std::from_chars_result parse_tap(const char* first, const char* last, double& value) {
    auto result = std::from_chars(first, last, value);
    if (result.ec != std::errc::result_out_of_range) return result;
    const std::string_view text(first, static_cast<std::size_t>(result.ptr - first));
    const std::size_t exponent = text.find_first_of("eE");
    const bool small =
        exponent != text.npos && exponent + 1 < text.size() ? text[exponent + 1] == '-' : text.find('.') < 2;
    value = small ? 0 : std::numeric_limits<double>::infinity();
    return {result.ptr, std::errc{}};
}

std::vector<double> parse_text(std::istream& in, const std::string& name) {
    std::vector<double> taps;
    Index number = 0;
    for (std::string line; std::getline(in, line);) {
        if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // a byte order mark
        line = line.substr(0, line.find('#'));
        if (may_be_decimal_comma(line))
            throw failed(name + ": line " + std::to_string(number),
                         "'" + line.substr(0, 40) + "' may be one tap with a decimal comma, or two taps",
                         "write a decimal point, or a blank behind the comma");
        for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r,;", at)) != std::string::npos;) {
            const std::size_t end = std::min(line.find_first_of(" \t\r,;", at), line.size());
            const char* first = line.data() + at + (line[at] == '+' ? 1 : 0);
            double value = 0;
            const auto [stop, error] = parse_tap(first, line.data() + end, value);
            const std::string where = name + ": line " + std::to_string(number);
            if (error != std::errc{} || stop != line.data() + end)
                throw failed(where,
                             "'" + line.substr(at, std::min<std::size_t>(40, end - at)) + "' is not a number",
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
bool is_text(std::string_view start) {
    const auto strange = [](unsigned char c) { return c < 9 || (c > 13 && c < 32) || c == 127; };
    return std::none_of(start.begin(), start.end(), strange) && !start.starts_with("RIFF");
}

bool looks_like_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    char buffer[512];
    in.read(buffer, sizeof buffer);
    return is_text({buffer, static_cast<std::size_t>(in.gcount())});
}

// What a pipe gave, read once: the second file of a batch wants it too.
const std::string& stream_text(const std::string& source) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::scoped_lock lock(mutex);
    const auto found = known.find(source);
    return found != known.end() ? found->second : known.emplace(source, read_stream(source)).first->second;
}

std::string stream_name(const std::string& source) {
    return source == "-" ? "standard input" : source;
}

std::vector<double> taps_of_stream(const std::string& source) {
    const std::string& text = stream_text(source);
    const std::string name = stream_name(source);
    if (is_npy_text(text)) return as_taps(parse_npy(text, name), name);
    if (!is_text(std::string_view(text).substr(0, 512)))
        throw failed(name, "gives neither text nor .npy", "write it to a file first, and name that");
    std::istringstream in(text);
    return parse_text(in, name);
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
    if (is_stream(source)) return finite(taps_of_stream(source), stream_name(source));
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(source, ignored)) {
        if (std::filesystem::is_directory(source, ignored))
            throw failed(source, "is a folder", "name a file of taps in it");
        if (source.find(':') != std::string::npos)
            return finite(as_taps(read_array(source, {}), source), source);
        throw failed(source, "there is no such file of taps");
    }
    std::ifstream in(source);
    if (!in) throw failed(source, "cannot be read: " + system_error_text(errno));
    if (is_npy(source)) return finite(as_taps(read_npy(source), source), source);
    if (!looks_like_text(source)) return finite(as_taps(read_array(source, {}), source), source);
    return finite(parse_text(in, source), source);
}

Array read_kernel(const std::string& source) {
    const auto checked = [](Array kernel, const std::string& name) {
        finite(kernel.values, name);
        return kernel;
    };
    if (is_stream(source)) {
        const std::string& bytes = stream_text(source);
        if (!is_npy_text(bytes))
            throw failed(stream_name(source), "gives no .npy", "write it to a file first, and name that");
        return checked(parse_npy(bytes, stream_name(source)), stream_name(source));
    }
    std::error_code ignored;
    OpenOptions options;
    options.image = true;  // the order of its samples is all that matters
    const bool file = std::filesystem::is_regular_file(source, ignored);
    const bool npy = file && is_npy(source);
    if (file && !npy && looks_like_text(source))
        throw failed(source, "is text, and kernels are read from .npy and HDF5",
                     "numpy.save(NAME, numpy.loadtxt(FILE)) makes one of it");
    return checked(npy ? read_npy(source) : read_array(source, options), source);
}

}  // namespace convoy::io
