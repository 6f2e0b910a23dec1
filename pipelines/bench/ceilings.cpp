#include "pipelines/bench/ceilings.hpp"

#include <fcntl.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "core/base/error.hpp"
#include "core/device/host_memory.hpp"

namespace convoy::pipelines::bench {

namespace {

struct HostFree {
    void operator()(std::byte* data) const { device::host_free(data); }
};
using HostBytes = std::unique_ptr<std::byte, HostFree>;

// Calls f(first, count) for `parts` equal parts of `bytes`, each on its own thread.
void in_parts(std::size_t bytes, int parts, const std::function<void(std::size_t, std::size_t)>& f) {
    const std::size_t part = (bytes / static_cast<std::size_t>(parts) + 4096) / 4096 * 4096;
    tbb::task_arena arena(parts);
    arena.execute([&] {
        tbb::parallel_for(
            0, parts,
            [&](int i) {
                const std::size_t first = std::min(bytes, part * static_cast<std::size_t>(i));
                const std::size_t count = std::min(part, bytes - first);
                if (count > 0) f(first, count);
            },
            tbb::simple_partitioner());
    });
}

class File {
  public:
    File(const std::string& path, int flags) : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
        if (fd_ < 0) throw failed(path_, "cannot be opened: " + system_error_text(errno));
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(fd_); }
    void write(const std::byte* data, std::size_t first, std::size_t count) const {
        while (count > 0)
            advance(pwrite(fd_, data + first, count, static_cast<off_t>(first)), first, count);
    }
    void read(std::byte* data, std::size_t first, std::size_t count) const {
        while (count > 0)
            advance(pread(fd_, data + first, count, static_cast<off_t>(first)), first, count);
    }

  private:
    void advance(ssize_t done, std::size_t& first, std::size_t& count) const {
        if (done < 0 && errno == EINTR) return;
        if (done <= 0) throw failed(path_, done < 0 ? system_error_text(errno) : "ends too early");
        first += static_cast<std::size_t>(done);
        count -= static_cast<std::size_t>(done);
    }
    std::string path_;
    int fd_;
};

std::string name_with(const char* what, int threads) {
    return std::string(what) + "_" + std::to_string(threads);
}

void file_figures(const CeilingOptions& o, const HostBytes& a, const HostBytes& b,
                  const std::vector<int>& threads, Figures& figures) {
    const std::string path = o.folder + "/convoy-ceilings." + std::to_string(getpid());
    struct Remove {
        const std::string& path;
        ~Remove() { unlink(path.c_str()); }
    } remove{path};
    const double gb = static_cast<double>(o.bytes) * 1e-9;
    for (const int n : threads) {
        const double seconds = median_seconds(std::min(o.repeat, 5), [&] {
            unlink(path.c_str());
            const File file(path, O_WRONLY | O_CREAT | O_EXCL);
            in_parts(o.bytes, n,
                     [&](std::size_t first, std::size_t count) { file.write(a.get(), first, count); });
        });
        figures.push_back(
            {name_with("file_write_threads", n), gb / seconds, "GB/s", "a new file, to the page cache"});
    }
    const File file(path, O_RDONLY);
    for (const int n : threads) {
        const double seconds = median_seconds(o.repeat, [&] {
            in_parts(o.bytes, n,
                     [&](std::size_t first, std::size_t count) { file.read(b.get(), first, count); });
        });
        figures.push_back({name_with("file_read_threads", n), gb / seconds, "GB/s", "from the page cache"});
    }
}

}  // namespace

Figures host_ceilings(const CeilingOptions& o) {
    Figures figures;
    const int all = device::available_cpus();
    std::vector<int> threads = {1};
    for (int n = 4; n < all; n *= 2)
        threads.push_back(n);
    if (all > 1) threads.push_back(all);
    const double gb = static_cast<double>(o.bytes) * 1e-9;

    const HostBytes a(device::host_allocate(o.bytes)), b(device::host_allocate(o.bytes));
    const Stopwatch watch;
    in_parts(o.bytes, all,
             [&](std::size_t first, std::size_t count) { std::memset(a.get() + first, 1, count); });
    figures.push_back({"host_first_touch", gb / watch.seconds(), "GB/s", "all threads, once"});
    for (const int n : threads) {
        const double seconds = median_seconds(o.repeat, [&] {
            in_parts(o.bytes, n, [&](std::size_t first, std::size_t count) {
                std::memcpy(b.get() + first, a.get() + first, count);
            });
        });
        figures.push_back(
            {name_with("host_copy_threads", n), gb / seconds, "GB/s", "bytes copied, each counted once"});
    }
    if (!o.folder.empty()) file_figures(o, a, b, threads, figures);
    return figures;
}

Figures measure_ceilings(const CeilingOptions& options) {
    Figures figures = host_ceilings(options);
    if (options.device.backend == device::Backend::cuda)
        for (Figure& f : gpu_ceilings(options))
            figures.push_back(std::move(f));
    return figures;
}

}  // namespace convoy::pipelines::bench
