// What all CUDA strategies share on the host: lengths, the taps and scales on the device, and the Job of each
// run. Windows are any memory that the device can reach. A strategy supplies the launch of its kernel.
#pragma once

#include <cuda_runtime.h>

#include "core/conv1d/conv1d.hpp"
#include "core/conv1d/cuda_maps.hpp"

namespace convoy::conv1d::gpu {

class CudaStage : public Stage {
  public:
    /// A strategy that `guards` judges its own outputs, and needs no second look at those of a wide range.
    CudaStage(const Problem&, const device::Device&, bool guards = false);

    Shape shape() const override;
    SampleType type() const override { return p_.arithmetic; }
    Span needed(Span out) const override;
    Index needed_at_most(Index count) const override;
    void run(const Window& in, const Window& out, Lanes lanes, device::Stream& stream) final;
    Facts facts() const override;

  protected:
    /// Queues all kernels of a run. A strategy that shares something with other stages holds it meanwhile.
    virtual void queue(Job, cudaStream_t);
    /// Queues the kernel. The windows are not empty.
    virtual void launch(const Job&, cudaStream_t) = 0;
    /// Whether the kernel for this run looks for outputs of a wide range (wide_cuda.cuh) by the way.
    virtual bool looks(const Job&) const { return false; }

    const Problem& problem() const { return p_; }
    const device::Device& device() const { return device_; }
    Index taps() const { return static_cast<Index>(p_.taps.size()); }
    bool single() const { return p_.arithmetic == SampleType::float32; }

  private:
    Problem p_;
    device::Device device_;
    device::Buffer scales_;
    bool one_scale_ = false;
    // Outputs of a wide range: the taps backwards in double; how many there were, and two Ranges for runs in
    // turns.
    device::Buffer wide_taps_, wide_;
    int turn_ = 0;
};

/// Queues the kernel that sums outputs of a wide range in double: where the kernel before has `looked` at all
/// samples, only if there can be any. `other` is made ready for the next run.
void launch_wide(const Job&, const device::Device&, const double* taps, unsigned long long* count,
                 Range* other, bool looked, cudaStream_t);

/// Uploads values as T of the arithmetic: float or double.
device::Buffer upload_values(const device::Device&, SampleType arithmetic, const std::vector<double>& values);

/// The taps backwards, g[j] = taps[M - 1 - j], as y[n] = sum_j g[j] x[n D + first + j] needs them.
std::vector<double> backwards(const std::vector<double>& taps);

/// The table of a Cut: each phase's taps in a row of tap_pitch, zero behind.
std::vector<double> by_phase(const Cut&, const std::vector<double>& taps, Index decimate);

/// Lets a kernel use as much shared memory as the device gives a block; returns how much that is, less the
/// little that kernels have of fixed size.
std::size_t use_shared_memory(const void* kernel, const device::Device&);

/// The least seconds that 1e9 outputs can take: bytes at the rate of memory, products at the rate of the
/// arithmetic, from figures measured on one H200 and scaled by multiprocessors.
struct Floor {
    double memory, arithmetic;
};
Floor floor_of(const Problem&, const device::Device&);

/// The modelled time of a strategy that takes `slowdown` times as long as its products need, and does little
/// else meanwhile: none of the textbook four hides the way of its samples.
double time_of(const Problem&, const device::Device&, double slowdown);

}  // namespace convoy::conv1d::gpu
