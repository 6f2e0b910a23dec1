#include "pipelines/learn.hpp"

#include <algorithm>

#include "pipelines/cancel.hpp"

namespace convoy::pipelines {

namespace {

class LearningWriter : public io::Writer {
  public:
    LearningWriter(Stage& stage, SampleType type) : stage_(stage), type_(type) {}
    void finish() override {}
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Window window{const_cast<std::byte*>(src), type_, span, lanes.outer_count,
                            lanes.inner_count,           pitch};
        stage_.learn(window, span, lanes);
    }

  private:
    Stage& stage_;
    SampleType type_;
};

}  // namespace

std::unique_ptr<io::Writer> learning_writer(Stage& stage, SampleType type) {
    return std::make_unique<LearningWriter>(stage, type);
}

void learn_from(io::Reader& reader, Stage& stage) {
    constexpr Index chunk_bytes = 8 << 20;
    const io::Recording& in = reader.recording();
    const Lanes lanes = Lanes::all(in.shape);
    const Index frame_bytes = std::max<Index>(1, lanes.count() * bytes_of(in.type));
    const Index frames = std::max<Index>(1, chunk_bytes / frame_bytes);
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(frames, in.shape.frames) * frame_bytes));
    for (Index at = 0; at < in.shape.frames; at += frames) {
        check_cancelled();
        const Span span{at, std::min(frames, in.shape.frames - at)};
        reader.read(span, lanes, buffer.data(), span.count);
        stage.learn({buffer.data(), in.type, span, in.shape.outer, in.shape.inner, span.count}, span, lanes);
    }
}

}  // namespace convoy::pipelines
