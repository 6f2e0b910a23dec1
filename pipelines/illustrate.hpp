// A spectrogram drawn while it is written.
#pragma once

#include <memory>
#include <string>

#include "core/device/device.hpp"
#include "io/format.hpp"

namespace convoy::pipelines {

/// A picture that a step asks for of its result.
struct PictureRequest {
    std::string file;   // empty: none
    bool mean = false;  // a pixel shows the mean of what falls on it, else the largest
};

/// Passes everything on to `inner`, and keeps of it what the pixels of a picture show: memory does not grow
/// with the signal. finish() draws the picture and finishes `inner`; if either fails, neither is left; the
/// first eight channels are drawn. `spec` describes what is written: [..., frequency, time]. The picture is
/// resampled on `device`, as the work was done there.
std::unique_ptr<io::Writer> illustrating_writer(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec,
                                                const std::string& title, const PictureRequest& request,
                                                const device::Device& device);

}  // namespace convoy::pipelines
