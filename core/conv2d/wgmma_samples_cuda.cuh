// The samples of a step on their way from memory into lines.
#pragma once

#include "core/conv2d/wgmma_pack_cuda.cuh"
#include "core/conv2d/wgmma_source_cuda.cuh"

namespace convoy::conv2d::gpu {

constexpr int half_threads = line_threads / 2;

/// How the samples of a place are found: channels in order, which are neighbours that may be read four at a
/// time (four threads make a place) or not, or entry by entry.
enum class Reading { vectors, channels, entries };

/// Where the i-th four samples of this thread wait.
__device__ __forceinline__ float4* waiting(int i) {
    extern __shared__ __align__(128) unsigned char memory[];
    return reinterpret_cast<float4*>(memory + waiting_at) + i * line_threads + threadIdx.x -
           groups * group_threads;
}

/// Keeps the compiler from computing what follows from a value before it is needed, and from keeping it in
/// registers.
__device__ __forceinline__ int settled(int x) {
    asm volatile("" : "+r"(x));
    return x;
}
__device__ __forceinline__ const float* settled(const float* x) {
    asm volatile("" : "+l"(x));
    return x;
}

/// Samples that are there, or zeros: without branches, so that many are on their way.
__device__ __forceinline__ float read(const float* from, bool there) {
    float v;
    asm("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\nmov.b32 %0, 0;\n@p ld.global.nc.f32 %0, [%1];\n}"
        : "=&f"(v)
        : "l"(from), "r"(static_cast<int>(there)));
    return v;
}
__device__ __forceinline__ void read(const float* from, bool there, float (&v)[4]) {
    asm("{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\n"
        "mov.b32 %3, 0;\n@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
        : "=&f"(v[0]), "=&f"(v[1]), "=&f"(v[2]), "=&f"(v[3])
        : "l"(from), "r"(static_cast<int>(there)));
}

/// The same by a copy into shared memory.
template <int bytes>
__device__ __forceinline__ void read_into(float4* to, int i, const float* from, bool there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to)) + 4 * i),
                 "l"(from), "n"(bytes), "r"(there ? bytes : 0)
                 : "memory");
}

/// The samples that one thread brings of a step: in registers as far as these suffice, then in shared memory,
/// where those beyond the tile's columns wait too.
template <bool exact, Reading reading>
class Samples {
    static constexpr bool vectors = reading == Reading::vectors;
    static constexpr int rows = rows_of(exact), turns = chunks * tile_columns / half_threads;
    static constexpr int in_registers = rows - waiting_rows(exact);

    /// Four entries of a place of a line.
    struct Unit {
        int line, chunk, place;
    };
    /// Where the samples of an entry are, or of the channels from one on.
    struct Spot {
        const float* from;
        int right, channels;
        unsigned there;  // lines, a bit each
    };

  public:
    /// `thread`: of those that make the lines of a step.
    __device__ __forceinline__ Samples(const Job& job, const Tables& t, int thread)
        : job_(job), t_(t), thread_(thread) {}

    __device__ __forceinline__ void load(const Source& source, const Step& step) {
        thread_ = settled(thread_);
        const Spot spot = spot_of(source, step);
        if constexpr (reading == Reading::entries)
            take_entries(source, spot);
        else if (vectors || spot.channels >= GemmSteps::entries_each)
            take_channels<true>(source, spot);
        else
            take_channels<false>(source, spot);
        if (first_of_warp() < units_beyond()) {
            take(source, spot, beyond(0), [&](int e, const float* from, bool there) {
                read_into<vectors ? 16 : 4>(waiting(0), e, from, there);
            });
        }
    }
    /// Puts down what has been loaded; lines: [row][upper, lower half][chunk][place].
    __device__ __forceinline__ void store(const Source& source, int step, unsigned char* lines) {
        thread_ = settled(thread_);
#pragma unroll
        for (int r = 0; r < in_registers; ++r)
#pragma unroll
            for (int j = 0; j < turns; ++j)
                put(lines, {r, chunk(j), place(j)}, v_[r][j]);
        asm volatile("cp.async.wait_all;" ::: "memory");
        const auto put_waiting = [&](int i, const Unit& unit) {
            const float4 x = *waiting(i);
            put(lines, unit, {x.x, x.y, x.z, x.w});
        };
#pragma unroll
        for (int r = in_registers; r < rows; ++r)
#pragma unroll
            for (int j = 0; j < turns; ++j)
                put_waiting(1 + (r - in_registers) * turns + j, {r, chunk(j), place(j)});
        if (thread_ < units_beyond()) put_waiting(0, beyond(0));
        if (units_beyond() <= half_threads) return;
        const Spot spot = spot_of(source, Step(t_, step));
        for (int i = half_threads; first_of_warp() + i < units_beyond(); i += half_threads) {
            const Unit unit = beyond(i);
            float v[4];
            take(source, spot, unit, [&](int e, const float* from, bool there) {
                if constexpr (vectors)
                    read(from, there, v);
                else
                    v[e] = read(from, there);
            });
            put(lines, unit, v);
        }
    }

  private:
    __device__ __forceinline__ int chunk(int j) const {
        return vectors ? static_cast<unsigned>(thread_) % chunks : j;
    }
    __device__ __forceinline__ int place(int j) const {
        return vectors ? static_cast<unsigned>(thread_) / chunks + half_threads / chunks * j : thread_;
    }
    __device__ __forceinline__ int first_of_warp() const {
        return thread_ & ~31;
    }
    /// Those whose places are beyond a tile's columns.
    __device__ __forceinline__ int units_beyond() const {
        return rows * chunks * (t_.width - tile_columns);
    }
    /// This thread's from the i-th on; the last one where there is none.
    __device__ __forceinline__ Unit beyond(int i) const {
        const unsigned unit = min(thread_ + i, units_beyond() - 1);
        return {static_cast<int>(unit % rows), static_cast<int>(unit / rows % chunks),
                static_cast<int>(tile_columns + unit / (rows * chunks))};
    }

    /// Of the step. Entries: each lane works one of them out.
    __device__ __forceinline__ Spot spot_of(const Source& source, const Step& step) const {
        constexpr bool by_entries = reading == Reading::entries;
        const Job::Steps& hop = job_.in_steps;
        const int4 entry = __ldg(t_.entries + step.kind * GemmSteps::entries_each +
                                 (by_entries ? threadIdx.x % GemmSteps::entries_each : 0));
        const int down = by_entries ? entry.y : step.down;
        Spot spot{source.start + entry.x * hop.channel + down * hop.row + entry.z * hop.column, entry.z,
                  job_.group_channels - entry.x, 0};
#pragma unroll
        for (int r = 0; r < rows; ++r)
            if (source.rows.has(r * job_.stride_rows + down)) spot.there |= 1u << r;
        if (by_entries && entry.x < 0) spot.there = 0;
        return spot;
    }
    /// What the lane of an entry has worked out, for all lanes; `entry` may differ between them.
    static __device__ __forceinline__ Spot shared(const Spot& spot, int entry) {
        return {reinterpret_cast<const float*>(
                    __shfl_sync(~0u, reinterpret_cast<unsigned long long>(spot.from), entry)),
                __shfl_sync(~0u, spot.right, entry), 0, __shfl_sync(~0u, spot.there, entry)};
    }

    /// Reads sample e, or all four, of a unit.
    __device__ __forceinline__ void keep(int r, int j, int e, const float* from, bool there) {
        if (r >= in_registers)
            read_into<vectors ? 16 : 4>(waiting(1 + (r - in_registers) * turns + j), e, from, there);
        else if constexpr (vectors)
            read(from, there, v_[r][j]);
        else
            v_[r][j][e] = read(from, there);
    }
    __device__ __forceinline__ void take_entries(const Source& source, const Spot& spot) {
        const Index row_hop = job_.stride_rows * job_.in_steps.row;
        const int column = thread_ * job_.stride_columns;
        const Index mine = Index{column} * job_.in_steps.column;
#pragma unroll
        for (int e = 0; e < GemmSteps::entries_each; ++e) {
            const Spot at = shared(spot, e);
            const unsigned there = source.columns.has(column + at.right) ? at.there : 0;
            const float* from = at.from + mine;
#pragma unroll
            for (int r = 0; r < rows; ++r, from = settled(from + row_hop))
                keep(r, e / 4, e % 4, from, (there >> r & 1) != 0);
        }
    }
    /// Those of the tile's columns; `all`: of as many channels as a line has, unless they are read by fours.
    template <bool all>
    __device__ __forceinline__ void take_channels(const Source& source, const Spot& spot) {
        const Job::Steps& hop = job_.in_steps;
        constexpr int places = half_threads / chunks;
        const Index row_hop = job_.stride_rows * hop.row, channel_hop = hop.channel,
                    place_hop = Index{places} * job_.stride_columns * hop.column;
        const int column = place(0) * job_.stride_columns;
        const float* line = spot.from + Index{column} * hop.column + 4 * chunk(0) * hop.channel;
        unsigned there[vectors ? turns : 1];  // as Spot has it, for the columns
#pragma unroll
        for (int j = 0; j < (vectors ? turns : 1); ++j) {
            const bool inside = source.columns.has(column + spot.right + j * places * job_.stride_columns);
            there[j] = inside && (!vectors || 4 * chunk(0) < spot.channels) ? spot.there : 0;
        }
#pragma unroll
        for (int r = 0; r < rows; ++r, line = settled(line + row_hop)) {
            const float* from = line;
#pragma unroll
            for (int j = 0; j < turns; ++j) {
                const bool inside = (there[vectors ? j : 0] >> r & 1) != 0;
                if constexpr (vectors) {
                    keep(r, j, 0, from, inside);
                    from = settled(from + place_hop);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e, from = settled(from + channel_hop))
                        keep(r, j, e, from, inside & (all | (4 * j + e < spot.channels)));
                }
            }
        }
    }
    /// Any unit, by read(entry, from, whether it is there). All lanes of a warp take one.
    template <class Read>
    __device__ __forceinline__ void take(const Source& source, const Spot& spot, const Unit& unit,
                                         Read&& read) const {
        const Job::Steps& hop = job_.in_steps;
        const int column = unit.place * job_.stride_columns;
        const Index mine = Index{column} * hop.column + unit.line * (job_.stride_rows * hop.row);
#pragma unroll
        for (int e = 0; e < (vectors ? 1 : 4); ++e) {
            const int entry = 4 * unit.chunk + e;
            const Spot at = reading == Reading::entries ? shared(spot, entry) : spot;
            const bool there = (at.there >> unit.line & 1) != 0 && source.columns.has(column + at.right);
            if constexpr (reading == Reading::entries)
                read(e, at.from + mine, there);
            else
                read(e, at.from + mine + entry * hop.channel, there && entry < spot.channels);
        }
    }
    __device__ __forceinline__ void put(unsigned char* lines, const Unit& unit, const float (&v)[4]) const {
        put_unit<exact>(
            reinterpret_cast<float4*>(lines + unit.line * t_.line_bytes) + unit.chunk * t_.width + unit.place,
            chunks * t_.width, v);
    }

    const Job& job_;
    const Tables& t_;
    int thread_;
    float v_[in_registers][turns][4];
};

}  // namespace convoy::conv2d::gpu
