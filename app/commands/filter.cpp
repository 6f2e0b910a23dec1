// convoy filter: one step, `filter`, from a file to a file.
#include "app/command.hpp"
#include "app/job_call.hpp"

namespace convoy::command {

namespace {

std::vector<Group> groups() {
    return app::step_groups("filter", "Filter");
}

int run(const Call& call) {
    return app::run_step("filter", call);
}

}  // namespace

extern constinit const Command filter{
    "filter", "FIR-filter WAV or HDF5 signals; writes HDF5, or WAV where asked",
    "INPUT",  "files, quoted globs (with ** for folders), or FILE.h5:/dataset",
    false,    "convoy filter recording.wav -o filtered.h5 --bandpass 300,3000 --transition 100",
    groups,   run};

}  // namespace convoy::command
