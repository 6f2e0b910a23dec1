// A journal is a header (JSON, with its length and checksum before it) and two slots of one size; records go
// to the slots in turn, so that a record that is cut short leaves the one before it. All numbers are the
// machine's own.
#include "pipelines/journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "pipelines/digest.hpp"

namespace convoy::pipelines {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t magic = 0x316c6e72756f6a63;  // "cjournl1"

struct Prefix {  // of the file
    std::uint64_t magic, header_bytes, checksum;
};
struct Record {  // of a slot; levels follow
    std::uint64_t magic, sequence, checksum;
    Index items, clipped;
    stats::Hash hash;
};

Index slots_at(std::uint64_t header_bytes) {  // on a sector of their own
    return (static_cast<Index>(sizeof(Prefix) + header_bytes) + 4095) / 4096 * 4096;
}

Index slot_bytes(std::size_t levels) {
    return (static_cast<Index>(sizeof(Record) + levels * sizeof(stats::Level)) + 4095) / 4096 * 4096;
}

std::string header_text(const JournalEntry& entry) {
    Json header;
    header["identity"] = entry.identity;
    header["chunk_frames"] = entry.geometry.chunk_frames;
    header["group"] = entry.geometry.group;
    header["kept_frames"] = entry.geometry.kept_frames;
    header["lanes_in"] = entry.progress.input.size();
    header["lanes_out"] = entry.progress.output.size();
    return header.dump(-1);
}

Index whole(const Json& json, std::string_view key) {
    return static_cast<Index>(json.at(key).number());
}

std::uint64_t checksum_of(std::vector<std::byte> slot) {
    std::memset(slot.data() + offsetof(Record, checksum), 0, sizeof(std::uint64_t));
    return digest(slot.data(), slot.size());
}

// Fills `entry` from a slot; false where the slot holds no whole record.
bool unpack(const std::vector<std::byte>& slot, JournalEntry& entry) {
    Record record;
    std::memcpy(&record, slot.data(), sizeof record);
    if (record.magic != magic || record.checksum != checksum_of(slot)) return false;
    if (record.sequence <= entry.sequence) return false;
    entry.sequence = record.sequence;
    Progress& p = entry.progress;
    p.items = record.items;
    p.clipped = record.clipped;
    p.hash = record.hash;
    const std::byte* at = slot.data() + sizeof record;
    for (auto* levels : {&p.input, &p.output}) {
        std::memcpy(levels->data(), at, levels->size() * sizeof(stats::Level));
        at += levels->size() * sizeof(stats::Level);
    }
    return true;
}

}  // namespace

std::optional<JournalEntry> read_journal(const std::string& path) {
    const io::File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.descriptor() < 0) return std::nullopt;
    Prefix prefix{};
    if (file.read_some(path, 0, &prefix, sizeof prefix) < static_cast<Index>(sizeof prefix))
        return std::nullopt;
    if (prefix.magic != magic || prefix.header_bytes > static_cast<std::uint64_t>(file.size()))
        return std::nullopt;
    std::string text(prefix.header_bytes, '\0');
    const Index bytes = static_cast<Index>(text.size());
    if (file.read_some(path, sizeof prefix, text.data(), bytes) < bytes) return std::nullopt;
    if (digest(text.data(), text.size()) != prefix.checksum) return std::nullopt;
    const Json header = Json::parse(text, path);
    JournalEntry entry;
    entry.identity = header.at("identity");
    entry.geometry = {whole(header, "chunk_frames"), whole(header, "group"), whole(header, "kept_frames")};
    entry.progress.input.resize(static_cast<std::size_t>(whole(header, "lanes_in")));
    entry.progress.output.resize(static_cast<std::size_t>(whole(header, "lanes_out")));
    const Index size = slot_bytes(entry.progress.input.size() + entry.progress.output.size());
    std::vector<std::byte> slot(static_cast<std::size_t>(size));
    for (Index i = 0; i < 2; ++i)
        if (file.read_some(path, slots_at(prefix.header_bytes) + i * size, slot.data(), size) == size)
            unpack(slot, entry);
    return entry.sequence > 0 ? std::optional(std::move(entry)) : std::nullopt;
}

Journal::Journal(std::string path, JournalEntry start, std::function<void()> flush_data)
    : path_(std::move(path)),
      start_(std::move(start)),
      flush_data_(std::move(flush_data)),
      sequence_(start_.sequence) {
    const int anew = sequence_ == 0 ? O_CREAT | O_TRUNC : 0;
    file_ = io::File(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | anew, 0666));
    if (file_.descriptor() < 0) throw failed(path_, "cannot be written: " + system_error_text(errno));
    slots_at_ = slots_at(header_text(start_).size());
    slot_bytes_ = slot_bytes(start_.progress.input.size() + start_.progress.output.size());
    if (anew != 0) make();
    rest_until_ = Clock::now();
    thread_ = std::jthread([this](const std::stop_token& stop) { keep_recording(stop); });
}

Journal::~Journal() = default;

void Journal::make() {
    const std::string text = header_text(start_);
    const Prefix prefix{magic, text.size(), digest(text.data(), text.size())};
    flush_data_();
    file_.write_at(path_, sizeof prefix, text.data(), static_cast<Index>(text.size()));
    const std::vector<std::byte> empty(
        static_cast<std::size_t>(2 * slot_bytes_));  // later records need no new room
    file_.write_at(path_, slots_at_, empty.data(), 2 * slot_bytes_);
    file_.write_at(path_, 0, &prefix, sizeof prefix);
    record(start_.progress);
    io::flush_folder(path_);
}

std::vector<std::byte> Journal::packed(const Progress& progress) const {
    std::vector<std::byte> slot(static_cast<std::size_t>(slot_bytes_));
    Record record{magic, sequence_, 0, progress.items, progress.clipped, progress.hash};
    std::memcpy(slot.data(), &record, sizeof record);
    std::byte* at = slot.data() + sizeof record;
    for (const auto* levels : {&progress.input, &progress.output}) {
        std::memcpy(at, levels->data(), levels->size() * sizeof(stats::Level));
        at += levels->size() * sizeof(stats::Level);
    }
    record.checksum = checksum_of(slot);
    std::memcpy(slot.data(), &record, sizeof record);
    return slot;
}

void Journal::record(const Progress& progress) {
    ++sequence_;
    const std::vector<std::byte> slot = packed(progress);
    file_.write_at(path_, slots_at_ + static_cast<Index>(sequence_ % 2) * slot_bytes_, slot.data(),
                   slot_bytes_);
    file_.flush(path_);
}

bool Journal::due() {
    const std::scoped_lock lock(mutex_);
    return !busy_ && !offered_ && Clock::now() >= rest_until_;
}

void Journal::offer(const Progress& progress) {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    offered_ = progress;
    changed_.notify_all();
}

void Journal::flush() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return (!offered_ && !busy_) || failure_; });
    if (failure_) std::rethrow_exception(failure_);
}

// Takes offers one by one; rests in between, so that many small chunks share one wait for the disk.
void Journal::keep_recording(const std::stop_token& stop) {
    constexpr auto least_rest = std::chrono::milliseconds(200);
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return offered_.has_value(); })) {
        const Progress progress = std::move(*offered_);
        offered_.reset();
        busy_ = true;
        lock.unlock();
        const auto begun = Clock::now();
        std::exception_ptr failure;
        try {
            flush_data_();
            record(progress);
        } catch (...) {
            failure = std::current_exception();
        }
        const auto ended = Clock::now();
        lock.lock();
        busy_ = false;
        rest_until_ = ended + std::max<Clock::duration>(least_rest, 4 * (ended - begun));
        failure_ = failure;
        changed_.notify_all();
        if (failure) return;
    }
}

}  // namespace convoy::pipelines
