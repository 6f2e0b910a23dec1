#include "pipelines/page.hpp"

#include <cmath>

#include "core/base/quantity.hpp"

namespace convoy::pipelines::page {

namespace {

constexpr const char* style = R"(<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.2em .8em .2em 0;text-align:left;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums}h2{margin-top:2em}code{background:#f3f3f3;padding:.1em .3em}
img{image-rendering:pixelated;width:320px;height:144px;margin-right:1em}figure{display:inline-block;margin:.4em 0}
figcaption{color:#666}.bad{color:#a00}svg{background:#fafafa;border:1px solid #ddd}
</style></head><body>
)";

}  // namespace

std::string head(const std::string& title) {
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
           escaped(title) + "</title>\n" + style;
}

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text)
        safe += c == '<'   ? "&lt;"
                : c == '>' ? "&gt;"
                : c == '&' ? "&amp;"
                : c == '"' ? "&quot;"
                           : std::string(1, c);
    return safe;
}

std::string figures(double value) {
    if (!std::isfinite(value) || value == 0) return to_text(value);
    const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
    return to_text(std::round(value * scale) / scale);
}

std::string extents(const std::vector<Index>& dims) {
    std::string text;
    for (const Index n : dims)
        text += (text.empty() ? "" : " × ") + to_text(n);
    return text;
}

std::string row(const std::vector<std::string>& cells, const char* cell) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
        text += std::string("<") + cell + ">" + cells[i] + "</" + cell + ">";
    return text + "</tr>\n";
}

}  // namespace convoy::pipelines::page
