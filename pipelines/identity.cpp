#include "pipelines/identity.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "pipelines/digest.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;

std::string file_digest(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> buffer(1 << 16);
    std::uint64_t sum = digest(nullptr, 0);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
        sum = digest(buffer.data(), static_cast<std::size_t>(file.gcount()), sum);
    return digest_text(sum);
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    return error ? path : whole.string();
}

// A checksum of pieces spread over the first `frames` frames, the first and the last ones among them, each of
// some of the lanes. Pieces of compressed data are few, since they cost a chunk each.
std::string probe(io::Reader& input, Index frames) {
    const io::Recording& r = input.recording();
    const Index sample = bytes_of(r.type), pieces = r.chunk.empty() ? 16 : 4;
    const Index rows = std::min<Index>(r.shape.outer, 64);
    const Index length = std::clamp<Index>((64 << 10) / (rows * r.shape.inner * sample), 1, frames);
    std::vector<std::byte> samples(static_cast<std::size_t>(rows * length * r.shape.inner * sample));
    std::uint64_t sum = digest(nullptr, 0);
    for (Index i = 0; i < pieces; ++i) {
        const Index first = (frames - length) * i / (pieces - 1),
                    row = (r.shape.outer - rows) * i / (pieces - 1);
        input.read({first, length}, {row, rows, 0, r.shape.inner}, samples.data(), length);
        sum = digest(samples.data(), samples.size(), sum);
    }
    return digest_text(sum);
}

std::string text_at(const Json& json, std::string_view key) {
    const std::string* text = json.at(key).as_text();
    return text != nullptr ? *text : json.at(key).dump(-1);
}

}  // namespace

std::string described(const Params& params, const std::vector<std::string_view>& but) {
    std::string text;
    for (const Param& p : params.declared()) {
        if (!params.given(p.name) || std::find(but.begin(), but.end(), p.name) != but.end()) continue;
        const std::string value = params.text(p.name);
        text += (text.empty() ? "" : " ") + std::string(p.name) + "=" + value;
        std::error_code ignored;
        const std::string file = split_dataset(value).path;
        if (p.kind == Kind::text && fs::is_regular_file(file, ignored)) text += "[" + file_digest(file) + "]";
    }
    return text;
}

std::string file_state(const std::string& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    const auto time = fs::last_write_time(path, error).time_since_epoch().count();
    return error ? "missing" : std::to_string(bytes) + " bytes of " + std::to_string(time);
}

Json identity_of(const JobTexts& job, io::Reader& input, const std::vector<std::string>& joined,
                 bool probed) {
    const io::Recording& r = input.recording();
    Json identity;
    Json& texts = identity["job"];
    texts = Json::object();
    for (const auto& [key, value] : job)
        texts[key] = value;
    texts["input"] = absolute(r.path) + (r.dataset.empty() ? "" : ":" + r.dataset);
    Json& in = identity["input"];
    in["bytes"] = r.file_bytes;
    in["modified"] = r.modified;
    in["frames"] = r.shape.frames;
    std::string states;
    for (const std::string& file : joined) {
        const auto [path, dataset] = split_dataset(file);
        states += absolute(path) + ":" + dataset + " " + file_state(path) + "\n";
    }
    if (!joined.empty()) in["joined"] = digest_text(digest(states.data(), states.size()));
    const bool can = probed && !input.sequential() && r.shape.samples() > 0;
    in["probe"] = can ? Json(probe(input, r.shape.frames)) : Json();
    return identity;
}

Resemblance resemblance(const Json& before, const Json& now, io::Reader& input) {
    Resemblance c;
    const Json &old_job = before.at("job"), &job = now.at("job");
    if (job.as_object() == nullptr || old_job.as_object() == nullptr)
        return {Likeness::job_changed, "it is not told", 0};
    for (const auto* texts : {&old_job, &job})
        for (const auto& [key, ignored] : *texts->as_object())
            if (text_at(old_job, key) != text_at(job, key))
                return {Likeness::job_changed,
                        key + " was " + text_at(old_job, key) + ", now " + text_at(job, key), 0};
    const Json &old_in = before.at("input"), &in = now.at("input");
    c.frames_before = static_cast<Index>(old_in.at("frames").number());
    const auto frames = static_cast<Index>(in.at("frames").number());
    if (text_at(old_in, "bytes") == text_at(in, "bytes") &&
        text_at(old_in, "modified") == text_at(in, "modified") && c.frames_before == frames &&
        text_at(old_in, "joined") == text_at(in, "joined"))
        return c;
    const std::string* was = old_in.at("probe").as_text();
    const bool longer = frames > c.frames_before && c.frames_before > 0;
    c.likeness = longer && was != nullptr && !input.sequential() && probe(input, c.frames_before) == *was
                     ? Likeness::appended
                     : Likeness::input_changed;
    if (text_at(old_in, "joined") != text_at(in, "joined")) {
        c.difference = "the files joined to it were others, or have changed";
        return c;
    }
    c.difference = "it had " + text_at(old_in, "bytes") + " bytes of " + text_at(old_in, "modified") +
                   ", now " + text_at(in, "bytes") + " of " + text_at(in, "modified");
    return c;
}

}  // namespace convoy::pipelines
