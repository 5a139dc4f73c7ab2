#include "tools/warpfold/render/slowdown_table.h"

#include <cmath>
#include <string>

namespace warpfold::cli {
namespace {

constexpr int kMostRows = 8;             // rows per kernel
constexpr double kLeastShare = 0.01;     // of the slowdown
constexpr double kLeastSlowdown = 0.01;  // of the time alone: a smaller slowdown is a small difference between large losses and
                                         // gains
constexpr double kLeastCycles = 0.5;     // fewer cycles would print as 0

void add_kernel(const configs::KernelResult& kernel, Table& table) {
  const configs::Slowdown& slowdown = kernel.slowdown();
  const auto alone = static_cast<double>(slowdown.solo_cycles());
  const double more = static_cast<double>(slowdown.cycles()) - alone;
  if (more <= kLeastSlowdown * alone) return;
  const auto row = [&](const std::string& cause, const std::string& culprit, const std::string& resource, double cycles) {
    table.add({kernel.name(), cause, culprit, resource, Cell(cycles, 0), Cell(100 * cycles / more, 1)});
  };
  double others = 0;
  int rows = 0;
  for (const configs::Loss& loss : slowdown.losses()) {
    if (rows < kMostRows && std::abs(loss.cycles()) >= kLeastShare * more) {
      row(loss.kind(), loss.culprit().empty() ? "-" : loss.culprit(), loss.resource().empty() ? "-" : loss.resource(),
          loss.cycles());
      ++rows;
    } else {
      others += loss.cycles();
    }
  }
  if (std::abs(others) >= kLeastCycles) row("smaller ones", "-", "-", others);
  table.add({kernel.name(), "all", "-", "-", Cell(more, 0), Cell(100.0, 1)});
}

}  // namespace

Table slowdown_table(const configs::Result& result) {
  Table table({"kernel", "cause", "culprit", "resource", "cycles", "% of slowdown"});
  for (const configs::KernelResult& kernel : result.kernels()) add_kernel(kernel, table);
  return table;
}

}  // namespace warpfold::cli
