// convoy conv2d: one step, `conv2d`, from a file to a file.
#include "app/command.hpp"
#include "app/job_call.hpp"

namespace convoy::command {

namespace {

std::vector<Group> groups() {
    return app::step_groups("conv2d", "Convolution");
}

int run(const Call& call) {
    return app::run_step("conv2d", call);
}

}  // namespace

extern constinit const Command conv2d{
    "conv2d", "convolve images with kernels: spectrograms, or any 2-D to 4-D dataset",
    "INPUT",  "files, quoted globs (with ** for folders), or FILE.h5:/dataset",
    false,    "convoy conv2d spectrogram.h5 -o edges.h5 --kernel sobel-x",
    groups,   run};

}  // namespace convoy::command
