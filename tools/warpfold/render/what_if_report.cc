#include "tools/warpfold/render/what_if_report.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "tools/report/advice.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/summary.h"
#include "tools/warpfold/render/table.h"
#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

namespace {

// A change of speed below this many per cent is shown as none.
constexpr double kShownPercent = 0.05;
constexpr int kBarWidth = 20;

// Returns the change of the run's speed: 25 is a quarter faster, -20 a fifth slower. 0 if the machine was not simulated.
double change_percent(const configs::Variation& variation) { return variation.speedup() > 0 ? 100 * (variation.speedup() - 1) : 0; }

bool ran(const configs::Variation& variation) { return variation.not_run().empty(); }

bool changes_anything(const configs::VariedResource& resource) {
  const auto changes = [](const configs::Variation& variation) { return std::abs(change_percent(variation)) >= kShownPercent; };
  return changes(resource.better()) || changes(resource.worse()) || !ran(resource.better());
}

Cell speedup_cell(const configs::Variation& variation) {
  return ran(variation) ? Cell(variation.speedup(), 3) : Cell("does not run");
}

// Returns the length of a change's bar; the largest change takes the whole side of the chart.
int bar_length(double change, double widest) {
  if (widest <= 0 || std::abs(change) < kShownPercent) return 0;
  return std::max(1, static_cast<int>(std::lround(kBarWidth * std::min(1.0, std::abs(change) / widest))));
}

// Draws the changes of both machines, slower to the left of the line and faster to the right: "  ---|+++++".
std::string bars(const configs::VariedResource& resource, double widest) {
  std::string left;
  std::string right;
  const auto draw = [&](const configs::Variation& variation, char mark) {
    const double change = change_percent(variation);
    std::string& side = change < 0 ? left : right;
    side.resize(std::max<size_t>(side.size(), static_cast<size_t>(bar_length(change, widest))), mark);
  };
  draw(resource.worse(), '-');
  draw(resource.better(), '+');
  std::string text(kBarWidth - left.size(), ' ');
  return text.append(left).append("|").append(right);
}

Table tornado(const configs::Result& result) {
  const configs::WhatIf& what_if = result.what_if();
  double widest = 0;
  for (const configs::VariedResource& resource : what_if.resources()) {
    widest = std::max({widest, std::abs(change_percent(resource.better())), std::abs(change_percent(resource.worse()))});
  }
  std::string title("slower");
  title.insert(0, kBarWidth - title.size(), ' ').append("|faster");
  std::vector<std::string> columns{"resource", "better (+)", "worse (-)", title};
  for (const configs::KernelResult& kernel : result.kernels()) columns.push_back(kernel.name() + " (+)");
  Table table(std::move(columns));
  for (const configs::VariedResource& resource : what_if.resources()) {
    if (!changes_anything(resource)) continue;
    const configs::Variation& better = resource.better();
    std::vector<Cell> row{resource.resource(), speedup_cell(better), speedup_cell(resource.worse()), bars(resource, widest)};
    for (const configs::KernelResult& kernel : result.kernels()) {
      const auto varied = std::ranges::find(better.kernels(), kernel.name(), &configs::VariedKernel::name);
      row.push_back(varied != better.kernels().end() ? Cell(varied->speedup(), 3) : Cell("-"));
    }
    table.add(std::move(row));
  }
  return table;
}

std::string unchanged_line(const configs::WhatIf& what_if) {
  std::string names;
  for (const configs::VariedResource& resource : what_if.resources()) {
    if (!changes_anything(resource)) names.append(names.empty() ? "" : ", ").append(resource.resource());
  }
  return names.empty() ? "" : wrapped("The run changes by less than 0.05 % with: " + names + ".");
}

std::string not_run_lines(const configs::WhatIf& what_if) {
  std::string lines;
  for (const configs::VariedResource& resource : what_if.resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()}) {
      if (ran(*variation)) continue;
      lines += wrapped(report::varied_name(resource, *variation) + " does not run: " + variation->not_run());
    }
  }
  return lines;
}

// Returns a line for each machine whose change has the unexpected sign: "tensor x 2: 0.864 of the speed. The random numbers take
// 2.7 us longer; ...".
std::string reason_lines(const configs::WhatIf& what_if) {
  std::string lines;
  for (const configs::VariedResource& resource : what_if.resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()}) {
      if (variation->reason().empty()) continue;
      lines += wrapped(report::varied_name(resource, *variation) + " is " + (variation->speedup() < 1 ? "slower" : "faster") +
                       ": " + variation->reason());
    }
  }
  return lines;
}

// Returns clock, power and energy if the clock follows from power.
std::string power_lines(const configs::Result& result) {
  if (!result.has_power()) return "";
  const auto line = [](const std::string& name, double mhz, double watts, double joules) {
    constexpr double kMillijoules = 1e3;
    return "  " + name + ": " + with_thousands(fixed(mhz, 0)) + " MHz, " + with_thousands(fixed(watts, 0)) + " W, " +
           with_thousands(fixed(kMillijoules * joules, 2)) + " mJ\n";
  };
  std::string lines = "Clock, board power and energy\n";
  lines += line("unchanged", result.power().clock_mhz(), result.power().watts(), result.power().joules());
  for (const configs::VariedResource& resource : result.what_if().resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()}) {
      if (ran(*variation) && changes_anything(resource))
        lines += line(report::varied_name(resource, *variation), variation->clock_mhz(), variation->watts(), variation->joules());
    }
  }
  return lines;
}

std::string noise_line(const configs::WhatIf& what_if) {
  if (what_if.noise() == 0) return "";
  return "Changes of speed below " + fixed(100 * what_if.noise(), 1) + " % are within folding's error bound.\n";
}

// Returns the arguments of every machine, including machines that change nothing or do not run:
//
//   tensor x 2    --set gpu.sm.tensor.scale=2
//   tensor x 0.5  --set gpu.sm.tensor.scale=0.5
std::string argument_lines(const configs::WhatIf& what_if) {
  Table table({"machine", "arguments"});
  for (const configs::VariedResource& resource : what_if.resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()})
      table.add({report::varied_name(resource, *variation), variation->arguments()});
  }
  return "\n" + wrapped("Arguments of warpfold simulate SCENARIO that make each machine, behind this command's own settings") +
         table.aligned("  ");
}

std::string what_if_text(const configs::Result& result) {
  const configs::WhatIf& what_if = result.what_if();
  const Table table = tornado(result);
  std::string text = wrapped(report::what_if_advice(result).text()) + "\n" + result.scenario() + " on " + result.gpu() +
                     ", policy " + result.policy() + ": " + report::time_text(result.total_time_us()) + "\n" +
                     warning_lines(result) + "\n";
  text +=
      wrapped("Speed-up of the run with " + report::factor_text(what_if.factor()) + " times a resource, or latencies " +
              report::factor_text(1 / what_if.factor()) + " times as long (+), and with the inverse (-); of each kernel with (+)");
  text += table.empty() ? "" : table.aligned("  ");
  text += "\n" + reason_lines(what_if);
  return text + power_lines(result) + unchanged_line(what_if) + not_run_lines(what_if) + noise_line(what_if) +
         argument_lines(what_if);
}

std::string what_if_csv(const configs::Result& result) {
  constexpr int kDecimals = 6;
  // A cell that begins with - would be a formula in a spreadsheet (configs/escape/csv.h).
  const std::string command = "warpfold simulate SCENARIO ";
  Table table({"scenario", "policy", "gpu", "resource", "kind", "direction", "factor", "settings", "total_cycles", "total_time_us",
               "speedup", "kernel", "cycles", "time_us", "kernel_speedup", "bound_by", "fold_mode", "not_run", "command"});
  const auto add = [&](const configs::VariedResource& resource, const configs::Variation& variation, const std::string& direction) {
    const std::string settings = boost::algorithm::join(variation.setting(), " ");
    const configs::VariedKernel none;
    const auto row = [&](const configs::VariedKernel& kernel) {
      table.add({result.scenario(), result.policy(), result.gpu(), resource.resource(), resource.kind(), direction,
                 Cell(variation.factor(), kDecimals), settings, uint64_t{variation.total_cycles()},
                 Cell(variation.total_time_us(), kDecimals), Cell(variation.speedup(), kDecimals), kernel.name(),
                 uint64_t{kernel.cycles()}, Cell(kernel.time_us(), kDecimals), Cell(kernel.speedup(), kDecimals), kernel.bound_by(),
                 variation.fold(), variation.not_run(), command + variation.arguments()});
    };
    for (const configs::VariedKernel& kernel : variation.kernels()) row(kernel);
    if (!ran(variation)) row(none);
  };
  for (const configs::VariedResource& resource : result.what_if().resources()) {
    add(resource, resource.better(), "better");
    add(resource, resource.worse(), "worse");
  }
  return table.csv();
}

}  // namespace

std::string render_what_if(const configs::Result& result, Format format) {
  return rendered(result, format, what_if_text, what_if_csv);
}

}  // namespace warpfold::cli
