#include "pipelines/saving.hpp"

#include <algorithm>
#include <mutex>

#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

// Hashes what goes to another writer.
class HashingWriter : public io::Writer {
  public:
    HashingWriter(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec, bool wanted)
        : inner_(std::move(inner)), shape_(spec.shape), type_(spec.type), wanted_(wanted) {}
    bool ordered() const override { return inner_->ordered(); }
    bool concurrent() const override { return inner_->concurrent(); }
    void finish() override { inner_->finish(); }
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Window window{const_cast<std::byte*>(src), type_, span, lanes.outer_count,
                            lanes.inner_count,           pitch};
        inner_->write(span, lanes, src, pitch);
        if (!wanted_) return;
        const stats::Hash part = stats::hash(window, span, 0, lanes, shape_);
        const std::scoped_lock lock(mutex_);
        hash_.add(part);
    }
    std::string hash() const { return wanted_ ? hash_.text() : ""; }

  private:
    std::unique_ptr<io::Writer> inner_;
    Shape shape_;
    SampleType type_;
    bool wanted_;
    std::mutex mutex_;
    stats::Hash hash_;
};

}  // namespace

struct Saving::Output {
    std::size_t stages;
    Span wanted, passing;  // of the frames behind those stages; what passes is a part of what is wanted
    io::OutputSpec spec;
    std::unique_ptr<HashingWriter> writer = {};
};

Saving::Saving(ChainPlan& plan, std::vector<io::OutputSpec> specs, const Cuts* cuts) : plan_(plan) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const Saved& s = plan.saved[i];
        Span passing = cuts == nullptr ? Span{0, 0} : frames_passing(*cuts, plan.chain, s.stages);
        const Index first = std::clamp(passing.first, s.wanted.first, s.wanted.end()),
                    end = std::clamp(passing.end(), first, s.wanted.end());
        passing = {first, end - first};
        if (passing.count == 0) passing = {s.wanted.end(), 0};  // all lies before it
        outputs_.push_back(
            std::make_unique<Output>(Output{s.stages, s.wanted, passing, std::move(specs[i])}));
    }
}

Saving::~Saving() = default;

void Saving::begin(const StreamOptions& options) {
    for (const auto& o : outputs_) {
        o->writer = std::make_unique<HashingWriter>(io::create(o->spec), o->spec, options.hash);
        write(*o, {o->wanted.first, o->passing.first - o->wanted.first}, options);
    }
}

std::vector<Tap> Saving::taps() const {
    std::vector<Tap> all;
    for (const auto& o : outputs_)
        if (o->passing.count > 0) all.push_back({o->stages, o->passing, o->wanted.first, o->writer.get()});
    return all;
}

void Saving::finish(const StreamOptions& options) {
    for (const auto& o : outputs_) {
        write(*o, {o->passing.end(), o->wanted.end() - o->passing.end()}, options);
        o->writer->finish();
    }
}

std::string Saving::hash(std::size_t i) const {
    return outputs_[i]->writer->hash();
}

void Saving::write(Output& o, Span frames, const StreamOptions& options) {
    if (frames.count == 0) return;
    StreamOptions own = options;
    own.taps.clear();
    own.hash = false;
    const auto shifted = shifted_writer(*o.writer, frames.first - o.wanted.first);
    run_first(plan_, o.stages, frames, *shifted, own);
}

}  // namespace convoy::pipelines
