// Named parameters, declared once: command lines, pipeline files, help texts and the JSON schema all come
// from the declarations. Values are kept as the text that was typed and read through typed getters whose
// errors name them.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.hpp"

namespace convoy {

/// What a parameter's text must be.
enum class Kind {
    flag,      // given or not
    integer,   // whole number, with k, M, G
    number,    // "3k"
    numbers,   // "300,3000"
    integers,  // "1,2"
    time,      // "10s", "480000n"
    text,      // anything
    choice,    // one of `choices`
};

/// One declaration. The name is written as on the command line, without dashes in front ("atten-db");
/// pipeline files write it with underscores.
struct Param {
    std::string_view name;
    Kind kind = Kind::text;
    std::string_view value = {};  // what help calls the value: "HZ", "N", "FILE"
    std::string_view help = {};
    std::string_view fallback = {};  // default, as text; empty: none
    std::string_view choices = {};   // "same,full,valid"
    std::string_view also = {};      // other spellings, by commas: "n-fft,nperseg"
    bool optional_value = false;     // --db or --db REF
    bool reads = false;              // a file that is read: looked for next to a pipeline file first
    bool repeated = false;           // may be given several times: the texts, one a line
};

/// Two lists of declarations as one, at compile time.
template <std::size_t N, std::size_t M>
constexpr std::array<Param, N + M> joined(const Param (&a)[N], const Param (&b)[M]) {
    std::array<Param, N + M> all;
    std::copy(b, b + M, std::copy(a, a + N, all.begin()));
    return all;
}

/// Values of declared parameters.
class Params {
  public:
    explicit Params(std::vector<Param> declared, std::string place = {});

    const std::vector<Param>& declared() const { return declared_; }
    /// Sets a value, by name or another spelling, with dashes or underscores. Error (a wrong request, naming
    /// the nearest known name) for an unknown one, or where the text is not of its kind. `place`: where it
    /// was written.
    void set(std::string_view name, std::string text, std::string_view place = {});

    bool given(std::string_view name) const;        // set by the user, not by default
    bool flag(std::string_view name) const;         // of kind flag
    bool has(std::string_view name) const;          // set, or with a default
    std::string text(std::string_view name) const;  // empty where not set
    double number(std::string_view name) const;
    Index integer(std::string_view name) const;
    std::optional<double> number_if(std::string_view name) const;
    std::optional<Index> integer_if(std::string_view name) const;
    std::vector<double> numbers(std::string_view name) const;
    std::vector<Index> integers(std::string_view name) const;
    std::optional<Time> time_if(std::string_view name) const;

    /// "--cutoff", or "cutoff in file:line": how messages name it.
    std::string spelled(std::string_view name) const;
    /// The given ones, in order of declaration, as "--name value" words: what repeats the run.
    std::vector<std::string> words() const;

  private:
    const Param* declaration(std::string_view name) const;
    std::vector<Param> declared_;
    std::map<std::string, std::string, std::less<>> given_;
    std::map<std::string, std::string, std::less<>> places_;
    std::string place_;
};

}  // namespace convoy
