#include <tbb/parallel_for.h>

#include <cstring>

#include "core/arith/arith.hpp"

namespace convoy::arith {

namespace {

class Pick : public Stage {
  public:
    Pick(const Input& input, const std::vector<Index>& channels, Span frames)
        : type_(input.type), input_(input.shape), shape_(input.shape), first_(frames.first) {
        shape_.frames = frames.count;
        for (const Index channel : channels)
            if (input.rows)
                rows_.push_back(channel);
            else
                for (Index part = 0; part < input.parts(); ++part)
                    columns_.push_back(channel * input.parts() + part);
        if (!rows_.empty()) shape_.outer = static_cast<Index>(rows_.size());
        if (!columns_.empty()) shape_.inner = static_cast<Index>(columns_.size());
    }

    Shape shape() const override { return shape_; }
    SampleType type() const override { return type_; }
    Span needed(Span out) const override { return {first_ + out.first, out.count}; }
    Index needed_at_most(Index count) const override { return count; }
    Index pieces() const override { return all_taken() ? Stage::pieces() : 1; }
    Lanes lanes_of(Index first, Index count) const override {
        return all_taken() ? Stage::lanes_of(first, count) : Lanes::all(shape_);
    }
    Lanes used(Lanes out) const override { return all_taken() ? out : Lanes::all(input_); }

    void run(const Window& in, const Window& out, Lanes, device::Stream&) override {
        tbb::parallel_for(Index{0}, out.outer, [&](Index row) {
            const Index from = rows_.empty() ? row : rows_[static_cast<std::size_t>(row)];
            const Index bytes = bytes_of(type_);
            const std::byte* source = in.data + from * in.row_bytes() +
                                      (first_ + out.span.first - in.span.first) * in.inner * bytes;
            std::byte* target = out.data + row * out.row_bytes();
            if (columns_.empty())
                std::memcpy(target, source, static_cast<std::size_t>(out.span.count * in.inner * bytes));
            else
                dispatch(type_, [&](auto zero) {
                    columns<decltype(zero)>(source, target, out.span.count, in.inner);
                });
        });
    }

  private:
    template <class T>
    void columns(const std::byte* source, std::byte* target, Index frames, Index inner) const {
        const T* from = reinterpret_cast<const T*>(source);
        T* to = reinterpret_cast<T*>(target);
        for (Index f = 0; f < frames; ++f, from += inner)
            for (const Index column : columns_)
                *to++ = from[column];
    }

    bool all_taken() const { return rows_.empty() && columns_.empty(); }

    SampleType type_;
    Shape input_, shape_;
    Index first_;
    std::vector<Index> rows_, columns_;  // of the input, where not all are taken
};

}  // namespace

std::unique_ptr<Stage> pick(const Input& input, std::vector<Index> channels, Span frames) {
    return std::make_unique<Pick>(input, channels, frames);
}

}  // namespace convoy::arith
