#include "pipelines/bench/figures.hpp"

#include <algorithm>
#include <cmath>

namespace convoy::pipelines::bench {

double value_of(const Figures& figures, const std::string& name) {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.name == name; });
    return found == figures.end() ? not_measured : found->value;
}

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, values.size() - 1);
        return std::lerp(values[below], values[above], place - std::floor(place));
    };
    return {at(0.5), at(0.1), at(0.9)};
}

}  // namespace convoy::pipelines::bench
