#include "core/conv2d/filter_blocks.hpp"

#include <algorithm>

#include "core/base/division.hpp"

namespace convoy::conv2d {

namespace {

// Stages that each have working memory of their own (on a GPU) must not be many.
constexpr Index most_blocks = 16;
// More rows of one image's result than that are too many to hold even a few columns of all.
constexpr Index most_rows = Index{1} << 18;
// Rows of a block of whole groups: long stretches of few of them are read and written best.
constexpr Index few_rows = Index{1} << 14;

// Filters [first, first + count) of the problem: of one group, or of whole groups.
struct Block {
    Index filter, filters, channel, channels;  // channels that they sum over
    std::unique_ptr<Stage> stage = {};
};

std::vector<double> part_of(const std::vector<double>& all, Index first, Index count) {
    return {all.begin() + first, all.begin() + first + count};
}

// One value for all, or one for each row of each channel of each image.
std::vector<double> of_channels(const std::vector<double>& all, const Problem& p, const Block& block) {
    if (all.size() < 2) return all;
    std::vector<double> part;
    for (Index n = 0; n < p.images; ++n) {
        const auto rows =
            part_of(all, (n * p.channels + block.channel) * p.extent.rows, block.channels * p.extent.rows);
        part.insert(part.end(), rows.begin(), rows.end());
    }
    return part;
}

Problem problem_of(const Problem& p, const Block& block) {
    Problem own = p;
    own.filters = block.filters;
    own.channels = block.channels;
    own.groups = block.channels / p.group_channels();
    own.kernel = part_of(p.kernel, block.filter * p.terms(), block.filters * p.terms());
    if (!p.bias.empty()) own.bias = part_of(p.bias, block.filter, block.filters);
    own.scaling = {of_channels(p.scaling.gain, p, block), of_channels(p.scaling.offset, p, block)};
    return own;
}

// As many whole groups as fit, or parts of a group. Parts read the same input again, so they are as large as
// can be, and whole tiles of the strategies. `work_shared`: blocks may be many, one memory serves all.
std::vector<Block> blocks_of(const Problem& p, bool work_shared) {
    const Index rows = p.outputs().rows, each = p.group_filters();
    Index groups = few_rows / std::max(each * rows, p.group_channels() * p.extent.rows);
    Index fit = std::max<Index>(1, most_rows / rows);
    if (!work_shared) fit = std::max(fit, ceil_div(p.filters, most_blocks));
    for (const Index tile : {64, 8})
        if (fit >= tile) fit = fit / tile * tile;
    if (!work_shared) groups = std::max(groups, ceil_div(p.groups, most_blocks));
    std::vector<Block> blocks;
    if (each <= fit) {
        for (Index g = 0, n; g < p.groups; g += n) {
            n = std::min(std::max<Index>(1, groups), p.groups - g);
            blocks.push_back({g * each, n * each, g * p.group_channels(), n * p.group_channels()});
        }
        return blocks;
    }
    for (Index k = 0, n; k < p.filters; k += n) {
        n = std::min(fit, each - k % each);
        blocks.push_back({k, n, k / each * p.group_channels(), p.group_channels()});
    }
    return blocks;
}

class FilterBlocks : public Stage {
  public:
    FilterBlocks(const Problem& p, std::vector<Block> blocks)
        : p_(p), rows_(p.outputs().rows), blocks_(std::move(blocks)) {
        firsts_.push_back(0);
        for (const Block& block : blocks_)
            firsts_.push_back(firsts_.back() + block.stage->pieces() / p.images);
    }

    Shape shape() const override { return p_.out_shape(); }
    SampleType type() const override { return p_.arithmetic(); }
    Span needed(Span out) const override { return p_.needed(out); }
    Index needed_at_most(Index count) const override { return p_.needed_at_most(count); }
    bool single_pass() const override { return false; }

    Index pieces() const override { return p_.images * firsts_.back(); }
    Lanes lanes_of(Index first, Index count) const override {
        const Index row = start(first);
        return {row, start(first + count) - row, 0, p_.parts()};
    }
    Lanes used(Lanes out) const override {
        Index first = p_.in_shape().outer, end = 0;
        each(out, [&](const Block& block, Index image, Index from, Index rows) {
            const Lanes lanes = used_by(block, image, from, rows);
            first = std::min(first, lanes.outer_first);
            end = std::max(end, lanes.outer_first + lanes.outer_count);
        });
        return {first, end - first, 0, p_.parts()};
    }

    void run(const Window& in, const Window& out, Lanes, device::Stream& stream) override {
        each({out.outer_first, out.outer, 0, out.inner}, [&](const Block& block, Index image, Index from,
                                                             Index rows) {
            const Lanes used = used_by(block, image, from, rows);
            Window samples = in, result = out;
            samples.data += (used.outer_first - in.outer_first) * in.row_bytes();
            samples.outer = used.outer_count;
            samples.outer_first = used.outer_first - in_shift(block, image);
            const Index row = (image * p_.filters + block.filter) * rows_ + from;
            result.data += (row - out.outer_first) * out.row_bytes();
            result.outer = rows;
            result.outer_first = image * block.filters * rows_ + from;
            block.stage->run(samples, result, {samples.outer_first, samples.outer, 0, samples.inner}, stream);
        });
    }

    Facts facts() const override { return {{"filter_blocks", static_cast<double>(blocks_.size())}}; }

  private:
    // Calls f(block, image, from, rows) for what rows `out` of the result consist of: rows from `from` on of
    // the block's own, in that image.
    template <class F>
    void each(Lanes out, F&& f) const {
        for (Index row = out.outer_first, end = row + out.outer_count; row < end;) {
            const Index image = row / (p_.filters * rows_), at = row % (p_.filters * rows_);
            const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) {
                return at < (b.filter + b.filters) * rows_;
            });
            const Index from = at - block->filter * rows_;
            const Index rows = std::min(block->filters * rows_ - from, end - row);
            f(*block, image, from, rows);
            row += rows;
        }
    }

    // Rows of the input from a block's own to all images'.
    Index in_shift(const Block& block, Index image) const {
        return (image * (p_.channels - block.channels) + block.channel) * p_.extent.rows;
    }
    Lanes used_by(const Block& block, Index image, Index from, Index rows) const {
        Lanes lanes = block.stage->used({image * block.filters * rows_ + from, rows, 0, p_.parts()});
        lanes.outer_first += in_shift(block, image);
        return lanes;
    }

    // The row of the result where a piece starts.
    Index start(Index piece) const {
        const Index image = piece / firsts_.back(), at = piece % firsts_.back();
        const auto b = static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), at) -
                                                firsts_.begin() - 1);
        const Index all = image * p_.filters * rows_;
        if (at == 0) return all;
        const Block& block = blocks_[b];
        return all + block.filter * rows_ + block.stage->lanes_of(at - firsts_[b], 1).outer_first;
    }

    Problem p_;
    Index rows_;  // of a filter's result
    std::vector<Block> blocks_;
    std::vector<Index> firsts_;  // pieces of one image before each block, and of all
};

}  // namespace

std::unique_ptr<Stage> plan_filter_blocks(const Problem& p, const Strategy& strategy,
                                          const device::Device& device) {
    const Index rows = p.outputs().rows;
    const bool many =
        p.filters * rows > most_rows || (p.groups > 1 && p.channels * p.extent.rows > most_rows);
    if (p.channels_last || !many) return nullptr;
    std::vector<Block> blocks = blocks_of(p, device.backend == device::Backend::cpu);
    if (blocks.size() < 2) return nullptr;
    const auto work = std::make_shared<WorkMemory>();
    for (Block& block : blocks) {
        Problem own = problem_of(p, block);
        own.work = work;
        if (!strategy.unsupported(own, device).empty()) return nullptr;
        block.stage = strategy.make(own, device);
    }
    return std::make_unique<FilterBlocks>(p, std::move(blocks));
}

}  // namespace convoy::conv2d
