#include "core/conv2d/rolling_rows_cuda.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/base/division.hpp"
#include "core/conv2d/rolling_rows_cuda.hpp"
#include "core/device/check.hpp"

namespace convoy::conv2d::gpu {

namespace {

using namespace rolling;

// For fewer filters a block would mostly bring samples.
constexpr int fewest_warps = 3;

/// A kernel as the host sees it.
struct Variant {
    int taps, stride, channels, filters;
    bool in_parameters, alone;
    int live, weight_rows;
    const void* kernel;
    std::size_t (*shared_bytes)(const Team&);
    void (*launch)(const Job&, const Strips&, const std::vector<float>& parameters, unsigned blocks,
                   const Team&, cudaStream_t);
};

template <class S>
Variant variant() {
    using L = Layout<S>;
    return {S::taps,
            S::stride,
            S::channels,
            S::filters,
            S::in_parameters,
            S::alone,
            L::live,
            L::weight_rows,
            reinterpret_cast<const void*>(rolling_rows<S>),
            L::shared_bytes,
            [](const Job& job, const Strips& strips, const std::vector<float>& parameters, unsigned blocks,
               const Team& team, cudaStream_t stream) {
                Weights<S> weights{};
                if (S::in_parameters) std::copy(parameters.begin(), parameters.end(), weights.of);
                rolling_rows<S>
                    <<<blocks, team.warps() * lanes, L::shared_bytes(team), stream>>>(job, strips, weights);
                device::check_launch("small_channel");
            }};
}

/// The first that fits is taken: one filter in all, then pairs of filters, then single ones.
const auto& variants() {
    static const std::array all{variant<Shape<3, 1, 1, 1, true>>(),   variant<Shape<5, 1, 1, 1, true>>(),
                                variant<Shape<7, 1, 1, 1, true>>(),   variant<Shape<9, 1, 1, 1, true>>(),
                                variant<Shape<11, 1, 1, 1, true>>(),  variant<Shape<13, 1, 1, 1, true>>(),
                                variant<Shape<15, 1, 1, 1, true>>(),  variant<Shape<3, 1, 1, 2, false>>(),
                                variant<Shape<5, 1, 1, 2, false>>(),  variant<Shape<7, 1, 1, 2, false>>(),
                                variant<Shape<3, 2, 1, 2, false>>(),  variant<Shape<5, 2, 1, 2, false>>(),
                                variant<Shape<7, 2, 1, 2, false>>(),  variant<Shape<3, 1, 3, 2, false>>(),
                                variant<Shape<5, 1, 3, 2, false>>(),  variant<Shape<7, 1, 3, 2, false>>(),
                                variant<Shape<3, 2, 3, 2, false>>(),  variant<Shape<5, 2, 3, 2, false>>(),
                                variant<Shape<7, 2, 3, 2, false>>(),  variant<Shape<3, 1, 1, 1, false>>(),
                                variant<Shape<5, 1, 1, 1, false>>(),  variant<Shape<7, 1, 1, 1, false>>(),
                                variant<Shape<9, 1, 1, 1, false>>(),  variant<Shape<11, 1, 1, 1, false>>(),
                                variant<Shape<13, 1, 1, 1, false>>(), variant<Shape<15, 1, 1, 1, false>>()};
    return all;
}

const Variant* variant_of(const Problem& p) {
    if (p.in != SampleType::float32 || p.complex || !p.scaling.trivial() ||
        p.precision == Precision::float64 || (p.channels_last && p.channels > 1) ||
        p.dilation != Pair{1, 1} || p.taps.rows != p.taps.columns || p.stride.rows != p.stride.columns)
        return nullptr;
    for (const Variant& v : variants())
        if (v.taps == p.taps.rows && v.stride == p.stride.rows && v.channels == p.group_channels() &&
            (v.in_parameters ? p.filters == 1
             : v.alone       ? p.group_filters() >= v.filters
                             : p.group_filters() >= fewest_warps * v.filters))
            return &v;
    return nullptr;
}

/// As many warps as have filters share samples, within limits.
Team team_of(const Problem& p, const Variant& v) {
    if (v.alone) return {0};
    const Index needed = ceil_div(p.group_filters(), v.filters);
    return {static_cast<int>(ceil_div(needed, ceil_div(needed, Team::most_sharing)))};
}

/// As the kernel takes them: [group][set of filters][warp][channel][`stride` rows][row][tap][filter].
std::vector<double> arranged(const Problem& p, const Variant& v, int warps) {
    const Index each = Index{warps} * v.filters, sets = ceil_div(p.group_filters(), each);
    const int room = v.in_parameters ? v.taps : v.weight_rows;
    std::vector<double> all;
    for (Index g = 0; g < p.groups; ++g)
        for (Index first = 0; first < sets * each; first += v.filters)
            for (Index c = 0; c < v.channels; ++c)
                for (int rows = 0; rows < v.live; ++rows)
                    for (int i = 0; i < room; ++i) {
                        const Index k = first + i % v.filters, t = i / v.filters % v.taps,
                                    r = rows * v.stride + i / v.filters / v.taps;
                        const bool there =
                            k < p.group_filters() && r < p.taps.rows && r < (rows + 1) * v.stride;
                        all.push_back(there ? p.weight(g * p.group_filters() + k, c, r, t) : 0.0);
                    }
    return all;
}

class RollingRowsStage : public CudaStage {
  public:
    RollingRowsStage(const Problem& p, const device::Device& d)
        : CudaStage(p, d),
          variant_(*variant_of(p)),
          team_(team_of(p, variant_)),
          units_(std::max(d.attributes.multiprocessors, 1)) {
        const std::vector<double> weights = arranged(p, variant_, team_.warps_of_filters());
        if (variant_.in_parameters)
            parameters_.assign(weights.begin(), weights.end());
        else
            weights_ = upload_values(d, SampleType::float32, weights);
        use_shared_memory(variant_.kernel, d);
        int blocks = 1;
        device::check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, variant_.kernel, team_.warps() * rolling::lanes, variant_.shared_bytes(team_)),
            "asking how many blocks fit");
        most_warps_ = std::max(blocks, 1) * team_.warps();
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        Strips strips{};
        strips.sharing = team_.sharing;
        strips.sets = blocks_of(ceil_div(job.group_filters, team_.warps_of_filters() * variant_.filters));
        strips.tiles_across = blocks_of(ceil_div(job.out_count, columns));
        const Index sets = Index{strips.sets} * job.groups, over = strips.tiles_across * job.images;
        strips.rows = rows_of(sets, over, job.out_rows);
        strips.tiles_down = blocks_of(ceil_div(job.out_rows, strips.rows));
        strips.tiles = blocks_of(over * strips.tiles_down);
        const Job::Steps& to = job.out_steps;
        strips.vectors = to.column == 1 && to.row % across == 0 && to.channel % across == 0 &&
                         to.image % across == 0 &&
                         reinterpret_cast<std::uintptr_t>(job.out) % sizeof(float4) == 0;
        strips.weights = reinterpret_cast<const float*>(weights_.data());
        variant_.launch(job, strips, parameters_, blocks_of(sets * ceil_div(strips.tiles, team_.pieces())),
                        team_, stream);
    }

  private:
    /// Rows of a piece: pieces begin with rows that concern outputs of the one above, and fill the device
    /// evenly, by enough warps.
    int rows_of(Index sets, Index over, Index out_rows) const {
        double least = 0;
        Index best = 1;
        for (Index down = 1; down <= ceil_div(out_rows, Index{8}); ++down) {
            const Index each = ceil_div(sets * ceil_div(over * down, team_.pieces()), units_);
            const double warps = static_cast<double>(std::min<Index>(each * team_.warps(), most_warps_));
            const double time =
                static_cast<double>(each * (ceil_div(out_rows, down) + variant_.live)) * (1 + 1 / warps);
            if (down == 1 || time < least) least = time, best = down;
        }
        return static_cast<int>(ceil_div(out_rows, best));
    }

    const Variant& variant_;
    Team team_;
    int units_;
    int most_warps_ = 1;  // of a multiprocessor
    std::vector<float> parameters_;
    device::Buffer weights_;
};

}  // namespace

bool rolling_rows_fit(const Problem& p, const device::Device& d) {
    const Variant* const v = variant_of(p);
    return v != nullptr && p.extent.rows <= Index{1} << 30 &&
           v->shared_bytes(team_of(p, *v)) <=
               std::max<std::size_t>(d.attributes.shared_bytes_per_block, 49152);
}

std::unique_ptr<Stage> make_rolling_rows(const Problem& p, const device::Device& d) {
    return std::make_unique<RollingRowsStage>(p, d);
}

// 128 columns and the filters of a warp are computed whole. Slowdowns measured on one H200.
double rolling_rows_cost(const Problem& p, const device::Device& d) {
    const auto whole = [](Index n, Index step) {
        return static_cast<double>(ceil_div(n, step) * step) / static_cast<double>(n);
    };
    const Variant& v = *variant_of(p);
    return time_of(p, d, 1.4 * whole(p.outputs().columns, columns) * whole(p.group_filters(), v.filters));
}

}  // namespace convoy::conv2d::gpu
