// HDF5 among the formats while it is only written: the member goes when hdf5/reader.cpp, which then names
// h5::create_writer, comes.
#include "io/hdf5/write.hpp"

namespace convoy::io {

extern constinit const Format hdf5{
    .name = "hdf5",
    .summary = "HDF5 (written)",
    .extensions = ".h5 .hdf5 .hdf .he5 .nc .nwb",
    .recognizes = [](const std::string&) { return false; },
    .open = nullptr,
    .create = h5::create_writer,
};

}  // namespace convoy::io
