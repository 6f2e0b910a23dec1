#include "core/window/window.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/window/shapes.hpp"

namespace convoy::window {

namespace {

constexpr std::size_t any_number = 64;

struct Shape {
    std::string_view name;
    std::string_view spellings;   // SciPy's others
    std::string_view parameters;  // for help
    std::size_t least, most;      // parameters: needed, allowed
    Samples (*make)(Index, Arguments);
};

constexpr std::array shapes{
    Shape{"barthann", "brthan,bth", "", 0, 0, barthann},
    Shape{"bartlett", "bart,brt", "", 0, 0, bartlett},
    Shape{"blackman", "black,blk", "", 0, 0, blackman},
    Shape{"blackmanharris", "blackharr,bkh", "", 0, 0, blackmanharris},
    Shape{"bohman", "bman,bmn", "", 0, 0, bohman},
    Shape{"boxcar", "box,ones,rect,rectangular", "", 0, 0, boxcar},
    Shape{"chebwin", "cheb", "ATTENUATION_DB", 1, 1, chebwin},
    Shape{"cosine", "halfcosine", "", 0, 0, cosine},
    Shape{"dpss", "", "NW", 1, 1, dpss},
    Shape{"exponential", "poisson", "[CENTRE,TAU]", 0, 2, exponential},
    Shape{"flattop", "flat,flt", "", 0, 0, flattop},
    Shape{"gaussian", "gauss,gss", "DEVIATION", 1, 1, gaussian},
    Shape{"general_cosine", "general cosine", "A0,A1,...", 1, any_number, general_cosine},
    Shape{"general_gaussian", "general gaussian,general gauss,general_gauss,ggs", "POWER,WIDTH", 2, 2,
          general_gaussian},
    Shape{"general_hamming", "general hamming", "ALPHA", 1, 1, general_hamming},
    Shape{"hamming", "hamm,ham", "", 0, 0, hamming},
    Shape{"hann", "han", "", 0, 0, hann},
    Shape{"kaiser", "ksr", "BETA", 1, 1, kaiser},
    Shape{"kaiser_bessel_derived", "kaiser bessel derived,kbd", "BETA", 1, 1, kaiser_bessel_derived},
    Shape{"lanczos", "sinc", "", 0, 0, lanczos},
    Shape{"nuttall", "nutl,nut", "", 0, 0, nuttall},
    Shape{"parzen", "parz,par", "", 0, 0, parzen},
    Shape{"taylor", "taylorwin", "[NBAR,SIDELOBE_DB,NORM]", 0, 3, taylor},
    Shape{"triang", "triangle,tri", "", 0, 0, triang},
    Shape{"tukey", "tuk", "[SHARE]", 0, 1, tukey},
};

std::string usage(const Shape& shape) {
    const bool optional = shape.parameters.starts_with('[');
    const std::string text(optional ? shape.parameters.substr(1, shape.parameters.size() - 2)
                                    : shape.parameters);
    if (text.empty()) return std::string(shape.name);
    return std::string(shape.name) + (optional ? "[," + text + "]" : "," + text);
}

const Shape& shape_called(const std::string& name) {
    std::vector<std::string> known;
    for (const Shape& shape : shapes) {
        const auto others = split(shape.spellings, ',');
        if (shape.name == name ||
            (!name.empty() && std::find(others.begin(), others.end(), name) != others.end()))
            return shape;
        known.emplace_back(shape.name);
    }
    const std::string near = nearest(name, known);
    std::string list;
    for (const std::string& k : known)
        list.append(list.empty() ? "" : ", ").append(k);
    throw usage_error("there is no window '" + name + "'",
                      near.empty() ? "choose one of " + list : "did you mean '" + near + "'?");
}

// What is wrong with a window's parameters, or empty.
std::string problem(const Spec& spec) {
    const Arguments p(spec.parameters);
    const auto bad = [&](std::size_t i, bool fine, const char* rule) -> std::string {
        return fine ? "" : std::string(rule) + ", not " + to_text(p.get(i, 0));
    };
    if (spec.name == "kaiser" || spec.name == "kaiser_bessel_derived")
        return bad(0, p.get(0, 0) >= 0 && p.get(0, 0) <= 700, "beta lies between 0 and 700");
    if (spec.name == "gaussian")
        return bad(0, p.get(0, 1) > 0, "the deviation is a positive number of samples");
    if (spec.name == "general_gaussian")
        return bad(1, p.get(1, 1) > 0, "the width is a positive number of samples");
    if (spec.name == "exponential") return bad(1, p.get(1, 1) > 0, "tau is a positive number of samples");
    if (spec.name == "dpss") return bad(0, p.get(0, 1) > 0, "NW is positive");
    if (spec.name == "chebwin")
        return bad(0, p.get(0, 100) > 0 && p.get(0, 100) <= 1000,
                   "the attenuation lies between 0 and 1000 dB");
    if (spec.name == "taylor") {
        const double nbar = p.get(0, 4);
        if (!(nbar >= 1 && nbar <= 1000 && std::floor(nbar) == nbar))
            return bad(0, false, "NBAR is a whole number from 1 to 1000");
        return bad(1, p.get(1, 30) >= 0 && p.get(1, 30) <= 1000,
                   "the side lobe level lies between 0 and 1000 dB");
    }
    return {};
}

}  // namespace

std::string Spec::text() const {
    std::string words = name;
    for (const auto& value : parameters)
        words.append(",").append(value ? to_text(*value) : "none");
    return words;
}

Spec parse(std::string_view text) {
    if (parse_number(text)) return parse("kaiser," + std::string(text));
    const std::vector<std::string> words = split(text, ',');
    const Shape& shape = shape_called(words.front());
    Spec spec{std::string(shape.name), {}};
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto value = parse_number(words[i]);
        if (!value && !words[i].empty() && words[i] != "none")
            throw usage_error("window '" + std::string(text) + "': '" + words[i] + "' is not a number",
                              "write " + usage(shape));
        spec.parameters.push_back(value);
    }
    for (std::size_t i = 0; i < shape.least; ++i)
        if (i >= spec.parameters.size() || !spec.parameters[i])
            throw usage_error("the window '" + spec.name + "' needs a parameter", "write " + usage(shape));
    if (spec.parameters.size() > shape.most)
        throw usage_error("window '" + std::string(text) + "' has too many parameters",
                          "write " + usage(shape));
    if (const std::string wrong = problem(spec); !wrong.empty())
        throw usage_error("window '" + std::string(text) + "': " + wrong, "write " + usage(shape));
    return spec;
}

std::vector<double> make(const Spec& spec, Index length, Symmetry symmetry) {
    const Shape& shape = shape_called(spec.name);
    const bool periodic = symmetry == Symmetry::periodic;
    const auto refuse = [&](const std::string& why) {
        throw usage_error("window '" + spec.text() + "' of " + to_text(length) + " samples: " + why);
    };
    if (shape.make == kaiser_bessel_derived) {
        if (periodic) refuse("it is defined for filter design only; choose kaiser");
        if (length % 2 != 0) refuse("its length must be even");
    }
    if (shape.make == exponential && !periodic && !spec.parameters.empty() && spec.parameters[0])
        refuse("a symmetric window has its centre in the middle; write none for CENTRE");
    if (length < 2) return Samples(static_cast<std::size_t>(std::max<Index>(length, 0)), 1.0);
    if (shape.make == dpss && *spec.parameters[0] >= 0.5 * static_cast<double>(length))
        refuse("NW must be below half the length");
    Samples w = shape.make(length + (periodic ? 1 : 0), Arguments(spec.parameters));
    w.resize(static_cast<std::size_t>(length));
    return w;
}

std::vector<double> make(std::string_view text, Index length, Symmetry symmetry) {
    return make(parse(text), length, symmetry);
}

std::vector<std::string> usages() {
    std::vector<std::string> list;
    for (const Shape& shape : shapes)
        list.push_back(usage(shape));
    return list;
}

}  // namespace convoy::window
