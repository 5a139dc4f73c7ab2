#include "tools/report/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace warpfold::report {

namespace {

// One figure of one run.
struct Figure {
  double value = 0;
  double whole = 0;  // base for the figure's change
  std::string field;
};

// Group, name and unit: figures of two runs with equal keys are compared.
using Key = std::tuple<std::string, std::string, std::string>;

// All figures of a run, in the order of the result.
struct Figures {
  std::map<Key, Figure> of;
  std::vector<Key> order;

  void add(const Key& key, double value, double whole, std::string field) {
    const auto [entry, fresh] = of.try_emplace(key);
    if (!fresh) return;
    entry->second = {value, whole, std::move(field)};
    order.push_back(key);
  }
};

constexpr double kPercent = 100;

void add_kernel(const configs::KernelResult& kernel, const std::string& path, double total_us, Figures& figures) {
  const auto resident = static_cast<double>(kernel.resident_warp_cycles());
  figures.add({"kernel", kernel.name() + ": time", "us"}, kernel.time_us(), total_us, path + "time_us");
  for (int s = 0; s < kernel.states_size(); ++s) {
    const std::string state = "states[" + std::to_string(s) + "].warp_cycles";
    figures.add({"state", kernel.name() + ": " + kernel.states(s).state(), "warp-cycles"},
                static_cast<double>(kernel.states(s).warp_cycles()), resident, path + state);
  }
  for (int l = 0; l < kernel.limiters_size(); ++l) {
    const std::string limiter = "limiters[" + std::to_string(l) + "].time_us";
    figures.add({"resource", kernel.name() + ": " + kernel.limiters(l).resource(), "us"}, kernel.limiters(l).time_us(), total_us,
                path + limiter);
  }
}

double resident_of(const configs::Result& result, const std::string& kernel) {
  const auto found = std::ranges::find(result.kernels(), kernel, &configs::KernelResult::name);
  return found == result.kernels().end() ? 0 : static_cast<double>(found->resident_warp_cycles());
}

Figures figures_of(const configs::Run& run) {
  const configs::Result& result = run.result();
  const std::string root = run.path() + ".";
  const double total = result.total_time_us();
  Figures figures;
  figures.add({"total", "total time", "us"}, total, total, root + "total_time_us");
  for (int k = 0; k < result.kernels_size(); ++k) {
    add_kernel(result.kernels(k), root + "kernels[" + std::to_string(k) + "].", total, figures);
  }
  for (int r = 0; r < result.resources_size(); ++r) {
    figures.add({"resource", result.resources(r).name(), "% of capacity"}, kPercent * result.resources(r).utilization(), kPercent,
                root + "resources[" + std::to_string(r) + "].utilization");
  }
  for (int e = 0; e < result.ledger_size(); ++e) {
    const configs::LedgerEntry& entry = result.ledger(e);
    const std::string by = entry.victim() == entry.culprit() ? "itself" : entry.culprit();
    figures.add({"ledger", entry.victim() + " lost to " + by + ": " + entry.resource(), "warp-cycles"},
                static_cast<double>(entry.warp_cycles()), resident_of(result, entry.victim()),
                root + "ledger[" + std::to_string(e) + "].warp_cycles");
  }
  return figures;
}

void add_mover(const Key& key, const Figure& a, const Figure& b, configs::Difference& difference) {
  if (a.value == b.value) return;
  configs::Mover& mover = *difference.add_mover();
  mover.set_group(std::get<0>(key));
  mover.set_what(std::get<1>(key));
  mover.set_unit(std::get<2>(key));
  mover.set_a(a.value);
  mover.set_b(b.value);
  mover.set_change(b.value - a.value);
  if (a.value != 0) mover.set_relative((b.value - a.value) / a.value);
  const double whole = a.whole > 0 ? a.whole : b.whole;
  mover.set_share_of_total(whole > 0 ? std::abs(b.value - a.value) / whole : 0);
  mover.set_field_a(a.field);
  mover.set_field_b(b.field);
}

}  // namespace

configs::Difference difference_of(const configs::Run& a, const configs::Run& b) {
  const Figures before = figures_of(a);
  const Figures after = figures_of(b);
  configs::Difference difference;
  difference.set_a(a.label());
  difference.set_b(b.label());
  const auto find = [](const Figures& figures, const Key& key) {
    const auto found = figures.of.find(key);
    return found == figures.of.end() ? Figure{} : found->second;
  };
  for (const Key& key : before.order) add_mover(key, before.of.at(key), find(after, key), difference);
  for (const Key& key : after.order) {
    if (!before.of.contains(key)) add_mover(key, {}, after.of.at(key), difference);
  }
  std::stable_sort(difference.mutable_mover()->begin(), difference.mutable_mover()->end(),
                   [](const configs::Mover& left, const configs::Mover& right) {
                     const bool left_total = left.group() == "total";
                     const bool right_total = right.group() == "total";
                     return left_total != right_total ? left_total : left.share_of_total() > right.share_of_total();
                   });
  return difference;
}

}  // namespace warpfold::report
