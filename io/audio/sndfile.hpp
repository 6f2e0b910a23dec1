// The door to libsndfile: the only place that includes sndfile.h.
#pragma once

#include <sndfile.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace convoy::io::audio {

struct CloseSndfile {
    void operator()(SNDFILE* file) const noexcept { sf_close(file); }
};
using Sndfile = std::unique_ptr<SNDFILE, CloseSndfile>;

/// libsndfile's text tags and what convoy calls them.
inline constexpr std::pair<int, std::string_view> sndfile_tags[] = {
    {SF_STR_TITLE, "title"},    {SF_STR_ARTIST, "artist"},     {SF_STR_COMMENT, "comment"},
    {SF_STR_DATE, "date"},      {SF_STR_SOFTWARE, "software"}, {SF_STR_COPYRIGHT, "copyright"},
    {SF_STR_ALBUM, "album"},    {SF_STR_GENRE, "genre"},       {SF_STR_TRACKNUMBER, "tracknumber"},
    {SF_STR_LICENSE, "license"}};

}  // namespace convoy::io::audio
