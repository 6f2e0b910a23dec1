// What benchmarks give back: named figures with units, and the order statistics they are made of.
#pragma once

#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace convoy::pipelines::bench {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// One measured quantity. Not measured: the value is NaN (null in JSON) and the note says why.
struct Figure {
    std::string name;  // in snake_case
    double value = not_measured;
    std::string unit;  // "GB/s" counts 1e9 bytes
    std::string note;
};
using Figures = std::vector<Figure>;

/// The value of the figure called `name`, NaN where there is none.
double value_of(const Figures& figures, const std::string& name);

/// Median and the range from the tenth to the ninetieth percentile (between neighbours, linearly). NaN where
/// empty.
struct Spread {
    double median = not_measured, p10 = not_measured, p90 = not_measured;
};
Spread spread_of(std::vector<double> values);

/// Seconds since it was made.
class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Median seconds of `repeat` calls of f, after one that is not counted.
template <class F>
double median_seconds(int repeat, F&& f) {
    f();
    std::vector<double> seconds;
    for (int i = 0; i < repeat; ++i) {
        const Stopwatch watch;
        f();
        seconds.push_back(watch.seconds());
    }
    return spread_of(std::move(seconds)).median;
}

}  // namespace convoy::pipelines::bench
