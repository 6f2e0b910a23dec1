// What bench fir shows beside its table: FFTW's speed on the same lengths, and a picture of where strategies
// cross.
#pragma once

#include <string>
#include <vector>

#include "pipelines/bench/fir.hpp"

namespace convoy::pipelines::bench {

/// Rows of overlap-save on FFTW in one thread, as the program `judge` measures it
/// (tests/peers/fftw_judge.cpp: FFTW is GPL, and nothing of it is part of this one). Throws Error where the
/// program cannot be run, or says something else.
std::vector<FirRow> judge_rows(const std::string& judge, const std::vector<Index>& taps);

/// Samples a second over the number of taps, a line for each strategy (and number of samples and channels).
void draw_crossover(const std::string& path, std::vector<FirRow> rows, const std::string& title);

}  // namespace convoy::pipelines::bench
