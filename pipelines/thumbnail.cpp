#include "pipelines/thumbnail.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace convoy::pipelines {

namespace {

constexpr Index most_columns = 160, most_rows = 96, length = 256;

// Frames of one lane as numbers.
std::vector<double> samples(io::Reader& reader, Span span, Index outer) {
    const SampleType type = reader.recording().type;
    std::vector<std::byte> bytes(static_cast<std::size_t>(span.count * bytes_of(type)));
    reader.read(span, {outer, 1, 0, 1}, bytes.data(), span.count);
    std::vector<double> values(static_cast<std::size_t>(span.count));
    dispatch(type, [&](auto zero) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::memcpy(&zero, bytes.data() + i * sizeof zero, sizeof zero);
            values[i] = static_cast<double>(zero);
        }
    });
    return values;
}

float decibels(double power) {
    return static_cast<float>(10 * std::log10(std::max(power, 1e-40)));
}

// Power at a frequency bin of a Hann-weighted frame, as it is defined: frames are few.
double power_at(const std::vector<double>& frame, Index bin) {
    double real = 0, imaginary = 0;
    for (Index n = 0; n < length; ++n) {
        const double weight = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(n) / length);
        const double angle = 2 * std::numbers::pi * static_cast<double>(bin * n % length) / length;
        real += weight * frame[static_cast<std::size_t>(n)] * std::cos(angle);
        imaginary += weight * frame[static_cast<std::size_t>(n)] * std::sin(angle);
    }
    return real * real + imaginary * imaginary;
}

Grid of_signal(io::Reader& reader) {
    const Index frames = reader.recording().shape.frames;
    if (frames < length) return {};
    Grid grid{std::min(most_columns, frames / length), most_rows, {}};
    grid.values.resize(static_cast<std::size_t>(grid.columns * grid.rows));
    for (Index column = 0; column < grid.columns; ++column) {
        const Index first = (frames - length) * column / std::max<Index>(1, grid.columns - 1);
        const auto frame = samples(reader, {first, length}, 0);
        for (Index row = 0; row < grid.rows; ++row)
            grid.values[static_cast<std::size_t>(row * grid.columns + column)] =
                decibels(power_at(frame, row * (length / 2) / grid.rows));
    }
    return grid;
}

Grid of_image(io::Reader& reader) {
    const io::Recording& r = reader.recording();
    const Index height = r.dims.size() > 1 ? r.dims[r.dims.size() - 2] : 1;
    Grid grid{std::min(most_columns, r.shape.frames), std::min(most_rows, height), {}};
    bool negative = false;
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column) {
            const Index at = r.shape.frames * column / grid.columns;
            const double value = samples(reader, {at, 1}, height * row / grid.rows).front();
            negative = negative || value < 0;
            grid.values.push_back(static_cast<float>(value));
        }
    if (!negative)  // powers or magnitudes, not yet decibels
        for (float& value : grid.values)
            value = decibels(static_cast<double>(value));
    return grid;
}

}  // namespace

Grid thumbnail(io::Reader& reader, bool image) {
    if (reader.recording().shape.samples() == 0) return {};
    return image ? of_image(reader) : of_signal(reader);
}

}  // namespace convoy::pipelines
