#include "core/base/printable.hpp"

namespace convoy {

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string line;
    const auto hexadecimal = [&](unsigned char c) {
        line.append({'\\', 'x', digits[c >> 4], digits[c & 15]});
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        if (c == '\n')
            line += "\\n";
        else if (c == '\r')
            line += "\\r";
        else if (c == '\t')
            line += "\\t";
        else if (c < 0x20 || c == 0x7f)
            hexadecimal(c);
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)  // U+0080 to U+009F in UTF-8
            hexadecimal(static_cast<unsigned char>(text[++i]));
        else
            line += text[i];
    }
    return line;
}

}  // namespace convoy
