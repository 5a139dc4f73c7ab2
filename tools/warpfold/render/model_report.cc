#include "tools/warpfold/render/model_report.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

constexpr int kShownLimiters = 3;

Table kernel_table(const configs::Result& result) {
  Table table({"kernel", "cycles", "time us", "first limiter", "second", "%", "third", "%", "simulated", "%"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    std::vector<Cell> row{kernel.name(), kernel.cycles(), Cell(kernel.time_us(), 2), kernel.limiters(0).resource()};
    for (int l = 1; l < kShownLimiters; ++l) {
      const bool there = l < kernel.limiters_size();
      row.emplace_back(there ? kernel.limiters(l).resource() : "-");
      row.push_back(there ? Cell(100 * kernel.limiters(l).cycles() / kernel.limiters(0).cycles(), 1) : Cell("-"));
    }
    const bool simulated = kernel.solo_cycles() > 0;
    row.push_back(simulated ? Cell(kernel.solo_cycles()) : Cell("-"));
    row.push_back(simulated ? Cell(100 * static_cast<double>(kernel.solo_cycles()) / kernel.limiters(0).cycles(), 1) : Cell("-"));
    table.add(std::move(row));
  }
  return table;
}

// The time of a part that the kernels of the composition have; "-" for parts without a kernel.
Cell part(double us) { return us > 0 ? Cell(us, 2) : Cell("-"); }

Table composition_table(const configs::Model& model) {
  Table table({"composition", "total us", "speed-up", "GEMMs us", "exposed random numbers us", "attention us"});
  for (const configs::Composition& each : model.compositions()) {
    table.add({each.name(), Cell(each.total_time_us(), 2), Cell(each.speedup(), 3), part(each.gemm_us()),
               part(each.exposed_rng_us()), part(each.attention_us())});
  }
  return table;
}

std::string interference_line(const configs::Interference& interference, bool attention) {
  std::string line = "Interference (" + interference.source() + "): GEMMs take " + fixed(interference.gemm_slowdown(), 3) +
                     " times as long beside random numbers, random numbers " + fixed(interference.rng_slowdown(), 3) +
                     " beside a GEMM";
  if (!attention) return line + "\n";
  line += ", attention " + fixed(interference.dropping(), 3) + " with stored bits";
  if (interference.has_hidden_by_fusion()) {
    line += "; fusion hides " + fixed(100 * interference.hidden_by_fusion(), 0) + " % of the random numbers";
  }
  return line + "\n";
}

std::string region_line(uint32_t region) {
  switch (region) {
    case 1:
      return "Region 1: the GEMMs dominate; random numbers are under a tenth of the sequence.\n";
    case 2:
      return "Region 2: balanced; the GEMMs hide the random numbers.\n";
    case 3:
      return "Region 3: random numbers outlast the GEMMs and are exposed.\n";
    default:
      return "";
  }
}

std::string stored_line(const configs::StoredBits& stored) {
  const report::ByteUnit unit = report::byte_unit(std::array{stored.bytes(), stored.bytes_per_gpu()});
  const auto size = [&unit](uint64_t bytes) {
    return with_thousands(fixed(static_cast<double>(bytes) / unit.bytes, 1)).append(" ").append(unit.name);
  };
  std::string line = "Stored bits: " + size(stored.bytes());
  if (stored.gpus() > 1 || stored.segments() > 1) {
    line += ", " + size(stored.bytes_per_gpu()) + " on each of " + std::to_string(stored.gpus()) + " GPUs (" +
            stored.parallelism() + " parallel, " + std::to_string(stored.segments()) +
            (stored.segments() == 1 ? " segment)" : " segments)");
  }
  return line + "\n";
}

std::string model_text(const configs::Result& result) {
  const configs::Model& model = result.model();
  std::string text = result.scenario() + " on " + result.gpu() + ", limiter model\n" + warning_lines(result) +
                     "\nKernels alone, by the largest limiter; % of it\n" + kernel_table(result).aligned("  ") +
                     "\nCompositions; speed-up is over the first\n" + composition_table(model).aligned("  ");
  if (model.compositions_size() > 1) {
    const bool attention = model.compositions(0).attention_us() > 0;
    text += interference_line(model.interference(), attention);
  }
  text += "Lower bound of every policy: " + with_thousands(fixed(model.any_policy_us(), 2)) + " us, by " +
          model.any_policy_bound_by() + "\n";
  text += region_line(model.region());
  if (model.has_stored_bits()) text += stored_line(model.stored_bits());
  return text;
}

std::string limiter_csv(const configs::Result& result) {
  constexpr int kDecimals = 6;
  Table table({"scenario", "gpu", "kernel", "resource", "cycles", "time_us", "slack_cycles"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (const configs::Limiter& limiter : kernel.limiters()) {
      table.add({result.scenario(), result.gpu(), kernel.name(), limiter.resource(), Cell(limiter.cycles(), kDecimals),
                 Cell(limiter.time_us(), kDecimals), Cell(limiter.slack_cycles(), kDecimals)});
    }
  }
  const double clock_mhz = result.provenance().scenario().gpu().clock_mhz();
  for (const configs::Composition& each : result.model().compositions()) {
    table.add({result.scenario(), result.gpu(), each.name(), "total", Cell(each.total_time_us() * clock_mhz, kDecimals),
               Cell(each.total_time_us(), kDecimals), Cell("")});
  }
  return table.csv();
}

}  // namespace

std::string render_model(const configs::Result& result, Format format) { return rendered(result, format, model_text, limiter_csv); }

}  // namespace warpfold::cli
