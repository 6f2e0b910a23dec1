// What was measured on this machine, kept for `auto`: a JSON file in the user's configuration folder.
#pragma once

#include <string>

#include "core/device/device.hpp"
#include "pipelines/bench/stream.hpp"

namespace convoy::pipelines {

/// $CONVOY_CALIBRATION, else convoy/calibration.json in $XDG_CONFIG_HOME or ~/.config.
std::string calibration_path();

/// Takes over what is saved, if anything is: before the first plan. A file that cannot be read or understood
/// is told in a warning, and the shipped defaults stay.
void load_calibration();

/// The speeds of the CPU that `auto` goes by, as JSON; empty where they are the shipped ones.
std::string calibration_note();

/// Measures the CPU (about two seconds, one thread) and saves it beside what is there.
void calibrate_cpu();

/// The mode with the highest rate with the CPU filling and draining, among those that ran; nullptr for none.
const memory::Mode* fastest_mode(const bench::StreamBench& measured);

/// Saves the fastest mode of a GPU beside what is there. Error where the file cannot be written.
void save_fastest_mode(const device::Device& gpu, const memory::Mode& mode);

}  // namespace convoy::pipelines
