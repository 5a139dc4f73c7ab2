// Shares of hits of imported kernels against an exact simulation: every access of every warp, one by one, through whole caches.

#include <gtest/gtest.h>

#include <cmath>

#include "exact_reuse.h"

namespace warpfold::sass {
namespace {

struct Case {
  const char* name;
  const char* listing;
  const char* launch;
  access::CacheSpec caches;
};

constexpr uint64_t kKib = 1024;

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"stream: scale_add",
       "configs/kernels/elementwise_sm_80.sass",
       R"(function: "scale_add" grid { x: 256 } block { x: 256 }
          array { name: "x" bytes: 1048576 } array { name: "y" bytes: 1048576 } array { name: "out" bytes: 1048576 }
          parameter { array: "x" } parameter { array: "y" } parameter { array: "out" }
          parameter { real: 2 } parameter { value: 65536 })",
       {64 * kKib, 512 * kKib, 8, 2}},
      {"rows: row_sums",
       "configs/kernels/elementwise_sm_80.sass",
       R"(function: "row_sums" grid { x: 64 } block { x: 128 }
          array { name: "x" bytes: 1048576 } array { name: "sums" bytes: 1024 }
          parameter { array: "x" } parameter { array: "sums" }
          parameter { value: 256 } parameter { value: 1024 } parameter { value: 8 })",
       {64 * kKib, 256 * kKib, 8, 4}},
      {"in place",
       "reuse_sm_80.sass",
       R"(function: "in_place" grid { x: 512 } block { x: 128 }
          array { name: "y" bytes: 1048576 } parameter { array: "y" } parameter { value: 65536 })",
       {64 * kKib, 256 * kKib, 8, 4}},
      {"read again, twice L2",
       "reuse_sm_80.sass",
       R"(function: "read_again" grid { x: 16 } block { x: 128 }
          array { name: "x" bytes: 524288 } array { name: "sums" bytes: 8192 }
          parameter { array: "x" } parameter { array: "sums" } parameter { value: 131072 } parameter { value: 3 })",
       {16 * kKib, 256 * kKib, 4, 4}},
      {"read again, within L2",
       "reuse_sm_80.sass",
       R"(function: "read_again" grid { x: 16 } block { x: 128 }
          array { name: "x" bytes: 524288 } array { name: "sums" bytes: 8192 }
          parameter { array: "x" } parameter { array: "sums" } parameter { value: 131072 } parameter { value: 3 })",
       {16 * kKib, 640 * kKib, 4, 4}},
      {"matrix and vector",
       "reuse_sm_80.sass",
       R"(function: "matrix_vector" grid { x: 64 } block { x: 128 }
          array { name: "a" bytes: 1048576 } array { name: "x" bytes: 4096 } array { name: "y" bytes: 1024 }
          parameter { array: "a" } parameter { array: "x" } parameter { array: "y" } parameter { value: 1024 })",
       {32 * kKib, 256 * kKib, 4, 2}},
      {"stencil",
       "reuse_sm_80.sass",
       R"(function: "stencil" grid { x: 8 y: 8 } block { x: 128 }
          array { name: "x" bytes: 1148928 } array { name: "y" bytes: 1148928 }
          parameter { array: "x" } parameter { array: "y" } parameter { value: 1088 } parameter { value: 30 })",
       {32 * kKib, 256 * kKib, 8, 2}},
      {"tiled GEMM",
       "gemm_sm_80.sass",
       R"(function: "gemm_128x128x32" grid { x: 8 y: 4 } block { x: 128 } shared_memory_bytes: 49152
          array { name: "A" bytes: 524288 } array { name: "B" bytes: 262144 } array { name: "C" bytes: 1048576 }
          parameter { array: "A" } parameter { array: "B" } parameter { array: "C" }
          parameter { value: 1024 } parameter { value: 512 } parameter { value: 256 })",
       {64 * kKib, 256 * kKib, 4, 2}},
  };
  return all;
}

double apart(const AllShares& one, const AllShares& other) {
  double most = 0;
  for (size_t i = 0; i < one.size() * kKinds; ++i) {
    const ReuseShares& a = one[i / kKinds][i % kKinds];
    const ReuseShares& b = other[i / kKinds][i % kKinds];
    most = std::max({most, std::abs(a.requests - b.requests), std::abs(a.l1 - b.l1), std::abs(a.dram - b.dram)});
  }
  return most;
}

// Of all lines it is the same; of a sample it is close. docs/import.md quotes the bounds.
TEST(ImportedReuse, IsCloseToAnExactSimulation) {
  for (const Case& each : cases()) {
    const Launched of = launched(each.listing, each.launch);
    const AllShares exact = exact_shares(of, each.caches);
    for (const auto& [budget, bound] :
         {std::pair{ReuseBudget{}, 1e-9}, std::pair{ReuseBudget{4096, 4096}, 0.01}, std::pair{ReuseBudget{2048, 1024}, 0.03}}) {
      EXPECT_LE(apart(imported_shares(of, each.caches, budget), exact), bound)
          << each.name << ", " << budget.l2_lines << " touches";
    }
  }
}

}  // namespace
}  // namespace warpfold::sass
