#include "pipelines/views.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::pipelines {

namespace {

Span overlap(Span a, Span b) {
    const Index first = std::max(a.first, b.first), end = std::min(a.end(), b.end());
    return {first, std::max<Index>(0, end - first)};
}

void set_frames(io::Recording& r, Index frames) {
    r.shape.frames = frames;
    r.dims[static_cast<std::size_t>(r.time_axis)] = frames;
}

class PartReader : public io::Reader {
  public:
    PartReader(io::Reader& input, Span part) : input_(input), part_(part) {
        recording_ = input.recording();
        set_frames(recording_, part.count);
        recording_.gaps.clear();
    }
    bool serial() const override { return input_.serial(); }
    bool sequential() const override { return input_.sequential(); }
    const io::Reader& origin() const override { return input_.origin(); }
    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override {
        input_.read({part_.first + span.first, span.count}, lanes, dst, pitch);
    }

  private:
    io::Reader& input_;
    Span part_;
};

// Whether the next file begins where the one before ends, if times are known: a jump of more than a sample
// and a half is told.
bool follows(const io::Recording& before, const io::Recording& next) {
    const double samples = samples_between(before, next).value_or(0);
    if (std::abs(samples) <= 1.5) return true;
    warn(next.label(), "starts " + to_text(std::abs(std::round(samples))) + " samples " +
                           (samples > 0 ? "after" : "before") + " the end of " + before.label() +
                           ", and is joined to it all the same");
    return false;
}

// Small jumps from file to file may add up to one that nobody would see.
void check_drift(io::Recording all, const io::Recording& last) {
    all.shape.frames -= last.shape.frames;
    const double samples = samples_between(all, last).value_or(0);
    if (std::abs(samples) > 1.5)
        warn(last.label(),
             "starts " + to_text(std::abs(std::round(samples))) + " samples " +
                 (samples > 0 ? "after" : "before") +
                 " the end of the files joined before it: their clock and rate do not agree, and "
                 "the joined scale of time goes by the rate");
}

void check_alike(const io::Recording& first, const io::Recording& next) {
    const auto refuse = [&](const std::string& what) {
        throw failed(next.label(), what + " differs from that of " + first.label(),
                     "join only files of one recording");
    };
    if (next.shape.outer != first.shape.outer || next.shape.inner != first.shape.inner)
        refuse("the number of channels");
    if (next.type != first.type || next.complex != first.complex) refuse("the type of the samples");
    if (next.rate != first.rate) refuse("the sample rate");
    if (!(next.scaling == first.scaling)) refuse("the scaling");
}

class JoinedReader : public io::Reader {
  public:
    explicit JoinedReader(std::vector<std::unique_ptr<io::Reader>> inputs) : inputs_(std::move(inputs)) {
        recording_ = inputs_.front()->recording();
        Index frames = 0;
        bool close = true;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const io::Recording& r = inputs_[i]->recording();
            check_alike(recording_, r);
            if (i > 0 && !follows(inputs_[i - 1]->recording(), r)) close = false;
            firsts_.push_back(frames);
            for (io::Gap gap : r.gaps)
                if (i > 0) recording_.gaps.push_back({gap.at + frames, gap.seconds});
            frames += r.shape.frames;
        }
        set_frames(recording_, frames);
        if (close) check_drift(recording_, inputs_.back()->recording());
    }

    bool serial() const override {
        return std::any_of(inputs_.begin(), inputs_.end(), [](const auto& r) { return r->serial(); });
    }
    bool sequential() const override {
        return std::any_of(inputs_.begin(), inputs_.end(), [](const auto& r) { return r->sequential(); });
    }

    const io::Reader& origin() const override { return inputs_.front()->origin(); }

    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override {
        const Index frame_bytes = lanes.inner_count * bytes_of(recording_.type);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Span here{firsts_[i], inputs_[i]->recording().shape.frames};
            const Span part = overlap(span, here);
            if (part.count > 0)
                inputs_[i]->read({part.first - here.first, part.count}, lanes,
                                 dst + (part.first - span.first) * frame_bytes, pitch);
        }
    }

  private:
    std::vector<std::unique_ptr<io::Reader>> inputs_;
    std::vector<Index> firsts_;
};

class ShiftedWriter : public io::Writer {
  public:
    ShiftedWriter(io::Writer& output, Index offset) : output_(output), offset_(offset) {}
    bool ordered() const override { return output_.ordered(); }
    void finish() override {}
    Index clipped() const override { return output_.clipped(); }
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        output_.write({offset_ + span.first, span.count}, lanes, src, pitch);
    }

  private:
    io::Writer& output_;
    Index offset_;
};

class SplitWriter : public io::Writer {
  public:
    SplitWriter(std::vector<Piece> pieces, Index sample_bytes)
        : pieces_(std::move(pieces)), sample_bytes_(sample_bytes) {}
    bool ordered() const override {
        return std::any_of(pieces_.begin(), pieces_.end(),
                           [](const Piece& p) { return p.writer->ordered(); });
    }
    void finish() override {
        for (Piece& p : pieces_)
            p.writer->finish();
    }
    Index clipped() const override {
        Index sum = 0;
        for (const Piece& p : pieces_)
            sum += p.writer->clipped();
        return sum;
    }
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        Index first = 0;
        for (Piece& p : pieces_) {
            const Span part = overlap(span, {first, p.frames});
            if (part.count > 0)
                p.writer->write({part.first - first, part.count}, lanes,
                                src + (part.first - span.first) * lanes.inner_count * sample_bytes_, pitch);
            first += p.frames;
        }
    }

  private:
    std::vector<Piece> pieces_;
    Index sample_bytes_;
};

}  // namespace

std::optional<double> samples_between(const io::Recording& before, const io::Recording& next) {
    if (!before.start_time || !next.start_time || !before.rate) return {};
    const auto a = parse_time(*before.start_time), b = parse_time(*next.start_time);
    if (!a || !b) return {};
    return (b->value - a->value) * *before.rate - static_cast<double>(before.shape.frames);
}

std::unique_ptr<io::Reader> part_reader(io::Reader& input, Span part) {
    return std::make_unique<PartReader>(input, part);
}

std::unique_ptr<io::Reader> joined_reader(std::vector<std::unique_ptr<io::Reader>> inputs) {
    return std::make_unique<JoinedReader>(std::move(inputs));
}

std::unique_ptr<io::Writer> shifted_writer(io::Writer& output, Index offset) {
    return std::make_unique<ShiftedWriter>(output, offset);
}

std::unique_ptr<io::Writer> split_writer(std::vector<Piece> pieces, SampleType type) {
    return std::make_unique<SplitWriter>(std::move(pieces), bytes_of(type));
}

}  // namespace convoy::pipelines
