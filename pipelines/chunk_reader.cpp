#include "pipelines/chunk_reader.hpp"

#include <algorithm>

#include "pipelines/windows.hpp"

namespace convoy::pipelines {

ChunkReader::ChunkReader(io::Reader& reader, std::size_t bytes, bool levels)
    : reader_(reader), levels_(levels), carry_(device::cpu(), bytes) {}

void ChunkReader::read(const Window& in, const Lanes& lanes, Index fresh, bool first, Span next,
                       std::vector<stats::Level>& levels) {
    if (first) carried_ = {};
    const Span shared = overlap(carried_.span, in.span);
    copy_rows(carried_, in, shared);
    if (shared.count == 0) {
        read_part(in, in.span, lanes, fresh, levels);
    } else {
        read_part(in, {in.span.first, shared.first - in.span.first}, lanes, fresh, levels);
        read_part(in, {shared.end(), in.span.end() - shared.end()}, lanes, fresh, levels);
    }
    counted_ = {};
    const Span kept = overlap(next, in.span);
    carried_ = in;
    carried_.data = carry_.data();
    carried_.span = kept;
    carried_.pitch = kept.count;
    copy_rows(in, carried_, kept);
}

void ChunkReader::read_part(const Window& in, Span part, const Lanes& lanes, Index fresh,
                            std::vector<stats::Level>& levels) {
    if (part.count <= 0) return;
    const bool contiguous = !reader_.serial() && reader_.recording().chunk.empty();
    in_pieces(in, part, lanes, contiguous, [&](Span span, const Lanes& some, std::byte* data) {
        reader_.read(span, some, data, in.pitch);
    });
    if (!levels_ || !is_float(in.type)) return;
    const Index first = std::clamp(counted_.end(), part.first, part.end());
    if (first < part.end())
        add_levels(from_row(in, fresh), {first, part.end() - first}, from_row(lanes, fresh),
                   reader_.recording().shape, levels);
}

}  // namespace convoy::pipelines
