#include "tools/report/advice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tools/report/number_text.h"
#include "tools/report/waves.h"

namespace warpfold::report {

namespace {

std::string ctas_text(uint32_t ctas) { return counted(ctas, "CTA"); }

const configs::SmallerFootprint* best_of(const configs::KernelOccupancy& kernel) {
  const configs::SmallerFootprint* best = nullptr;
  for (const configs::SmallerFootprint& each : kernel.smaller()) {
    if (each.not_run().empty() && (best == nullptr || each.speedup() > best->speedup())) best = &each;
  }
  return best;
}

// Returns the smaller footprint in words: "80 registers a thread (88 fewer) and 113.0 kB of shared memory (101.0 fewer)".
std::string footprint_text(const configs::KernelOccupancy& kernel, const configs::SmallerFootprint& smaller) {
  std::string text;
  if (smaller.registers_per_thread() != kernel.registers_per_thread()) {
    text = std::to_string(smaller.registers_per_thread()) + " registers a thread (" +
           std::to_string(kernel.registers_per_thread() - smaller.registers_per_thread()) + " fewer)";
  }
  if (smaller.shared_memory_bytes() != kernel.shared_memory_bytes()) {
    text += (text.empty() ? "" : " and ") + bytes_text(smaller.shared_memory_bytes()) + " of shared memory a CTA (" +
            bytes_text(kernel.shared_memory_bytes() - smaller.shared_memory_bytes()) + " fewer)";
  }
  return text;
}

configs::Statement advice_of(const configs::Result& result, int index) {
  const configs::KernelOccupancy& kernel = result.occupancy().kernels(index);
  const std::string base = "occupancy.kernels[" + std::to_string(index) + "].";
  configs::Statement said;
  std::string text = kernel.kernel() + ": " + ctas_text(kernel.ctas_per_sm()) + " an SM, limited by " + kernel.limiter();
  said.add_field(base + "ctas_per_sm");
  said.add_field(base + "limiter");
  const configs::SmallerFootprint* best = best_of(kernel);
  if (best == nullptr) {
    if (!kernel.no_smaller().empty()) text += "; no further CTA: " + kernel.no_smaller();
  } else {
    text += "; with " + footprint_text(kernel, *best) + " " + std::to_string(best->ctas()) + " fit, and the run is ";
    if (std::abs(best->speedup() - 1) <= std::max(result.occupancy().noise(), kLeastChange)) {
      text += "as fast";
    } else {
      text += rounded(best->speedup()) + " times as fast";
    }
    const auto place = std::ranges::find_if(kernel.smaller(), [best](const auto& each) { return &each == best; });
    said.add_field(base + "smaller[" + std::to_string(place - kernel.smaller().begin()) + "].speedup");
  }
  said.set_text(text + ".");
  return said;
}

}  // namespace

std::vector<configs::Statement> occupancy_advice(const configs::Result& result) {
  std::vector<int> order;
  for (int k = 0; k < result.occupancy().kernels_size(); ++k) order.push_back(k);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int k) {
    const configs::SmallerFootprint* best = best_of(result.occupancy().kernels(k));
    return best == nullptr ? 0 : best->speedup();
  });
  std::vector<configs::Statement> said;
  for (const int k : order) said.push_back(advice_of(result, k));
  return said;
}

std::string factor_text(double factor) {
  std::string text = fixed(factor, 3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string varied_name(const configs::VariedResource& resource, const configs::Variation& variation) {
  return resource.resource() + " x " + factor_text(variation.factor());
}

configs::Statement what_if_advice(const configs::Result& result) {
  const configs::WhatIf& what_if = result.what_if();
  const double noise = std::max(kLeastChange, what_if.noise());
  const auto ran = [](const configs::Variation& variation) { return variation.not_run().empty(); };
  const auto field = [](int index, const std::string& side) {
    return "what_if.resources[" + std::to_string(index) + "]." + side + ".speedup";
  };
  configs::Statement said;
  std::string text = "No resource makes the run faster by itself.";
  const configs::VariedResource& most = what_if.resources(0);  // sorted by rank
  if (ran(most.better()) && most.better().speedup() > 1 + noise) {
    text = "Largest speed-up: " + varied_name(most, most.better()) + " makes the run " + rounded(most.better().speedup()) +
           " times as fast";
    // More room on an SM changes the number of waves.
    for (const configs::KernelResult& kernel : result.kernels()) {
      const std::string tail = most.kind() == "capacity" ? tail_text(result, kernel) : "";
      if (!tail.empty()) text += "; " + kernel.name() + " makes " + tail;
    }
    text += ".";
    said.add_field(field(0, "better"));
  }
  int least = -1;
  for (int r = 0; r < what_if.resources_size(); ++r) {
    const configs::Variation& worse = what_if.resources(r).worse();
    if (ran(worse) && (least < 0 || worse.speedup() < what_if.resources(least).worse().speedup())) least = r;
  }
  if (least >= 0 && what_if.resources(least).worse().speedup() < 1 - noise) {
    const configs::VariedResource& needed = what_if.resources(least);
    text += " Largest slowdown: " + varied_name(needed, needed.worse()) + " makes it " + rounded(needed.worse().speedup()) +
            " times as fast.";
    said.add_field(field(least, "worse"));
  }
  said.set_text(text);
  return said;
}

}  // namespace warpfold::report
