#include "tools/warpfold/render/roofline_report.h"

#include <utility>
#include <vector>

#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/render/fold_line.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

constexpr double kGiga = 1e9;

Table kernel_table(const configs::Result& result) {
  Table table({"kernel", "operation", "billions", "billions/s", "roof", "% of it", "bound by"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    const configs::Roofline& roofline = kernel.roofline();
    table.add({kernel.name(), roofline.operation(), Cell(roofline.operations() / kGiga, 3), Cell(roofline.operations_per_ns(), 1),
               Cell(roofline.roof(), 1), Cell(percent(roofline.operations_per_ns(), roofline.roof()), 1), roofline.bound_by()});
  }
  return table;
}

Table level_table(const configs::Result& result) {
  std::vector<uint64_t> moved;
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (const configs::RooflineLevel& level : kernel.roofline().levels()) moved.push_back(level.bytes());
  }
  const report::ByteUnit unit = report::byte_unit(moved);
  Table table({"kernel", "level", std::string(unit.name), "operations/byte", "GB/s", "ceiling", "% of it"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (const configs::RooflineLevel& level : kernel.roofline().levels()) {
      if (level.bytes() == 0) continue;
      table.add({kernel.name(), level.level(), Cell(static_cast<double>(level.bytes()) / unit.bytes, 1), Cell(level.intensity(), 3),
                 Cell(level.gb_per_s(), 1), Cell(level.ceiling_gb_per_s(), 1),
                 Cell(percent(level.gb_per_s(), level.ceiling_gb_per_s()), 1)});
    }
  }
  return table;
}

Table ceiling_table(const configs::Result& result) {
  Table table({"kernel", "resource", "billions/s at most", "% used"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    const configs::Roofline& roofline = kernel.roofline();
    for (const configs::RooflineCeiling& ceiling : roofline.ceilings()) {
      table.add({kernel.name(), ceiling.resource(), Cell(ceiling.operations_per_ns(), 1),
                 Cell(percent(roofline.operations_per_ns(), ceiling.operations_per_ns()), 1)});
    }
  }
  return table;
}

std::string roofline_text(const configs::Result& result) {
  std::string checks;
  for (const std::string& line : check_lines(result)) checks += line + "\n";
  return result.scenario() + " on " + result.gpu() + ", policy " + result.policy() + "\n" + fold_line(result) + "\n" + checks +
         warning_lines(result) + "\nKernels, over the time that each runs\n" + kernel_table(result).aligned("  ") +
         "\nBytes, by level of memory\n" + level_table(result).aligned("  ") +
         "\nInside the SMs: the limit of each resource for the kernel's mix of instructions\n" +
         ceiling_table(result).aligned("  ");
}

std::string roofline_csv(const configs::Result& result) {
  constexpr int kDecimals = 6;
  Table table({"scenario", "policy", "gpu", "kernel", "operation", "operations", "operations_per_ns", "roof", "bound_by", "what",
               "name", "bytes", "intensity", "gb_per_s", "ceiling_gb_per_s", "ceiling_operations_per_ns"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    const configs::Roofline& roofline = kernel.roofline();
    const auto add = [&](const std::string& what, const std::string& name, std::vector<Cell> rest) {
      std::vector<Cell> row = cells(result.scenario(), result.policy(), result.gpu(), kernel.name(), roofline.operation(),
                                    Cell(roofline.operations(), 0), Cell(roofline.operations_per_ns(), kDecimals),
                                    Cell(roofline.roof(), kDecimals), roofline.bound_by(), what, name);
      row.insert(row.end(), rest.begin(), rest.end());
      table.add(std::move(row));
    };
    for (const configs::RooflineLevel& level : roofline.levels()) {
      add("level", level.level(),
          {uint64_t{level.bytes()}, Cell(level.intensity(), kDecimals), Cell(level.gb_per_s(), kDecimals),
           Cell(level.ceiling_gb_per_s(), kDecimals), Cell(level.intensity() * level.ceiling_gb_per_s(), kDecimals)});
    }
    for (const configs::RooflineCeiling& ceiling : roofline.ceilings()) {
      add("ceiling", ceiling.resource(), {"", "", "", "", Cell(ceiling.operations_per_ns(), kDecimals)});
    }
  }
  return table.csv();
}

}  // namespace

std::string render_roofline(const configs::Result& result, Format format) {
  return rendered(result, format, roofline_text, roofline_csv);
}

}  // namespace warpfold::cli
