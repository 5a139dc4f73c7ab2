#pragma once

#include <algorithm>
#include <cstdint>

// How many CTAs of a kernel an SM holds, and what is left for another kernel. Host code, without CUDA.
// Limits of allocation: CUDA C++ Programming Guide, "Compute Capabilities", and the CUDA occupancy calculator.
namespace silicon {

struct SmLimits {
  std::uint32_t registers;      // of an SM
  std::uint32_t shared_memory;  // bytes of an SM that CTAs may have together
  std::uint32_t warps;
  std::uint32_t ctas;
  std::uint32_t shared_memory_of_system;  // bytes that every CTA costs besides its own: 1024 from sm_80 on
};

// What one CTA takes.
struct CtaNeeds {
  std::uint32_t threads;
  std::uint32_t registers_per_thread;
  std::uint32_t shared_memory;  // static and dynamic
};

inline std::uint32_t rounded_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

inline std::uint32_t warps_of(const CtaNeeds& cta) { return rounded_up(cta.threads, 32) / 32; }

// Registers are given to warps in units of 256, and every sub-core gets as many warps of a CTA as the next.
//
//   128 threads of 168 registers: 4 warps x 168 x 32 = 21,504
inline std::uint32_t registers_of(const CtaNeeds& cta) {
  return rounded_up(warps_of(cta), 4) * rounded_up(cta.registers_per_thread * 32, 256);
}

inline std::uint32_t shared_memory_of(const CtaNeeds& cta, const SmLimits& sm) {
  return rounded_up(cta.shared_memory + sm.shared_memory_of_system, 128);
}

inline std::uint32_t ctas_per_sm(const CtaNeeds& cta, const SmLimits& sm) {
  return std::min(
      {sm.registers / registers_of(cta), sm.shared_memory / shared_memory_of(cta, sm), sm.warps / warps_of(cta), sm.ctas});
}

// What `count` CTAs leave of an SM.
inline SmLimits left_by(std::uint32_t count, const CtaNeeds& cta, const SmLimits& sm) {
  return {sm.registers - count * registers_of(cta), sm.shared_memory - count * shared_memory_of(cta, sm),
          sm.warps - count * warps_of(cta), sm.ctas - count, sm.shared_memory_of_system};
}

// Dynamic shared memory that keeps an SM from holding more than `count` CTAs: the largest with which `count` still fit.
//
//   one CTA of 233,472 bytes: 233,472 - 1,024 = 232,448
inline std::uint32_t padding_for(std::uint32_t count, const SmLimits& sm) {
  return sm.shared_memory / count / 128 * 128 - sm.shared_memory_of_system;
}

}  // namespace silicon
