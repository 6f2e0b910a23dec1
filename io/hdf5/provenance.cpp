// What an output of convoy says of itself.
#include "io/file.hpp"
#include "io/format.hpp"
#include "io/hdf5/h5.hpp"

namespace convoy::io {

std::vector<std::pair<std::string, std::string>> provenance_of(const std::string& path) {
    std::vector<std::pair<std::string, std::string>> found;
    const h5::Lock lock;
    if (H5Fis_hdf5(path.c_str()) <= 0) return found;
    const h5::File file = h5::open_file(path);
    const h5::Object group = h5::open_object(file, "/convoy");
    if (!group.valid()) return found;
    for (const std::string& name : h5::attribute_names(group))
        if (const auto value = h5::attribute(group, name); value && !value->texts.empty())
            found.emplace_back(name, value->text());
    return found;
}

}  // namespace convoy::io
