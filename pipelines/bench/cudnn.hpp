// cuDNN beside the strategies of conv2d, where it can be opened: it is never linked.
#pragma once

#include <memory>
#include <string>

#include "core/conv2d/conv2d.hpp"

namespace convoy::pipelines::bench {

/// One convolution by the fastest of cuDNN's algorithms (by its own search, the first call).
class Cudnn {
  public:
    /// Why it cannot do this problem here: the library is not there, or has no such arithmetic.
    static std::string missing(const conv2d::Problem& problem);

    /// Images, weights and results are on the GPU, in the order that the problem says; float32.
    Cudnn(const conv2d::Problem& problem, const device::Device& device, const std::byte* in, std::byte* out);
    ~Cudnn();
    /// Queues it on the default queue.
    void run() const;
    /// The algorithm's number as cuDNN counts them.
    int algorithm() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace convoy::pipelines::bench
