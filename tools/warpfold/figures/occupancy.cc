#include "tools/warpfold/figures/occupancy.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/sm/kernel_image.h"
#include "workloads/common/cta_footprint.h"

namespace warpfold::cli {

namespace {

constexpr uint32_t kMostRegisters = 255;  // per thread: CUDA C++ Programming Guide, compute capabilities
constexpr uint32_t kMostWarps = 32;       // per CTA: the same table

uint32_t fitting(const std::vector<sim::ResidencyLimit>& limits) {
  return std::ranges::min(limits, {}, &sim::ResidencyLimit::ctas).ctas;
}

uint32_t limit_of(const std::vector<sim::ResidencyLimit>& limits, std::string_view resource) {
  return std::ranges::find(limits, resource, &sim::ResidencyLimit::resource)->ctas;
}

// Returns the largest value from `least` to `most` for which `fits` holds; none if `fits(least)` is false. `fits` must be
// monotonic: true up to some value, false above.
std::optional<uint32_t> largest(uint32_t least, uint32_t most, const std::function<bool(uint32_t)>& fits) {
  if (least > most || !fits(least)) return std::nullopt;
  while (least < most) {
    const uint32_t middle = least + (most - least + 1) / 2;
    if (fits(middle)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

void add_point(uint32_t value, uint32_t ctas, uint32_t warps, configs::CtaCurve& curve) {
  configs::CtaCurvePoint& point = *curve.add_points();
  point.set_value(value);
  point.set_ctas(ctas);
  point.set_warps(ctas * warps);
}

// Adds a point at each value after which the number of CTAs drops.
void add_steps(uint32_t least, uint32_t most, uint32_t warps, const std::function<uint32_t(uint32_t)>& ctas_with,
               configs::CtaCurve& curve) {
  for (uint32_t value = least; value <= most; ++value) {
    const uint32_t ctas = ctas_with(value);
    if (ctas == 0) return;
    const std::optional<uint32_t> last = largest(value, most, [&](uint32_t each) { return ctas_with(each) >= ctas; });
    add_point(*last, ctas, warps, curve);
    value = *last;
  }
}

void add_curves(const sim::Spec& spec, const traces::Kernel& kernel, configs::KernelOccupancy& into) {
  traces::Kernel varied = kernel;
  const uint32_t warps = kernel.warps_per_cta();
  const auto curve = [&](const std::string& what, uint32_t now) -> configs::CtaCurve& {
    configs::CtaCurve& made = *into.add_curves();
    made.set_what(what);
    made.set_now(now);
    return made;
  };
  add_steps(
      1, kMostRegisters, warps,
      [&](uint32_t registers) {
        varied.registers_per_thread = registers;
        return fitting(residency_limits(spec, varied));
      },
      curve("registers_per_thread", kernel.registers_per_thread));
  varied = kernel;
  add_steps(
      0, spec.shared_memory_per_cta_max, warps,
      [&](uint32_t bytes) {
        varied.shared_memory_bytes = bytes;
        return fitting(residency_limits(spec, varied));
      },
      curve("shared_memory_bytes", kernel.shared_memory_bytes));
  varied = kernel;
  varied.roles.resize(1);
  configs::CtaCurve& sizes = curve("warps_per_cta", warps);
  for (uint32_t each = 1; each <= kMostWarps; ++each) {
    varied.roles.front().warps = each;
    add_point(each, fitting(residency_limits(spec, varied)), each, sizes);
  }
}

}  // namespace

configs::KernelOccupancy occupancy_of(const sim::Spec& spec, const policies::PlannedKernel& planned, uint32_t sms) {
  const traces::Kernel& kernel = planned.kernel;
  configs::KernelOccupancy into;
  into.set_kernel(kernel.name);
  into.set_of(planned.of);
  into.set_warps_per_cta(kernel.warps_per_cta());
  into.set_registers_per_thread(kernel.registers_per_thread);
  into.set_shared_memory_bytes(kernel.shared_memory_bytes);
  into.set_tensor_memory_columns(kernel.tensor_memory_columns);
  into.set_ctas(kernel.ctas());
  into.set_sms(planned.sms.count > 0 ? planned.sms.count : sms);
  std::vector<sim::ResidencyLimit> limits = residency_limits(spec, kernel);
  std::ranges::stable_sort(limits, {}, &sim::ResidencyLimit::ctas);
  for (const sim::ResidencyLimit& limit : limits) {
    if (limit.resource == "tensor_memory" && kernel.tensor_memory_columns == 0) continue;
    configs::CtaLimit& entry = *into.add_limits();
    entry.set_resource(limit.resource);
    entry.set_ctas(limit.ctas);
  }
  const uint64_t slots = uint64_t{limits.front().ctas} * into.sms();
  into.set_ctas_per_sm(limits.front().ctas);
  into.set_limiter(into.ctas() < slots ? "grid" : limits.front().resource);
  into.set_warps_per_sm(limits.front().ctas * kernel.warps_per_cta());
  into.set_warp_slots(spec.warp_slots);
  into.set_waves(static_cast<double>(into.ctas()) / static_cast<double>(slots));
  add_curves(spec, kernel, into);
  return into;
}

std::optional<configs::SmallerFootprint> footprint_for(const sim::Spec& spec, const policies::PlannedKernel& planned,
                                                       uint32_t ctas) {
  traces::Kernel varied = planned.kernel;
  const auto fits_by = [&](std::string_view resource) { return limit_of(residency_limits(spec, varied), resource) >= ctas; };
  if (!fits_by("warp_slots") || !fits_by("cta_slots") || !fits_by("tensor_memory")) return std::nullopt;
  configs::SmallerFootprint smaller;
  const std::string path = "kernel." + planned.of + ".footprint.";
  if (!fits_by("registers")) {
    if (workloads::moves_registers(varied)) return std::nullopt;
    const auto registers = largest(1, varied.registers_per_thread, [&](uint32_t each) {
      varied.registers_per_thread = each;
      return fits_by("registers");
    });
    if (!registers) return std::nullopt;
    varied.registers_per_thread = *registers;
    smaller.add_setting(path + "registers_per_thread=" + std::to_string(*registers));
  }
  if (!fits_by("shared_memory")) {
    const auto bytes = largest(0, varied.shared_memory_bytes, [&](uint32_t each) {
      varied.shared_memory_bytes = each;
      return fits_by("shared_memory");
    });
    if (!bytes) return std::nullopt;
    varied.shared_memory_bytes = *bytes;
    smaller.add_setting(path + "shared_memory_bytes=" + std::to_string(*bytes));
  }
  smaller.set_ctas(fitting(residency_limits(spec, varied)));
  smaller.set_registers_per_thread(varied.registers_per_thread);
  smaller.set_shared_memory_bytes(varied.shared_memory_bytes);
  return smaller;
}

std::string why_no_more(const sim::Spec& spec, const policies::PlannedKernel& planned, const configs::KernelOccupancy& now) {
  if (now.limiter() == "grid") return "the grid has fewer CTAs than fit";
  const std::vector<sim::ResidencyLimit> limits = residency_limits(spec, planned.kernel);
  for (const std::string_view fixed : {"warp_slots", "cta_slots", "tensor_memory"}) {
    if (limit_of(limits, fixed) == now.ctas_per_sm()) return "the SM's " + std::string(fixed) + " hold no more CTAs of this size";
  }
  if (!planned.also.empty()) return "the launch joins several kernels";
  if (limit_of(limits, "registers") == now.ctas_per_sm() && workloads::moves_registers(planned.kernel))
    return "the kernel's warpgroups redistribute the registers of its launch (setmaxnreg)";
  return footprint_for(spec, planned, now.ctas_per_sm() + 1) ? "" : "no footprint is small enough";
}

}  // namespace warpfold::cli
