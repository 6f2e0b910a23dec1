#include "core/spectrum/average.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::spectrum {

template <class T>
Averager<T>::Averager(const Average& average, Index bins, Index lanes)
    : average_(average), bins_(bins), lanes_(lanes) {
    if (average.kind == Average::Kind::percentile)
        all_.resize(static_cast<std::size_t>(bins * average.frames));
    else
        sums_.resize(static_cast<std::size_t>(bins));
}

template <class T>
void Averager<T>::start() {
    frames_ = 0;
    const bool max = average_.kind == Average::Kind::max;
    std::fill(sums_.begin(), sums_.end(), max ? -std::numeric_limits<double>::infinity() : 0.0);
}

template <class T>
void Averager<T>::add(const T* values, Index count) {
    for (Index b = 0; b < bins_; ++b) {
        const T* const row = values + b * lanes_;
        if (average_.kind == Average::Kind::percentile) {
            std::copy_n(row, count, all_.data() + b * average_.frames + frames_);
            continue;
        }
        double sum = sums_[static_cast<std::size_t>(b)];
        for (Index i = 0; i < count; ++i) {
            const double value = static_cast<double>(row[i]);
            if (average_.kind == Average::Kind::mean)
                sum += value;
            else if (!(value <= sum))  // larger, or NaN; a NaN then stays
                sum = std::isnan(sum) ? sum : value;
        }
        sums_[static_cast<std::size_t>(b)] = sum;
    }
    frames_ += count;
}

template <class T>
T Averager<T>::percentile(T* first) {
    if (std::any_of(first, first + frames_, [](T v) { return std::isnan(v); }))
        return std::numeric_limits<T>::quiet_NaN();
    const double at = average_.percent / 100 * static_cast<double>(frames_ - 1);
    const Index below = static_cast<Index>(at);
    std::nth_element(first, first + below, first + frames_);
    const double low = static_cast<double>(first[below]), share = at - static_cast<double>(below);
    if (share == 0) return first[below];
    const double high = static_cast<double>(*std::min_element(first + below + 1, first + frames_));
    return static_cast<T>(low + (high - low) * share);
}

template <class T>
void Averager<T>::finish(T* values) {
    for (Index b = 0; b < bins_; ++b) {
        T* const row = values + b * lanes_;
        std::fill_n(row, lanes_, T{1});
        const double sum = sums_.empty() ? 0 : sums_[static_cast<std::size_t>(b)];
        switch (average_.kind) {
            case Average::Kind::mean:
                row[0] = static_cast<T>(sum / static_cast<double>(frames_));
                break;
            case Average::Kind::max:
                row[0] = static_cast<T>(sum);
                break;
            case Average::Kind::percentile:
                row[0] = percentile(all_.data() + b * average_.frames);
                break;
        }
    }
}

template class Averager<float>;
template class Averager<double>;

}  // namespace convoy::spectrum
