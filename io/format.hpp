// Readers and writers: one contract, one file a format, told apart by content. io never computes; it delivers
// samples as they are stored (or in the next wider of convoy's types) with the scaling that belongs to them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/signal.hpp"

namespace convoy::io {

/// How an input is to be understood; the command line's words for inputs.
struct OpenOptions {
    std::string dataset;           // empty: found by the reader
    std::optional<int> time_axis;  // below 0: counted from the last
    bool image = false;          // streamed along image_axis where time_axis says nothing; its axes are read
    int image_axis = -1;         // counted from behind
    std::string channels;        // "0,2,5-9,100-1100:4"; empty: all
    std::optional<double> rate;  // Hz; overrides what the file says
    bool raw = false;            // leave scale factors and offsets unapplied
    std::string gaps = "error";  // error, split, ignore
    double gap_tolerance = 1.5;  // samples
    std::string filename_time;   // strptime-like pattern for a time in the file's name
};

/// One axis of an array, with the values of its dimension scale.
struct Axis {
    std::string name;  // time, channel, frequency
    std::string units;
    double first = 0, step = 1;  // value i is first + i * step, unless `values` is given
    std::vector<double> values;
};

/// A jump in the time stamps beside the data: frames from `at` on start a new piece.
struct Gap {
    Index at;
    double seconds;  // missing time
};

/// What a reader found. Extents are those after --channels; times and rates are the input's own.
struct Recording {
    std::string path;           // as given
    std::string dataset;        // "/group/name"; empty for audio
    std::string format;         // member's name
    std::string label() const;  // path, or path:dataset: what messages name

    std::vector<Index> dims;  // of the stored array as written again: time_axis is the one that is streamed
    int time_axis = 0;
    std::string time_axis_source;           // how it was decided
    Shape shape;                            // dims as [outer][frames][inner] (inner doubled when complex)
    SampleType type = SampleType::float32;  // of the samples that read() delivers
    std::string stored_type;                // for people: "int24", "float32 big-endian", "mu-law"
    int stored_bits = 0;                    // of integer audio; 0 elsewhere
    bool complex = false;
    bool wide = false;  // float64, or an integer wider than 24 bits: arithmetic defaults to float64
    Scaling scaling;    // applied by whoever computes

    std::optional<double> rate;             // Hz
    std::string rate_source;                // "attribute fs of /data", "--rate"
    std::string rate_looked_for;            // for the error of a step that needs a rate and has none
    std::optional<std::string> start_time;  // ISO 8601, of the first sample
    std::string start_time_source;
    double time_first = 0;  // of the first sample on the input's own scale of time: s, or samples without a
                            // rate; a part of a longer recording does not begin at 0
    std::vector<Gap> gaps;

    std::vector<Axis> axes;  // of an image: one for each of dims, by its dimension scale where it has one
    std::vector<Index> selected;  // channels taken, in order; empty: all
    std::vector<Index> chunk;     // HDF5 chunk extents; empty: contiguous
    std::string storage;          // for people: "chunks of 700 x 4, shuffle, gzip"; empty of audio
    Index decoded_chunk_bytes = 0;
    Index file_bytes = 0;
    std::string modified;                                   // ISO 8601, of the file
    std::vector<std::pair<std::string, std::string>> tags;  // of audio: title, artist, comment, ...
};

/// An open input. read() may be called from several threads at once unless serial() says otherwise.
class Reader {
  public:
    virtual ~Reader() = default;
    const Recording& recording() const { return recording_; }
    virtual bool serial() const { return true; }

    /// Reads frames `span` of `lanes` into dst, as [outer][pitch][inner] of recording().type. The span is
    /// within the signal. Throws Error if the samples cannot be had (never fills in zeros). For a pipe or a
    /// decoder that cannot seek, spans must not go backwards (sequential()).
    virtual void read(Span span, Lanes lanes, std::byte* dst, Index pitch) = 0;
    virtual bool sequential() const { return false; }

    /// The reader of the file whose metadata travel to the output: another one where this reads by way of
    /// others.
    virtual const Reader& origin() const { return *this; }

  protected:
    Recording recording_;
};

/// Everything about an output but its samples; known before the first one is written.
struct OutputSpec {
    std::string path;         // final name; written as path + ".part"
    std::string format;       // an ending (h5, wav, w64, aiff, flac); empty: that of the name
    std::string dataset;      // "/audio", "/spectrogram"
    std::vector<Index> dims;  // extents on file; complex is a compound, not an axis
    int time_axis = 0;
    Shape shape;  // the same as [outer][frames][inner]
    SampleType type = SampleType::float32;
    bool complex = false;

    std::optional<double> rate;  // sampling_rate attribute, Hz
    std::vector<Axis> axes;      // one for each of dims; used where the source has no scale of its own
    bool signal = true;          // same axes as the source (filter); false: spectrogram, conv2d
    bool own_axes =
        false;  // of a signal: channels are not the source's (mixed), so that its scales stay behind
    std::vector<Index>
        selected;          // channels of the source's file that are here, in order; empty: as the source
    Index time_first = 0;  // output frame m stands for input frame (time_first + m * time_step) / time_up
    Index time_step = 1;
    Index time_up = 1;  // more than 1 behind a resampling step, and then own_axes

    const Reader* source = nullptr;  // what belongs to the signal travels from here
    bool raw = false;                // scale attributes stay
    double scale_factor = 0;         // CF scale_factor of int16 output; 0: none
    bool marks_nan = false;          // int16 output: -32768 stands for NaN (CF _FillValue)
    std::vector<std::pair<std::string, std::string>> attributes;  // of the dataset: units, scaling

    std::string compression = "none";  // none, gzip, gzip:LEVEL
    std::vector<Index> chunks;         // HDF5 chunk extents; empty: chosen when compression needs them
    std::string bits;                  // 16, 24, 32, 32f, 64f for audio; empty: as the input
    bool overwrite = false;
    bool sync = false;
    std::optional<Index>
        resume;  // samples that path + ".part" holds already: it is taken up; none: made anew

    std::vector<std::pair<std::string, std::string>> provenance;  // attributes of /convoy
    std::string identity;      // of the job, for later runs: /convoy@identity, or a chunk of WAV; empty: none
    std::vector<double> taps;  // /convoy/taps; none where empty
};

/// An output being written under its temporary name. Destroyed before finish(), it removes what it wrote.
class Writer {
  public:
    virtual ~Writer() = default;
    /// Spans must come in order, with all lanes (encoders); otherwise any order, from several threads at
    /// once.
    virtual bool ordered() const { return false; }
    /// Several threads writing at once is worth it (plain files): the caller may cut what it has.
    virtual bool concurrent() const { return false; }
    /// Writes frames `span` of `lanes` from src, [outer][pitch][inner] of the spec's type.
    virtual void write(Span span, Lanes lanes, const std::byte* src, Index pitch) = 0;
    /// Completes, closes, waits for the disk if asked to, and renames. Throws Error; then nothing is left.
    virtual void finish() = 0;
    /// Whether a run that was killed can be taken up (OutputSpec::resume): samples lie at places fixed from
    /// the start.
    virtual bool resumable() const { return false; }
    /// Waits until all that write() has taken is on the disk; another thread may be in write() meanwhile.
    virtual void flush() {}
    /// From now on what has been written stays where finish() is not reached, for a run that takes it up.
    virtual void keep() {}
    /// Samples that had to be clipped to fit an integer type.
    virtual Index clipped() const { return 0; }
};

/// One family of files.
struct Format {
    std::string_view name;
    std::string_view summary;
    std::string_view extensions;  // ".h5 .hdf5", of outputs
    /// Whether the file's content is of this kind.
    bool (*recognizes)(const std::string& path);
    std::unique_ptr<Reader> (*open)(const std::string& path, const OpenOptions&);
    /// nullptr where the format is not written.
    std::unique_ptr<Writer> (*create)(const OutputSpec&);
    /// OutputSpec::identity of an output; empty where there is none.
    std::string (*identity)(const std::string& path);
    /// Inputs in the file that can be opened: `path` itself, or path:/dataset for each that can be a signal.
    std::vector<std::string> (*signals)(const std::string& path);
};

const Catalog<Format>& catalog();

/// Opens `input` (a path, or file.h5:/dataset) with the format that its content shows.
std::unique_ptr<Reader> open(const std::string& input, OpenOptions options);

/// The inputs that `input` may mean: itself, or each dataset of its file that can be a signal where none is
/// named.
std::vector<std::string> signals_in(const std::string& input);

/// Creates an output in the format that its name's ending shows, HDF5 where it shows none. Error where the
/// output is the input, exists without `overwrite`, its folder is missing, or the space does not suffice.
std::unique_ptr<Writer> create(const OutputSpec& spec);

/// OutputSpec::identity of an output, whatever its format; empty where there is none.
std::string identity_in(const std::string& path);

/// Throws what create() would say of the name alone: it is the input, exists without `overwrite`, has no
/// known ending.
void check_output(const OutputSpec& spec);

/// The ending that decides an output's format: "wav", in lower case; "h5" where neither format nor name has
/// one.
std::string ending_of(const OutputSpec& spec);

/// Whether an output of that name is audio; all others are HDF5.
bool writes_audio(const std::string& path);

/// The folder that a file of that name would be made in. Error where it is not there or cannot be written to.
std::string writable_folder_of(const std::string& path);

/// Whether the name ends as those of files do that are written (".h5", ".wav", ...).
bool ends_as_output(const std::string& path);

/// Of an audio output: what its samples are times to be 1 at full scale, and the largest of these that it
/// holds: 1 of floats, one step less of integers.
struct FullScale {
    double gain, largest;
};
FullScale full_scale(const OutputSpec& spec);

/// "0,2,5-9,100-1100:4" as channel numbers below `count`, in that order. Error (a wrong request) otherwise.
std::vector<Index> parse_channels(const std::string& text, Index count, const std::string& where);

}  // namespace convoy::io
