// A file driver for HDF5 outputs. What describes the data is written in some twenty small pieces, several of
// them again and again; the driver keeps them in memory and writes each stretch of the file once, when the
// file is closed. Nothing is opened anew or cut to length zero on the way, after which file systems (ext4)
// would wait for the disk.
#pragma once

#include <string>

#include "io/hdf5/h5.hpp"

namespace convoy::io::h5 {

/// Lets files that are created with this access list go to an open, empty file. It stays open, and must do so
/// until the HDF5 file is closed.
void gather_writes(hid_t access, int descriptor, const std::string& where);

}  // namespace convoy::io::h5
