// RAM in place of a job's files, and what is said to decide how long a job takes.
#include "pipelines/scope.hpp"

#include <numeric>

#include "core/base/error.hpp"
#include "pipelines/limit.hpp"
#include "tests/catch.hpp"
#include "tests/pipelines/memory_files.hpp"

namespace convoy {

namespace {

using pipelines::Scope;

constexpr Shape shape{3, 100, 2};

std::unique_ptr<io::Reader> counting() {
    std::vector<float> samples(static_cast<std::size_t>(shape.samples()));
    std::iota(samples.begin(), samples.end(), 0.f);
    return std::make_unique<test::MemoryReader<float>>(shape, samples);
}

std::vector<float> read(io::Reader& reader, Span span, Lanes lanes, Index pitch) {
    std::vector<float> out(static_cast<std::size_t>(lanes.outer_count * pitch * lanes.inner_count), -1.f);
    reader.read(span, lanes, reinterpret_cast<std::byte*>(out.data()), pitch);
    return out;
}

pipelines::JobReport report_of(const std::string& memory, const std::string& output) {
    pipelines::JobReport r;
    r.memory = memory;
    r.output = output;
    r.input.shape = {1, 1'000'000, 1};
    r.input.type = SampleType::float32;
    r.out_dims.push_back(500'000);
    pipelines::StepReport step;
    step.shape = {1, 1'000'000, 1};
    r.steps.push_back(step);
    return r;
}

}  // namespace

TEST_CASE("the first frames of an input stand for those that follow") {
    pipelines::RamFiles ram(40 * 3 * 2 * sizeof(float));  // 40 frames
    const auto whole = counting();
    const auto reader = ram.reader(counting(), Scope::memory);
    CHECK(reader->recording().shape == shape);
    const Lanes all = Lanes::all(shape), some{1, 2, 1, 1};
    CHECK(read(*reader, {3, 30}, all, 31) == read(*whole, {3, 30}, all, 31));
    CHECK(read(*reader, {43, 30}, some, 30) == read(*whole, {3, 30}, some, 30));
    const auto over = read(*reader, {35, 10}, some, 10), end = read(*whole, {35, 5}, some, 5),
               start = read(*whole, {0, 5}, some, 5);
    CHECK(std::vector<float>(over.begin(), over.begin() + 5) ==
          std::vector<float>(end.begin(), end.begin() + 5));
    CHECK(std::vector<float>(over.begin() + 5, over.begin() + 10) ==
          std::vector<float>(start.begin(), start.begin() + 5));
}

TEST_CASE("a slot is filled once where chunks are to lie in the slots already") {
    pipelines::RamFiles ram;
    const auto reader = ram.reader(counting(), Scope::link);
    const Lanes all = Lanes::all(shape);
    std::vector<float> slot(static_cast<std::size_t>(10 * shape.lanes()));
    const auto fill = [&](Index first) {
        reader->read({first, 10}, all, reinterpret_cast<std::byte*>(slot.data()), 10);
    };
    fill(0);
    const std::vector<float> first = slot;
    CHECK(first == read(*counting(), {0, 10}, all, 10));
    fill(10);
    CHECK(slot == first);
}

TEST_CASE("a result in memory takes all that is written, and no more than it may hold") {
    pipelines::RamFiles ram(1000);
    const auto writer = ram.writer(shape, SampleType::float32, Scope::memory);
    const std::vector<float> part(static_cast<std::size_t>(shape.samples()), 1.f);
    CHECK(!writer->ordered());
    writer->write({0, 100}, Lanes::all(shape), reinterpret_cast<const std::byte*>(part.data()), 100);
    writer->finish();
    CHECK(writer->clipped() == 0);
}

TEST_CASE("scopes have names") {
    for (const Scope scope : pipelines::all_scopes)
        CHECK(pipelines::scope_of(name_of(scope)) == scope);
    CHECK_THROWS_WITH(pipelines::scope_of("disk"), containing("disk") && containing("link, memory or file"));
}

TEST_CASE("what is at work longest is what decides, and its rate is beside its ceiling") {
    const pipelines::bench::Figures ceilings{{"file_read_threads_1", 1e-3, "GB/s", {}},
                                             {"file_read_threads_4", 4e-3, "GB/s", {}},
                                             {"file_write_threads_1", 1e-2, "GB/s", {}},
                                             {"host_copy_threads_1", 8e-3, "GB/s", {}}};
    pipelines::JobReport r = report_of("host", "y.h5");
    r.stream.read_s = 2, r.stream.compute_s = 1, r.stream.write_s = 0.5;
    const auto reading = limit_of(r, Scope::file, 4, ceilings);
    CHECK(reading.resource == "reading");
    CHECK(reading.busy == Approx(0.5));
    CHECK(reading.of_ceiling == Approx(2e-3 / 4 / 4e-3));  // half of the input: 2 MB in 4 s
    CHECK(!reading.of_the_mode);
    CHECK(limit_of(r, Scope::memory, 4, ceilings).of_ceiling == Approx(2e-3 / 4 / 8e-3));
    CHECK(limit_of(r, Scope::link, 4, ceilings).resource == "computing");
    CHECK(std::isnan(limit_of(r, Scope::link, 4, ceilings).of_ceiling));

    r.stream.write_s = 3;
    CHECK(limit_of(r, Scope::file, 4, ceilings).resource == "writing");
    r.output = "null";
    CHECK(limit_of(r, Scope::file, 4, ceilings).resource == "reading");
    CHECK(limit_of(report_of("host", "y.h5"), Scope::file, 4, ceilings).resource.empty());
}

}  // namespace convoy
