#pragma once

#include <algorithm>
#include <cstdint>

// The number of CTAs of a kernel that an SM holds, and the room that they leave for another kernel. Host code, without CUDA.
// Limits of allocation: CUDA C++ Programming Guide, "Compute Capabilities", and the CUDA occupancy calculator.
namespace silicon {

struct SmLimits {
  std::uint32_t registers;      // per SM
  std::uint32_t shared_memory;  // bytes per SM that its CTAs may have together
  std::uint32_t warps;
  std::uint32_t ctas;
  std::uint32_t shared_memory_of_system;  // bytes that the system adds to every CTA's shared memory: 1024 from sm_80 on
};

// Resources that one CTA requests.
struct CtaNeeds {
  std::uint32_t threads;
  std::uint32_t registers_per_thread;
  std::uint32_t shared_memory;  // static and dynamic
};

inline std::uint32_t rounded_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

inline std::uint32_t warps_of(const CtaNeeds& cta) { return rounded_up(cta.threads, 32) / 32; }

// Registers are allocated to warps in units of 256, and every sub-core holds equally many warps of a CTA.
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

// The room that `count` CTAs leave on an SM.
inline SmLimits left_by(std::uint32_t count, const CtaNeeds& cta, const SmLimits& sm) {
  return {sm.registers - count * registers_of(cta), sm.shared_memory - count * shared_memory_of(cta, sm),
          sm.warps - count * warps_of(cta), sm.ctas - count, sm.shared_memory_of_system};
}

// Dynamic shared memory that limits an SM to `count` CTAs: the largest amount with which `count` CTAs still fit.
//
//   one CTA of 233,472 bytes: 233,472 - 1,024 = 232,448
inline std::uint32_t padding_for(std::uint32_t count, const SmLimits& sm) {
  return sm.shared_memory / count / 128 * 128 - sm.shared_memory_of_system;
}

}  // namespace silicon
