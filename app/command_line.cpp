// The command line: CLI11 options made from the commands' declarations. The only file that knows CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "app/command.hpp"
#include "app/log.hpp"
#include "app/output.hpp"
#include "app/threads.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/conv1d/conv1d.hpp"
#include "core/device/device.hpp"
#include "core/memory/memory.hpp"
#include "io/format.hpp"
#include "pipelines/calibration.hpp"

namespace convoy::app {

namespace {

using command::Call;
using command::Command;

std::string shell_quoted(const std::string& word) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-+=./:,@%") == std::string::npos;
    if (plain) return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

// The options of one command, and the text that each was given.
struct Bound {
    const Command* command;
    CLI::App* app;
    std::vector<std::string> inputs;
    std::vector<Param> declared;
    std::map<std::string, std::vector<std::string>> texts;  // stable addresses
};

std::string spellings(const Param& p) {
    std::string names = "--" + std::string(p.name);
    if (p.also.empty()) return names;
    for (const std::string& other : split(p.also, ','))
        names = (other.size() == 1 ? "-" : "--") + other + "," + names;
    return names;
}

void add_option(Bound& bound, const Param& p, std::string_view group) {
    auto& text = bound.texts[std::string(p.name)];
    std::string help(p.help);
    if (!p.choices.empty() && p.value.size() > 0) help += " [" + std::string(p.choices) + "]";
    if (!p.fallback.empty()) help += " (default " + std::string(p.fallback) + ")";
    CLI::Option* option = nullptr;
    if (p.kind == Kind::flag) {
        option = bound.app->add_flag_callback(
            spellings(p), [&text] { text = {""}; }, help);
    } else {
        option = bound.app->add_option(spellings(p), text, help);
        option->expected(p.optional_value ? 0 : 1, 1)->type_name(std::string(p.value));
        option->allow_extra_args(false);  // a word behind the value is an input
        if (p.repeated)
            option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false)->take_all();
        else if (p.name == "output")
            option->take_all();  // a second one is told: the first would be lost without a word
        else
            option->take_last();
    }
    option->group(std::string(group));
}

void bind(Bound& bound) {
    const Command& c = *bound.command;
    bound.app->footer("Example:\n  " + std::string(c.example));
    if (!c.inputs.empty()) {
        auto* inputs = bound.app->add_option(std::string(c.inputs), bound.inputs, std::string(c.inputs_help));
        inputs->required(c.inputs_required)->type_name("");
    }
    auto groups = c.groups();
    groups.push_back({"Everywhere", command::common_params()});
    for (const auto& [title, params] : groups)
        for (const Param& p : params) {
            bound.declared.push_back(p);
            add_option(bound, p, title);
        }
}

std::string lines_of(const std::vector<std::string>& texts) {
    std::string lines;
    for (const std::string& text : texts)
        lines += (lines.empty() ? "" : "\n") + text;
    return lines;
}

Call call_of(const Bound& bound, std::string words) {
    Call call{bound.inputs, Params(bound.declared), std::move(words)};
    for (const Param& p : bound.declared) {
        const auto& text = bound.texts.at(std::string(p.name));
        if (p.name == "output" && text.size() > 1)
            throw usage_error("two outputs are named: " + text[0] + " and " + text[1], "name one");
        const bool bare = text.empty() && bound.app->count("--" + std::string(p.name)) > 0;
        if (!text.empty()) call.params.set(p.name, p.repeated ? lines_of(text) : text.back());
        if (bare) call.params.set(p.name, "");
    }
    return call;
}

bool may_lack_value(const std::string& word, const std::vector<Bound*>& bound) {
    for (const Bound* b : bound)
        for (const Param& p : b->declared)
            if (p.optional_value && word == "--" + std::string(p.name)) return true;
    return false;
}

// The words in an order that leaves no doubt: an option that may lack its number (`--db`) goes to the end
// where what follows is none, and what stands behind `--` is a name whatever it begins with.
std::vector<std::string> ordered(const std::vector<std::string>& words, const std::vector<Bound*>& bound) {
    std::vector<std::string> first, last;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--") {
            for (++i; i < words.size(); ++i)
                first.push_back(words[i].starts_with('-') ? "./" + words[i] : words[i]);
        } else if (i + 1 < words.size() && may_lack_value(words[i], bound) && !parse_number(words[i + 1])) {
            last.push_back(words[i]);
        } else {
            first.push_back(words[i]);
        }
    }
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

std::string version_text() {
    std::string text = "convoy " + std::string(version);
    const auto list = [](const auto& catalog) {
        std::string names;
        for (const auto* member : catalog)
            if (names.find(member->name) == std::string::npos) names += " " + std::string(member->name);
        return names;
    };
    text += "\nfile formats:" + list(io::catalog());
    text += "\n1-D strategies:";
    for (const auto* s : conv1d::catalog())
        text += " " + std::string(s->name) + "(" + std::string(name_of(s->backend)) + ")";
    text += "\nmemory modes:" + list(memory::catalog());
    return text;
}

// What CLI11 says, as one line with a hint.
Error rewritten(const CLI::ParseError& e, const std::vector<Bound*>& bound) {
    std::string what = e.what();
    if (const auto end = what.find('\n'); end != std::string::npos) what.resize(end);
    for (const Bound* b : bound) {
        if (!b->app->parsed()) continue;
        const auto at = what.find("--");
        std::vector<std::string> names;
        for (const Param& p : b->declared)
            names.push_back("--" + std::string(p.name));
        const std::string near = at == std::string::npos ? "" : nearest(what.substr(at), names);
        const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr;
        return usage_error(what, unknown && !near.empty()
                                     ? "did you mean " + near + "?"
                                     : "see convoy " + std::string(b->command->name) + " --help");
    }
    return usage_error(what, "see convoy --help");
}

Error unknown_command(const std::string& word, const std::vector<Bound*>& bound) {
    std::vector<std::string> names;
    for (const Bound* b : bound)
        names.emplace_back(b->command->name);
    const std::string near = nearest(word, names);
    return usage_error("there is no command '" + word + "'",
                       near.empty() ? "see convoy --help" : "did you mean '" + near + "'?");
}

int run_parsed(const Bound& bound, std::string words) {
    const Call call = call_of(bound, std::move(words));
    configure_log(call.params);
    pipelines::load_calibration();
    const Threads limit(threads_of(call.params));
    return bound.command->run(call);
}

}  // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app("convoy filters long signals: WAV and HDF5 in, HDF5 out, on a GPU where there is one.",
                 "convoy");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.set_help_flag("-h,--help", "print this help and leave");
    std::vector<std::unique_ptr<Bound>> all;
    std::vector<Bound*> views;
    // The options of one command are soon made, those of all take a millisecond of each start.
    const bool named = argc > 1 && command::catalog().find(argv[1]) != nullptr;
    for (const Command* c : command::catalog()) {
        auto bound = std::make_unique<Bound>();
        bound->command = c;
        bound->app = app.add_subcommand(std::string(c->name), std::string(c->summary));
        if (!named || c->name == std::string_view(argv[1])) bind(*bound);
        views.push_back(bound.get());
        all.push_back(std::move(bound));
    }
    std::string words = "convoy";
    for (int i = 1; i < argc; ++i)
        words += " " + shell_quoted(argv[i]);
    try {
        std::vector<std::string> given = ordered({argv + 1, argv + argc}, views);
        std::reverse(given.begin(), given.end());  // as CLI11 wants them
        app.parse(std::move(given));
    } catch (const CLI::CallForHelp&) {
        const auto used = app.get_subcommands();
        write_text("-", used.empty() ? app.help() : used.front()->help(app.get_name()));
        return 0;
    } catch (const CLI::CallForVersion&) {
        write_text("-", version_text() + "\n");
        return 0;
    } catch (const CLI::ParseError& e) {
        if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty())
            throw unknown_command(argv[1], views);
        throw rewritten(e, views);
    }
    for (const Bound* b : views)
        if (b->app->parsed()) return run_parsed(*b, std::move(words));
    return 2;
}

}  // namespace convoy::app
