// A complex FFT of 4096 or 16384 points by a block of threads, and the way back: what a convolution needs.
// Plain arithmetic that the kernel and host tests share; between steps the caller makes threads wait.
//
// With N = R R 16, n = (n0 R + n1) 16 + n2 and k = k0 + R k1 + R^2 k2 (Cooley and Tukey 1965) a thread keeps
// R points: first all n0 of one (n1, n2), then all n1 of one (k0, n2), then all n2 of R / 16 pairs (k0, k1).
// Between them points change threads through shared memory, as rows k0 of R x 17 numbers: the 17 keeps 16
// threads that read along a row, or down it, on different banks. The way back takes the same steps in reverse
// order, with real and imaginary parts exchanged, which turns a transform into its inverse: nothing is put in
// order in between.
#pragma once

#include <vector>

#include "core/fft/registers.hpp"

namespace convoy::fft {

template <class T, int R>
struct BlockFft {
    static_assert(R == 16 || R == 32);
    static constexpr int size = R * R * 16, points = R, threads = R * 16;
    static constexpr int sums = R / 16;          // transforms over n2 of a thread
    static constexpr int row = R * 17;           // of an exchange
    static constexpr int exchange = R * row;     // complex numbers in shared memory
    static constexpr int turns = size + R * 16;  // complex numbers in the table of block_turns()

    /// The thread's points are a[n0] = x[n0 * threads + thread]. All threads of the block wait after it.
    CONVOY_HD static void spread(Complex<T> (&a)[R], int thread, const Complex<T>* turn, Complex<T>* x) {
        transform_registers(a);
        x += thread / 16 * 17 + thread % 16;
        turn += thread;
        turned_by<R, false>({}, turn, threads,
                            [&](int k, Complex<T> w) { x[k * row] = k == 0 ? a[0] : a[reversed(k, R)] * w; });
    }

    /// The 16 threads of a row wait after it.
    CONVOY_HD static void middle(int thread, const Complex<T>* turn, Complex<T>* x) {
        Complex<T> a[R];
        x += thread / 16 * row + thread % 16;
        turn += size + thread % 16;
        CONVOY_UNROLL
        for (int n = 0; n < R; ++n)
            a[n] = x[n * 17];
        transform_registers(a);
        turned_by<R, false>({}, turn, 16,
                            [&](int k, Complex<T> w) { x[k * 17] = k == 0 ? a[0] : a[reversed(k, R)] * w; });
    }

    /// b[s][j] is bin slot_bin(s, j, thread).
    CONVOY_HD static void spectrum(Complex<T> (&b)[sums][16], int thread, const Complex<T>* x) {
        CONVOY_UNROLL
        for (int s = 0; s < sums; ++s) {
            const Complex<T>* const from = x + thread / 16 * row + (thread % 16 + 16 * s) * 17;
            CONVOY_UNROLL
            for (int n = 0; n < 16; ++n)
                b[s][n] = from[n];
            transform_registers(b[s]);
        }
    }
    CONVOY_HD static constexpr int slot_bin(int s, int j, int thread) {
        return thread / 16 + R * (thread % 16 + 16 * s) + R * R * reversed(j, 16);
    }

    /// Back from b in the order of spectrum(). The 16 threads of a row wait after it.
    CONVOY_HD static void back(const Complex<T> (&b)[sums][16], int thread, const Complex<T>* turn,
                               Complex<T>* x) {
        CONVOY_UNROLL
        for (int s = 0; s < sums; ++s) {
            Complex<T> a[16];
            CONVOY_UNROLL
            for (int k = 0; k < 16; ++k)
                a[k] = {b[s][reversed(k, 16)].im, b[s][reversed(k, 16)].re};
            transform_registers(a);
            Complex<T>* const to = x + thread / 16 * row + (thread % 16 + 16 * s) * 17;
            const Complex<T>* const by = turn + size + (thread % 16 + 16 * s) * 16;
            turned_by<16, false>(
                {}, by, 1, [&](int n, Complex<T> w) { to[n] = n == 0 ? a[0] : a[reversed(n, 16)] * w; });
        }
    }

    /// All threads of the block wait after it.
    CONVOY_HD static void middle_back(int thread, const Complex<T>* turn, Complex<T>* x) {
        Complex<T> a[R];
        x += thread / 16 * row + thread % 16;
        turn += thread / 16 * threads;
        CONVOY_UNROLL
        for (int k = 0; k < R; ++k)
            a[k] = x[k * 17];
        transform_registers(a);
        turned_by<R, true>(from_table(turn + thread % 16), turn, 16,
                           [&](int n, Complex<T> w) { x[n * 17] = a[reversed(n, R)] * w; });
    }

    /// a[n0] is N times the sample n0 * threads + thread.
    CONVOY_HD static void gather(Complex<T> (&a)[R], int thread, const Complex<T>* x) {
        Complex<T> c[R];
        x += thread / 16 * 17 + thread % 16;
        CONVOY_UNROLL
        for (int k = 0; k < R; ++k)
            c[k] = x[k * row];
        transform_registers(c);
        CONVOY_UNROLL
        for (int n = 0; n < R; ++n)
            a[n] = {c[reversed(n, R)].im, c[reversed(n, R)].re};
    }

  private:
    /// Calls f(k, start w^k) for k = 0 .. Count-1 (f(k, w^k) for k = 1 .. where it has no start), w^k being
    /// table[k * step]: a quarter of them and three are read, the others are products of two, for reading
    /// takes longer than multiplying.
    template <int Count, bool Started, class F>
    CONVOY_HD static void turned_by(Complex<T> start, const Complex<T>* table, int step, const F& f) {
        Complex<T> low[4] = {start};
        CONVOY_UNROLL
        for (int b = 1; b < 4; ++b)
            low[b] = Started ? start * from_table(table + b * step) : from_table(table + b * step);
        CONVOY_UNROLL
        for (int a = 0; a < Count; a += 4) {
            const Complex<T> high = a == 0 ? Complex<T>{1, 0} : from_table(table + a * step);
            CONVOY_UNROLL
            for (int b = 0; b < 4; ++b)
                f(a + b, a == 0 ? low[b] : b == 0 && !Started ? high : low[b] * high);
        }
    }
};

/// What the steps of BlockFft<T, R> multiply by: exp(-2 pi i k0 t / N) as [k0][thread], then
/// exp(-2 pi i k1 n2 / (16 R)) as [k1][n2].
template <class T, int R>
std::vector<Complex<T>> block_turns();

/// The transform of real taps, sum_k taps[k] e^(-2 pi i j (k - advance) / N) / N, computed in double, as
/// [s][j][thread] in the order of BlockFft<T, R>::spectrum().
template <class T, int R>
std::vector<Complex<T>> block_spectrum(const std::vector<double>& taps, Index advance);

}  // namespace convoy::fft
