#include "core/stats/stats.hpp"
