// convoy spectrogram: one step, `spectrogram`, from a file to a file.
#include "app/command.hpp"
#include "app/job_call.hpp"

namespace convoy::command {

namespace {

std::vector<Group> groups() {
    return app::step_groups("spectrogram", "Spectrogram");
}

int run(const Call& call) {
    return app::run_step("spectrogram", call);
}

}  // namespace

extern constinit const Command spectrogram{
    "spectrogram",
    "make spectrogram images of WAV or HDF5 signals; writes HDF5 (and PNG)",
    "INPUT",
    "files, quoted globs (with ** for folders), or FILE.h5:/dataset",
    false,
    "convoy spectrogram recording.wav -o spectrogram.h5 --nfft 2048 --hop 512 --db --png spectrogram.png",
    groups,
    run};

}  // namespace convoy::command
