#include "tools/warpfold/render/occupancy_report.h"

#include <boost/algorithm/string/join.hpp>
#include <vector>

#include "tools/report/advice.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

constexpr double kPercent = 100;

// Returns the number of CTAs that each resource allows: "registers 1, warp_slots 5".
std::string limits_text(const configs::KernelOccupancy& kernel) {
  std::string text;
  for (const configs::CtaLimit& limit : kernel.limits())
    text += (text.empty() ? "" : ", ") + limit.resource() + " " + std::to_string(limit.ctas());
  return text;
}

double occupancy(const configs::KernelOccupancy& kernel) {
  return kPercent * static_cast<double>(kernel.warps_per_sm()) / static_cast<double>(kernel.warp_slots());
}

Table kernel_table(const configs::OccupancyStudy& study) {
  Table table({"kernel", "warps/CTA", "registers", "shared B", "CTAs/SM that fit", "warps/SM that fit", "occupancy %", "waves",
               "occupancy limit", "room for CTAs by resource"});
  for (const configs::KernelOccupancy& kernel : study.kernels()) {
    table.add({kernel.kernel(), uint64_t{kernel.warps_per_cta()}, uint64_t{kernel.registers_per_thread()},
               uint64_t{kernel.shared_memory_bytes()}, uint64_t{kernel.ctas_per_sm()}, uint64_t{kernel.warps_per_sm()},
               Cell(occupancy(kernel), 1), Cell(kernel.waves(), 2), kernel.limiter(), limits_text(kernel)});
  }
  return table;
}

Table smaller_table(const configs::OccupancyStudy& study) {
  Table table({"kernel", "CTAs/SM that fit", "registers", "shared B", "speed-up", "kernel's", "setting"});
  for (const configs::KernelOccupancy& kernel : study.kernels()) {
    for (const configs::SmallerFootprint& smaller : kernel.smaller()) {
      std::string settings;
      for (const std::string& setting : smaller.setting()) settings += (settings.empty() ? "--set " : " --set ") + setting;
      const bool ran = smaller.not_run().empty();
      table.add({kernel.kernel(), uint64_t{smaller.ctas()}, uint64_t{smaller.registers_per_thread()},
                 uint64_t{smaller.shared_memory_bytes()}, ran ? Cell(smaller.speedup(), 3) : Cell("does not run"),
                 ran ? Cell(smaller.kernel_speedup(), 3) : Cell("-"), ran ? settings : smaller.not_run()});
    }
  }
  return table;
}

// Returns a curve as "up to 32: 2, 64: 1". Only powers of two are shown for sizes of CTAs.
std::string curve_text(const configs::CtaCurve& curve) {
  constexpr size_t kShown = 8;  // points with the fewest CTAs
  std::vector<std::string> steps;
  for (const configs::CtaCurvePoint& point : curve.points()) {
    const bool power = (point.value() & (point.value() - 1)) == 0;
    if (curve.what() == "warps_per_cta" && !power) continue;
    steps.push_back(std::to_string(point.value()) + ": " + std::to_string(point.ctas()));
  }
  std::string text = steps.size() > kShown ? "..." : "";
  for (size_t s = steps.size() > kShown ? steps.size() - kShown : 0; s < steps.size(); ++s)
    text += (text.empty() ? "" : ", ") + steps[s];
  return text;
}

Table curve_table(const configs::OccupancyStudy& study) {
  Table table({"kernel", "quantity", "now", "CTAs/SM up to each size"});
  for (const configs::KernelOccupancy& kernel : study.kernels()) {
    for (const configs::CtaCurve& curve : kernel.curves())
      table.add({kernel.kernel(), curve.what(), uint64_t{curve.now()}, curve_text(curve)});
  }
  return table;
}

std::string occupancy_text(const configs::Result& result) {
  const configs::OccupancyStudy& study = result.occupancy();
  std::string text;
  for (const configs::Statement& advice : report::occupancy_advice(result)) text += wrapped(advice.text());
  text += "\n" + result.scenario() + " on " + result.gpu() + ", policy " + result.policy() + ": " +
          report::time_text(result.total_time_us()) + "\n" + warning_lines(result);
  text += kernel_table(study).section("Footprints: registers a thread, bytes of shared memory a CTA") +
          smaller_table(study).section("Smaller footprints, simulated with the same program") +
          curve_table(study).section("CTAs on an SM by each quantity, with the others unchanged");
  if (study.noise() > 0)
    text += "Changes of speed below " + fixed(kPercent * study.noise(), 1) + " % are within folding's error bounds.\n";
  return text;
}

std::string occupancy_csv(const configs::Result& result) {
  constexpr int kDecimals = 6;
  Table table({"scenario", "policy", "gpu", "kernel", "warps_per_cta", "registers_per_thread", "shared_memory_bytes", "ctas_per_sm",
               "warps_per_sm", "limiter", "settings", "total_time_us", "speedup", "kernel_speedup", "not_run"});
  for (const configs::KernelOccupancy& kernel : result.occupancy().kernels()) {
    table.add({result.scenario(), result.policy(), result.gpu(), kernel.kernel(), uint64_t{kernel.warps_per_cta()},
               uint64_t{kernel.registers_per_thread()}, uint64_t{kernel.shared_memory_bytes()}, uint64_t{kernel.ctas_per_sm()},
               uint64_t{kernel.warps_per_sm()}, kernel.limiter(), "", Cell(result.total_time_us(), kDecimals), Cell(1.0, kDecimals),
               Cell(1.0, kDecimals), ""});
    for (const configs::SmallerFootprint& smaller : kernel.smaller()) {
      const std::string settings = boost::algorithm::join(smaller.setting(), " ");
      table.add({result.scenario(), result.policy(), result.gpu(), kernel.kernel(), uint64_t{kernel.warps_per_cta()},
                 uint64_t{smaller.registers_per_thread()}, uint64_t{smaller.shared_memory_bytes()}, uint64_t{smaller.ctas()},
                 uint64_t{smaller.ctas()} * kernel.warps_per_cta(), "", settings, Cell(smaller.total_time_us(), kDecimals),
                 Cell(smaller.speedup(), kDecimals), Cell(smaller.kernel_speedup(), kDecimals), smaller.not_run()});
    }
  }
  return table.csv();
}

}  // namespace

std::string render_occupancy(const configs::Result& result, Format format) {
  return rendered(result, format, occupancy_text, occupancy_csv);
}

}  // namespace warpfold::cli
