#include "exact_reuse.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "configs/load.h"
#include "configs/read_file.h"
#include "isa/architecture.h"
#include "support.h"
#include "traces/import/follower.h"

namespace warpfold::sass {
namespace {

template <typename Value>
Value value_of(Expected<Value> expected) {
  if (!expected) throw std::runtime_error(expected.error().text());
  return *std::move(expected);
}

uint32_t site_of(const Touch& touch, access::Kind kind) {
  return static_cast<uint32_t>(static_cast<size_t>(touch.array) * kKinds + static_cast<size_t>(kind));
}

}  // namespace

Launched launched(const std::string& listing, const std::string& description) {
  const isa::Architecture& architecture = *value_of(isa::Architecture::find("sm_80"));
  configs::KernelLaunch launch;
  if (auto parsed = configs::parse_text("launch", description, launch); !parsed) throw std::runtime_error(parsed.error().text());
  Launched made;
  made.launch = value_of(launch_facts(launch, architecture.name(), {}));
  made.listing = value_of(read_listing(listing, value_of(read_file(data_file(listing))), architecture));
  const auto function = std::ranges::find(made.listing.functions, launch.function(), &Function::name);
  made.ops = value_of(decode(made.listing, *function, architecture));
  made.flow = value_of(make_flow(listing, made.ops));
  return made;
}

AllShares exact_shares(const Launched& of, const access::CacheSpec& caches) {
  access::ReuseAnalysis analysis(caches, std::numeric_limits<size_t>::max());
  std::set<int> all_loops;
  for (size_t loop = 0; loop < of.flow.loops.size(); ++loop) all_loops.insert(static_cast<int>(loop));
  const std::array<uint32_t, 3>& grid = of.launch.grid;
  for (uint64_t cta = 0; cta < of.launch.ctas(); ++cta) {
    const std::array<uint32_t, 3> place{static_cast<uint32_t>(cta % grid[0]), static_cast<uint32_t>(cta / grid[0] % grid[1]),
                                        static_cast<uint32_t>(cta / grid[0] / grid[1])};
    for (uint32_t w = 0; w < of.launch.warps(); ++w) {
      Warp warp(of.launch, place, w, 256, 63);
      warp.extents = {1, 1, 1, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded};
      const Limits limits;
      Follower follower(of.ops, of.flow, warp, all_loops, limits);
      follower.follow(kAllLanes);
      for (const Touch& touch : follower.take_touches()) {
        const access::Kind kind = access_kind(of.ops[static_cast<size_t>(touch.op)]);
        analysis.add(cta, w, touch.step, site_of(touch, kind), kind, lines_of(touch));
      }
    }
  }
  std::vector<access::SiteReuse> sites = analysis.result();
  sites.resize(of.launch.arrays.size() * kKinds);
  AllShares shares(of.launch.arrays.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].requests == 0) continue;
    const auto all = static_cast<double>(sites[i].sectors);
    shares[i / kKinds][i % kKinds] = {static_cast<double>(sites[i].l1_requests) / static_cast<double>(sites[i].requests),
                                      static_cast<double>(sites[i].l1_sectors) / all,
                                      static_cast<double>(sites[i].dram_sectors) / all};
  }
  return shares;
}

ImportedShares imported_shares(const Launched& of, const access::CacheSpec& caches, const ReuseBudget& budget) {
  const Exploration found = value_of(explore("listing", of.ops, of.flow, of.launch, {}));
  const LaunchReuse reuse = launch_reuse(found, of.launch, caches, true, budget);
  ImportedShares imported{AllShares(of.launch.arrays.size()), reuse.l1, reuse.l2};
  for (size_t array = 0; array < of.launch.arrays.size(); ++array) {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const ArrayReuse& followed = reuse.arrays[array][kind];
      const ArrayTraffic& traffic = found.traffic[array][kind];
      const uint64_t touched = std::min(traffic.touched, of.launch.arrays[array].bytes);
      const double once = static_cast<double>(touched) / static_cast<double>(std::max<uint64_t>(traffic.requested, 1));
      imported.shares[array][kind] = {followed.requests, followed.l1_sectors, followed.in_l2 ? followed.dram_sectors : once};
    }
  }
  return imported;
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

}  // namespace warpfold::sass
