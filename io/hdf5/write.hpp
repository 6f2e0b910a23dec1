// What the parts of the HDF5 writer share. A file is made in one order: groups and what travels from the
// source, the signal with its scales and attributes, /convoy; then the samples, at places that are known by
// now.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "io/format.hpp"
#include "io/hdf5/h5.hpp"

namespace convoy::io::h5 {

/// The writer of `spec` (io::create() has checked the place).
std::unique_ptr<Writer> create_writer(const OutputSpec& spec);

/// OutputSpec::identity of the file; empty where there is none.
std::string identity_in(const std::string& path);

/// The file under its temporary name, for lay_out().
File make_file(const PartFile& part);
/// Where the samples of `spec` begin in a temporary file that an earlier run laid out. Error where it is not
/// so.
Index samples_place(const PartFile& part, const OutputSpec& spec);
/// Makes everything but the samples; the dataset lies in one piece, its place fixed, or in chunks of these
/// extents.
Dataset lay_out(hid_t file, const OutputSpec& spec, const std::vector<Index>& chunk);

/// What the work changed about a signal: how indices, rates and times of the source become those of the
/// output.
struct Change {
    std::optional<double> rate;  // Hz, of the output
    Index frames_in = 0, frames_out = 0;
    Index first = 0, step = 1, up = 1;  // output frame m is input frame (first + m * step) / up
    int time_axis = 0;
    Index channels_in = 0, channels_out = 0;
    std::vector<Index> selected;       // channels taken; empty: all
    bool scaled = false;               // scale factors and offsets were applied
    bool retyped = false;              // stored as another type than in the source
    bool raw = false;                  // fill values are numbers as any other
    std::optional<std::string> start;  // ISO 8601, of the source's first sample

    bool moved() const { return first != 0 || step != up || frames_in != frames_out; }
    /// All output frames are frames of the source: not so in mode `full`, nor behind a join.
    bool within() const { return first >= 0 && first + (frames_out - 1) * step < frames_in * up; }
    double rate_in() const { return *rate * static_cast<double>(step) / static_cast<double>(up); }
};
Change change_of(const OutputSpec& spec);

/// Where a copied object stands: the signal itself (scale factors are its own), what is about the signal only
/// (groups above it, scales, series beside it), or what may be about something else too.
enum class Place { signal, around, apart };
/// Makes the attributes of a copied object true for the output: rates, steps, counts, durations, times,
/// indices of channels. What cannot be made true becomes source_NAME; apart from the signal only values that
/// are those of the source count as about it.
void make_true(hid_t object, const Change& change, Place place, const std::string& where);
/// The same of a dataset of one value, told by its name and value.
void make_true(hid_t file, const std::string& path, const Change& change, const std::string& where);

/// Copies things from a source file with their HDF5 types unchanged. Object references need their targets:
/// they are set by finish(), when everything is there.
class Copier {
  public:
    Copier(hid_t source, hid_t target, std::string where)
        : source_(source), target_(target), where_(std::move(where)) {}

    /// Copies all attributes but those of dimension scales (CLASS, NAME, REFERENCE_LIST, DIMENSION_LIST), and
    /// those that the target has already.
    void attributes(hid_t from, hid_t to);
    void attribute(hid_t from, hid_t to, const std::string& name);

    /// Which indices along an axis stay: all, every step-th of them, or those listed.
    struct Kept {
        bool all = true;
        Index first = 0, step = 1, count = 0;
        std::vector<Index> list;
        bool is_time = false;
        Index size(Index extent) const {
            return all ? extent : list.empty() ? count : static_cast<Index>(list.size());
        }
        Index operator[](Index i) const { return list.empty() ? first + i * step : list[i]; }
    };
    using Cut = std::vector<Kept>;  // one for each axis of a dataset; those that are missing: all
    /// Copies a dataset and its attributes to `path`; false, with a warning, where its values cannot be read.
    bool dataset(hid_t from, const std::string& path, const Cut& cut);

    void finish();

  private:
    void translate(hid_t type, void* data);
    bool values(hid_t from, hid_t made, const Cut& kept, const std::string& path);
    hid_t source_, target_;
    std::string where_;
    std::vector<std::function<void()>> later_;
};

/// What travels from the source of `spec` into `file` (all but the signal): groups, attributes, scales,
/// siblings that describe the signal. `scales` receives, axis by axis, the paths of scales to attach.
void travel(const OutputSpec& spec, const Change& change, Copier& copier, hid_t source, hid_t signal,
            hid_t file, std::vector<std::vector<std::string>>& scales);

/// Attaches the scales that travelled, and makes those that are missing beside the dataset (spec.axes).
void attach_scales(hid_t file, hid_t dataset, const OutputSpec& spec,
                   const std::vector<std::vector<std::string>>& scales);

/// Bytes of the values of the scales that attach_scales() makes where none travel.
Index scale_bytes(const OutputSpec& spec);

/// Makes groups on the way to `path`.
void make_groups(hid_t file, const std::string& path, const std::string& where);
/// Attributes of text and numbers; replaced where they are there.
void set_text(hid_t object, const std::string& name, const std::string& text, const std::string& where);
void set_number(hid_t object, const std::string& name, double value, const std::string& where);

/// Takes samples for a chunked dataset: chunks are put together from spans in any order, compressed by the
/// threads that complete them, and handed to the library whole.
class ChunkSink {
  public:
    virtual ~ChunkSink() = default;
    virtual void write(Span span, Lanes lanes, const std::byte* src, Index pitch) = 0;
};
/// Extents of the chunks of `spec`'s dataset; empty where it is to lie in one piece.
std::vector<Index> chunk_extents(const OutputSpec& spec);
/// Level of "gzip:LEVEL" (gzip: 4); empty for "none". Error otherwise.
std::optional<int> gzip_level(const OutputSpec& spec);
std::unique_ptr<ChunkSink> chunk_sink(const OutputSpec& spec, std::vector<Index> extents, hid_t dataset);

}  // namespace convoy::io::h5
