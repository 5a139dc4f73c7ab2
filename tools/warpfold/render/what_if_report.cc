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

// A change of speed below this many per cent is no effect: folding's error, or less than the figures show.
double least_percent(const configs::WhatIf& what_if) { return 100 * std::max(what_if.noise(), report::kLeastChange); }
constexpr int kBarWidth = 20;

// Returns the change of the run's speed: 25 is a quarter faster, -20 a fifth slower. 0 if the machine was not simulated.
double change_percent(const configs::Variation& variation) { return variation.speedup() > 0 ? 100 * (variation.speedup() - 1) : 0; }

bool ran(const configs::Variation& variation) { return variation.not_run().empty(); }

bool changes_anything(const configs::VariedResource& resource, double least) {
  const auto changes = [least](const configs::Variation& variation) { return std::abs(change_percent(variation)) >= least; };
  return changes(resource.better()) || changes(resource.worse()) || !ran(resource.better());
}

// Returns a factor of speed with three significant digits; "no effect" if it changes by less than `least` per cent.
Cell speedup_cell(double speedup, double least) {
  if (100 * std::abs(speedup - 1) < least) return "no effect";
  constexpr int kDigits = 3;
  return {speedup, std::max(0, kDigits - 1 - static_cast<int>(std::floor(std::log10(speedup))))};
}
Cell speedup_cell(const configs::Variation& variation, double least) {
  return ran(variation) ? speedup_cell(variation.speedup(), least) : Cell("does not run");
}

// Returns the length of a change's bar; the largest change takes the whole side of the chart.
int bar_length(double change, double widest, double least) {
  if (widest <= 0 || std::abs(change) < least) return 0;
  return std::max(1, static_cast<int>(std::lround(kBarWidth * std::min(1.0, std::abs(change) / widest))));
}

// Draws the changes of both machines, slower to the left of the line and faster to the right: "  ---|+++++".
std::string bars(const configs::VariedResource& resource, double widest, double least) {
  std::string left;
  std::string right;
  const auto draw = [&](const configs::Variation& variation, char mark) {
    const double change = change_percent(variation);
    std::string& side = change < 0 ? left : right;
    side.resize(std::max<size_t>(side.size(), static_cast<size_t>(bar_length(change, widest, least))), mark);
  };
  draw(resource.worse(), '-');
  draw(resource.better(), '+');
  std::string text(kBarWidth - left.size(), ' ');
  return text.append(left).append("|").append(right);
}

Table tornado(const configs::Result& result) {
  const configs::WhatIf& what_if = result.what_if();
  const double least = least_percent(what_if);
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
    if (!changes_anything(resource, least)) continue;
    const configs::Variation& better = resource.better();
    std::vector<Cell> row{resource.resource(), speedup_cell(better, least), speedup_cell(resource.worse(), least),
                          bars(resource, widest, least)};
    for (const configs::KernelResult& kernel : result.kernels()) {
      const auto varied = std::ranges::find(better.kernels(), kernel.name(), &configs::VariedKernel::name);
      row.push_back(varied != better.kernels().end() ? speedup_cell(varied->speedup(), least) : Cell("-"));
    }
    table.add(std::move(row));
  }
  return table;
}

std::string unchanged_line(const configs::WhatIf& what_if) {
  std::string names;
  const double least = least_percent(what_if);
  for (const configs::VariedResource& resource : what_if.resources()) {
    if (!changes_anything(resource, least)) names.append(names.empty() ? "" : ", ").append(resource.resource());
  }
  return names.empty() ? ""
                       : wrapped("No effect (less than " + fixed(least, 2) + " %" +
                                 (what_if.noise() > 0 ? ", folding's error" : "") + "): " + names + ".");
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
      if (ran(*variation) && changes_anything(resource, least_percent(result.what_if())))
        lines += line(report::varied_name(resource, *variation), variation->clock_mhz(), variation->watts(), variation->joules());
    }
  }
  return lines;
}

// Says how to run one of the machines, by the example of the first row.
std::string argument_lines(const configs::WhatIf& what_if) {
  const configs::VariedResource& first = what_if.resources(0);
  return wrapped(report::varied_name(first, first.better()) + " is warpfold simulate SCENARIO " + first.better().arguments() +
                 ", behind this command's own settings; --format csv has the command of each machine.");
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
  return text + power_lines(result) + unchanged_line(what_if) + not_run_lines(what_if) + argument_lines(what_if);
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
