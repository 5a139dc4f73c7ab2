#pragma once

// Conversions from counts and cycles or microseconds to the figures of the CSV. Host code, without CUDA.
namespace silicon {

// 1 MHz is one cycle per microsecond.
inline double us_of_cycles(double cycles, double clock_mhz) { return cycles / clock_mhz; }
// The actual clock of an SM: its cycles over the wall clock's nanoseconds.
//
//   175,500 cycles in 100,000 ns: 1755 MHz
inline double mhz_of(double cycles, double nanoseconds) { return 1e3 * cycles / nanoseconds; }

inline double gb_per_s(double bytes, double us) { return bytes / us / 1e3; }
inline double tflops(double operations, double us) { return operations / us / 1e6; }
inline double gemm_operations(double m, double n, double k) { return 2 * m * n * k; }

// Cycles between two instructions of a sub-core's pipe, if every warp of the sub-core issues `each` of them in `cycles`.
//
//   4 warps of 1024 each in 8192 cycles: 2 cycles per instruction
inline double cycles_each(double cycles, double warps_of_sub_core, double each) { return cycles / (warps_of_sub_core * each); }
inline double bytes_per_clk(double bytes, double cycles) { return bytes / cycles; }

// Time beside another kernel / time alone.
inline double slowdown(double beside, double alone) { return beside / alone; }

}  // namespace silicon
