#include "pipelines/stream.hpp"
