// Choosing a format, by content for inputs and by name for outputs.
#include "io/format.hpp"

namespace convoy::io {

std::string Recording::label() const {
    return dataset.empty() ? path : path + ":" + dataset;
}

}  // namespace convoy::io
