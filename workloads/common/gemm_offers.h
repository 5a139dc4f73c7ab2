#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/gemm_library.pb.h"

namespace warpfold::workloads {

// The fields of a GEMM's shape that a library's rules test.
struct OfferedShape {
  uint64_t m;
  uint64_t n;
  uint64_t groups = 1;
};

// True if the library offers these kernels for this shape and type.
bool is_for(const configs::GemmOffer& offer, const OfferedShape& shape, configs::ElementType type);

// Rows and columns of a cluster written as "2x1".
std::pair<uint32_t, uint32_t> cluster_of(const std::string& text);

// Replaces `kernels` by one copy of each kernel per value. An empty list of values changes nothing.
template <typename Gemm, typename Values, typename Set>
void multiply(std::vector<Gemm>& kernels, const Values& values, const Set& set) {
  if (values.empty()) return;
  std::vector<Gemm> all;
  for (const Gemm& kernel : kernels) {
    for (const auto& value : values) {
      all.push_back(kernel);
      set(all.back(), value);
    }
  }
  kernels = std::move(all);
}

// `common` with every combination of the values that the offer lists, except its stages.
template <typename Gemm>
std::vector<Gemm> combinations(const configs::GemmOffer& offer, Gemm common) {
  std::vector<Gemm> kernels{std::move(common)};
  multiply(kernels, offer.tile_m(), [](Gemm& kernel, uint32_t value) { kernel.set_tile_m(value); });
  multiply(kernels, offer.tile_n(), [](Gemm& kernel, uint32_t value) { kernel.set_tile_n(value); });
  multiply(kernels, offer.tile_k(), [](Gemm& kernel, uint32_t value) { kernel.set_tile_k(value); });
  multiply(kernels, offer.split_k(), [](Gemm& kernel, uint32_t value) { kernel.set_split_k(value); });
  multiply(kernels, offer.swizzle(), [](Gemm& kernel, uint32_t value) { kernel.set_swizzle(value); });
  multiply(kernels, offer.cluster(), [](Gemm& kernel, const std::string& value) {
    const auto [m, n] = cluster_of(value);
    kernel.set_cluster_m(m);
    kernel.set_cluster_n(n);
  });
  return kernels;
}

// The kernel with the first of the offer's stage counts for which `fits` holds; empty if there is none.
template <typename Gemm, typename Fits>
std::vector<Gemm> with_fitting_stages(const configs::GemmOffer& offer, const Gemm& kernel, const Fits& fits) {
  std::vector<Gemm> by_stages{kernel};
  if (!kernel.has_stages()) multiply(by_stages, offer.stages(), [](Gemm& each, uint32_t value) { each.set_stages(value); });
  const auto first = std::ranges::find_if(by_stages, fits);
  if (first == by_stages.end()) return {};
  return {std::move(*first)};
}

// Removes repeated candidates, which arise if several offers, or an offer and the scenario, name the same kernel.
template <typename Gemm>
void drop_repeated(std::vector<Gemm>& kernels) {
  std::set<std::string> seen;
  std::erase_if(kernels, [&](const Gemm& kernel) { return !seen.insert(kernel.SerializeAsString()).second; });
}

}  // namespace warpfold::workloads
