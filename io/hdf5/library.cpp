// Samples by way of HDF5 itself: compact and virtual datasets, external files, filters of plugins, unusual
// numbers.
#include "io/hdf5/samples.hpp"

namespace convoy::io::h5 {

namespace {
class LibrarySamples final : public Samples {
  public:
    LibrarySamples(const Source& source, const Frame& frame)
        : frame_(frame), where_(source.where), dataset_(open_dataset(source.home, source.home_name, where_)) {
        Type stored(check(H5Dget_type(dataset_), where_, "the dataset's type cannot be read"));
        memory_ = memory_type(source.element, stored);
        space_ = Space(check(H5Dget_space(dataset_), where_, "the dataset's extents cannot be read"));
    }

    bool serial() const override { return true; }

    void read(const Block& block, std::byte* dst, Index pitch) override {
        if (block.frames <= 0) return;
        Lock lock;
        const hsize_t extent[3] = {static_cast<hsize_t>(block.outer_count), static_cast<hsize_t>(pitch),
                                   static_cast<hsize_t>(block.inner_count)};
        Space memory(check(H5Screate_simple(3, extent, nullptr), where_, "samples cannot be read"));
        for (const Box& box : boxes_of(frame_, block)) {
            const hsize_t first[3] = {static_cast<hsize_t>(box.outer - block.outer), 0,
                                      static_cast<hsize_t>(box.inner - block.inner)};
            const hsize_t count[3] = {static_cast<hsize_t>(box.outer_count),
                                      static_cast<hsize_t>(block.frames),
                                      static_cast<hsize_t>(box.inner_count)};
            select(memory, first, count);
            const std::vector<hsize_t> stored_first(box.first.begin(), box.first.end());
            const std::vector<hsize_t> stored_count(box.count.begin(), box.count.end());
            select(space_, stored_first.data(), stored_count.data());
            check(H5Dread(dataset_, memory_, memory, space_, H5P_DEFAULT, dst), where_,
                  "samples cannot be read", "the file is damaged or incomplete there");
        }
    }

  private:
    void select(hid_t space, const hsize_t* first, const hsize_t* count) const {
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr), where_,
              "samples cannot be read");
    }

    Frame frame_;
    std::string where_;
    Dataset dataset_;
    Type memory_;
    Space space_;
};
}  // namespace

std::unique_ptr<Samples> library_samples(const Source& source, const Frame& frame) {
    Lock lock;
    return std::make_unique<LibrarySamples>(source, frame);
}

}  // namespace convoy::io::h5
