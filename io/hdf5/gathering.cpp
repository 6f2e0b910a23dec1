#include "io/hdf5/gathering.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#if H5_VERSION_GE(1, 13, 0)  // keeps what drivers are made of apart
#include <H5FDdevelop.h>
#endif

#include "core/base/error.hpp"

namespace convoy::io::h5 {

namespace {

constexpr haddr_t page_bytes = 4096;
constexpr std::size_t most_pages = 256;         // 1 MiB: more is written at once
constexpr std::size_t direct_bytes = 64 << 10;  // so much in one piece needs no gathering

/// Samples and descriptions as HDF5 writes them, on their way to a descriptor.
class Gathered : public H5FD_t {
  public:
    Gathered(int descriptor, haddr_t most) : H5FD_t{}, most_(most), descriptor_(descriptor) {}

    bool write(haddr_t at, const std::byte* from, std::size_t bytes) {
        end_ = std::max(end_, at + bytes);
        if (bytes >= direct_bytes) {
            direct_end_ = std::max(direct_end_, at + bytes);
            for (auto page = pages_.lower_bound(at / page_bytes);
                 page != pages_.end() && page->first * page_bytes < at + bytes; ++page)
                overlay(page->first, *page->second, at, from, bytes);
            return put(at, from, bytes);
        }
        for (haddr_t number = at / page_bytes; number * page_bytes < at + bytes; ++number)
            overlay(number, page(number), at, from, bytes);
        return pages_.size() <= most_pages || flush();
    }

    bool read(haddr_t at, std::byte* to, std::size_t bytes) {
        for (const haddr_t end = at + bytes; at < end;) {
            const haddr_t number = at / page_bytes, within = at % page_bytes;
            const auto count = static_cast<std::size_t>(std::min(page_bytes - within, end - at));
            const auto there = pages_.find(number);
            if (there != pages_.end())
                std::memcpy(to, there->second->data() + within, count);
            else if (!get(at, to, count))
                return false;
            at += count, to += count;
        }
        return true;
    }

    /// Writes what was gathered, each run of pages in one piece.
    bool flush() {
        std::vector<std::byte> run;
        for (auto page = pages_.begin(); page != pages_.end();) {
            const haddr_t first = page->first;
            run.clear();
            for (; page != pages_.end() && page->first == first + run.size() / page_bytes; ++page)
                run.insert(run.end(), page->second->begin(), page->second->end());
            const haddr_t at = first * page_bytes;
            if (end_ <= at) break;
            if (!put(at, run.data(), std::min<std::size_t>(run.size(), end_ - at))) return false;
            direct_end_ = std::max(direct_end_, std::min(end_, at + run.size()));
        }
        pages_.clear();
        return true;
    }

    /// The same, and brings the file to its length. One that was only looked at stays as it is.
    bool finish() {
        if (eoa == 0) return true;
        end_ = std::min(end_, eoa);
        struct stat status {};
        if (!flush() || ::fstat(descriptor_, &status) != 0) return false;
        return static_cast<haddr_t>(status.st_size) == eoa ||
               ::ftruncate(descriptor_, static_cast<off_t>(eoa)) == 0;
    }

    bool holds(haddr_t at, std::size_t bytes) const { return at <= most_ && bytes <= most_ - at; }
    haddr_t end() const { return end_; }
    int descriptor() const { return descriptor_; }

    haddr_t eoa = 0;  // end of what HDF5 has given away

  private:
    using Page = std::array<std::byte, page_bytes>;

    /// The page, as it is in the file where it was written before.
    Page& page(haddr_t number) {
        auto& place = pages_[number];
        if (place) return *place;
        place = std::make_unique<Page>();
        if (number * page_bytes < direct_end_) get(number * page_bytes, place->data(), page_bytes);
        return *place;
    }

    static void overlay(haddr_t number, Page& page, haddr_t at, const std::byte* from, std::size_t bytes) {
        const haddr_t begin = number * page_bytes, first = std::max(begin, at),
                      end = std::min(begin + page_bytes, at + bytes);
        if (end > first) std::memcpy(page.data() + (first - begin), from + (first - at), end - first);
    }

    bool put(haddr_t at, const std::byte* from, std::size_t bytes) const {
        while (bytes > 0) {
            const auto done = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) {
                errno = done < 0 ? errno : ENOSPC;
                return false;
            }
            at += static_cast<haddr_t>(done), from += done, bytes -= static_cast<std::size_t>(done);
        }
        return true;
    }

    /// What lies beyond the file's end is zero.
    bool get(haddr_t at, std::byte* to, std::size_t bytes) const {
        while (bytes > 0) {
            const auto done = ::pread(descriptor_, to, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) return false;
            if (done == 0) break;
            at += static_cast<haddr_t>(done), to += done, bytes -= static_cast<std::size_t>(done);
        }
        std::memset(to, 0, bytes);
        return true;
    }

    haddr_t most_;
    int descriptor_;
    haddr_t end_ = 0, direct_end_ = 0;  // of all that was written, and of what is in the file
    std::map<haddr_t, std::unique_ptr<Page>> pages_;
};

Gathered& of(H5FD_t* file) {
    return *static_cast<Gathered*>(file);
}

/// HDF5 is C: what goes wrong becomes a message on its stack and a status.
template <class F>
herr_t told(F&& f, const char* what) {
    errno = 0;
    try {
        if (f()) return 0;
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
    }
    const std::string why = system_error_text(errno);
    H5Epush2(H5E_DEFAULT, __FILE__, what, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR, "%s", why.c_str());
    return -1;
}

H5FD_t* open_gathered(const char*, unsigned, hid_t access, haddr_t most) {
    const auto* descriptor = static_cast<const int*>(H5Pget_driver_info(access));
    return descriptor == nullptr ? nullptr : new (std::nothrow) Gathered(*descriptor, most);
}

herr_t close_gathered(H5FD_t* file) {
    const std::unique_ptr<Gathered> gone(&of(file));
    return told([&] { return gone->finish(); }, "close");
}

herr_t read_gathered(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes, void* to) {
    return told(
        [&] { return of(file).holds(at, bytes) && of(file).read(at, static_cast<std::byte*>(to), bytes); },
        "read");
}

herr_t write_gathered(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes, const void* from) {
    return told(
        [&] {
            return of(file).holds(at, bytes) &&
                   of(file).write(at, static_cast<const std::byte*>(from), bytes);
        },
        "write");
}

/// Later releases ask for the version of the class, and a number, from 512 on for drivers of one's own.
template <class Class>
void number(Class& c) {
    if constexpr (requires { c.version; }) {
        c.version = 1;
        c.value = static_cast<decltype(c.value)>(600);
    }
}

const H5FD_class_t& driver_class() {
    static const H5FD_class_t made = [] {
        H5FD_class_t c{};
        number(c);
        c.name = "convoy_gathering";
        c.maxaddr = (haddr_t{1} << 63) - 1;
        c.fc_degree = H5F_CLOSE_WEAK;
        c.fapl_size = sizeof(int);
        c.open = open_gathered;
        c.close = close_gathered;
        c.cmp = [](const H5FD_t* a, const H5FD_t* b) { return a < b ? -1 : a > b ? 1 : 0; };
        c.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
            *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                     H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
            return 0;
        };
        c.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return static_cast<const Gathered*>(file)->eoa; };
        c.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t address) -> herr_t {
            of(file).eoa = address;
            return 0;
        };
        c.get_eof = [](const H5FD_t* file, H5FD_mem_t) { return static_cast<const Gathered*>(file)->end(); };
        c.read = read_gathered;
        c.write = write_gathered;
        constexpr H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(kinds), std::end(kinds), std::begin(c.fl_map));
        return c;
    }();
    return made;
}

}  // namespace

void gather_writes(hid_t access, int descriptor, const std::string& where) {
    static const hid_t driver = H5FDregister(&driver_class());
    check(driver, where, "cannot be made");
    check(H5Pset_driver(access, driver, &descriptor), where, "cannot be made");
}

}  // namespace convoy::io::h5
