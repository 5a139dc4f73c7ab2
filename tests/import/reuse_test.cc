// Shares of hits of imported kernels against an exact simulation: every access of every warp, one by one, through whole caches.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "exact_reuse.h"
#include "support.h"

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
      {"read again, 1 % beyond L2",
       "reuse_sm_80.sass",
       R"(function: "read_again" grid { x: 16 } block { x: 128 }
          array { name: "x" bytes: 131072 } array { name: "sums" bytes: 8192 }
          parameter { array: "x" } parameter { array: "sums" } parameter { value: 32768 } parameter { value: 12 })",
       {4 * kKib, 126 * kKib, 4, 4}},
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

// Executed once for all tests.
const AllShares& exact_of(const Case& each) {
  static std::map<std::string, AllShares> known;
  auto found = known.find(each.name);
  if (found == known.end()) found = known.emplace(each.name, exact_shares(launched(each.listing, each.launch), each.caches)).first;
  return found->second;
}

// Of all lines it is the same; of a sample it is close. docs/import.md quotes the bounds.
TEST(ImportedReuse, IsCloseToAnExactSimulation) {
  for (const Case& each : cases()) {
    const Launched of = launched(each.listing, each.launch);
    const AllShares& exact = exact_of(each);
    for (const auto& [budget, bound] :
         {std::pair{ReuseBudget{}, 1e-9}, std::pair{ReuseBudget{4096, 4096}, 0.005}, std::pair{ReuseBudget{2048, 1024}, 0.03}}) {
      EXPECT_LE(apart(imported_shares(of, each.caches, budget).shares, exact), bound)
          << each.name << ", " << budget.l2_lines << " touches";
    }
  }
}

const Case& case_of(const std::string& name) { return *std::ranges::find(cases(), name, &Case::name); }

// The first wave finds the caches empty; later waves find the lines that it left.
TEST(ImportedReuse, LaterWavesCountAsThoseThatAreFollowed) {
  for (const auto& [name, searches] :
       {std::pair{"matrix and vector", 64}, std::pair{"stencil", 512}, std::pair{"tiled GEMM", 4096}}) {
    const Case& each = case_of(name);
    const Launched of = launched(each.listing, each.launch);
    const auto imported = imported_shares(of, each.caches, {.searches = static_cast<uint64_t>(searches)});
    EXPECT_EQ(imported.l2.waves, 2U) << name;
    EXPECT_GE(imported.l2.of_waves, 4U) << name;
    EXPECT_LE(apart(imported.shares, exact_of(each)), 0.01) << name;
  }
}

TEST(ImportedReuse, WithoutEndIsNotFollowed) {
  const Case& each = case_of("tiled GEMM");
  const Launched of = launched(each.listing, each.launch);
  const auto imported = imported_shares(of, each.caches, {.searches = 100});
  EXPECT_EQ(imported.l2.why, Followed::Why::kTooMuch);
  EXPECT_DOUBLE_EQ(imported.shares[0][1].dram, 0.25);  // A is asked for by the four CTAs of a row
}

TEST(ImportedReuse, OfTenTimesTheTripsCostsNoMore) {
  const auto caches = [](uint32_t, uint32_t, uint32_t) { return access::CacheSpec{128 * kKib, 40960 * kKib, 108, 2}; };
  const auto cost = [&caches](const std::string& listing, const std::string& launch, const std::string& setting) {
    const auto imported = import_files(listing, launch, {setting}, caches);
    return imported->report.l1.searches + imported->report.l1.touches + imported->report.l2.searches + imported->report.l2.touches;
  };
  const std::string rows = "configs/kernels/elementwise_sm_80.sass";
  const std::string launch = "configs/kernels/row_sums.textproto";
  EXPECT_LE(cost(rows, launch, "parameter.columns.value=320000"), cost(rows, launch, "parameter.columns.value=32000") * 12 / 10);
  EXPECT_LE(cost("gemm_sm_80.sass", "gemm.textproto", "parameter.k.value=40960"),
            cost("gemm_sm_80.sass", "gemm.textproto", "parameter.k.value=4096") * 12 / 10);
}

}  // namespace
}  // namespace warpfold::sass
