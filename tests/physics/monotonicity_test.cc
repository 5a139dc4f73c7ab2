// More of a resource does not make a machine slower: every GPU file, and random machines.
//
// Two kernels share SMs, and CTAs start as others end: an order that changes with any latency. With more of one resource, a run may
// then end later (Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17(2), 1969). The loss is a part of one
// CTA of some forty that an SM has here one after the other. More room also lets in more CTAs of one kernel, whose last CTAs are
// then alone for longer. Over 100 random machines the worst was 1.7 % for a rate or a latency and 10.1 % for room (warp slots).
// Twice as much of everything is faster in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>

#include "configs/check.h"
#include "configs/load.h"
#include "configs/resources.h"
#include "configs/settings.h"
#include "tests/physics/support.h"
#include "tests/source_dir.h"

namespace warpfold::test {
namespace {

constexpr double kAnomaly = 0.025;
constexpr double kRoomAnomaly = 0.11;

std::vector<std::string> gpu_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(WARPFOLD_SOURCE_DIR) + "/configs/gpus")) {
    files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

double cycles(const std::string& gpu_file, Settings settings) {
  settings.insert(settings.begin(), "gpu_file=" + gpu_file);
  return static_cast<double>(simulate(WARPFOLD_PHYSICS_DATA "copy_philox.textproto", settings).total_cycles());
}

// Whether the machine's structures can hold it: two ports a bank are the most, 32 warps a sub-core.
bool possible(configs::Gpu gpu, const Settings& settings) {
  constexpr size_t kPrefix = std::string_view("gpu.").size();
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    EXPECT_TRUE(configs::set_field(gpu, setting.substr(kPrefix, equals - kPrefix), setting.substr(equals + 1))) << setting;
  }
  return !configs::find_gpu_fault(gpu, "");
}

double better(configs::ResourceKind kind) { return kind == configs::ResourceKind::kLatency ? 0.5 : 2; }

std::vector<const configs::ScalableResource*> factors() {
  std::vector<const configs::ScalableResource*> found;
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    if (!resource.whole && !resource.many) found.push_back(&resource);
  }
  return found;
}

// How many times as much of each of factors() as the GPU file has.
using Machine = std::vector<double>;

Settings settings_of(const configs::Gpu& gpu, const Machine& machine) {
  Settings settings;
  const auto resources = factors();
  for (size_t i = 0; i < resources.size(); ++i) {
    const Settings one = configs::scaled_by(gpu, *resources[i], machine[i]);
    settings.insert(settings.end(), one.begin(), one.end());
  }
  return settings;
}

// Returns how much longer it took at worst with more of one resource.
double expect_monotone(const std::string& gpu_file, const Machine& machine) {
  const configs::Gpu gpu = configs::load_gpu(gpu_file).value();
  const auto resources = factors();
  const double base = cycles(gpu_file, settings_of(gpu, machine));
  double worst = 0;
  Machine wide = machine;
  for (size_t i = 0; i < resources.size(); ++i) {
    Machine more = machine;
    more[i] *= better(resources[i]->kind);
    const Settings settings = settings_of(gpu, more);
    if (!possible(gpu, settings)) continue;
    wide[i] = more[i];
    const double with = cycles(gpu_file, settings);
    if (resources[i]->kind != configs::ResourceKind::kCapacity) worst = std::max(worst, with / base - 1);
    const double anomaly = resources[i]->kind == configs::ResourceKind::kCapacity ? kRoomAnomaly : kAnomaly;
    EXPECT_LE(with, base * (1 + anomaly)) << gpu_file << ", more of " << resources[i]->name;
  }
  EXPECT_LT(cycles(gpu_file, settings_of(gpu, wide)), base) << gpu_file << ", more of everything";
  return worst;
}

TEST(MoreOfAResource, MakesNoGpuSlower) {
  double worst = 0;
  for (const std::string& file : gpu_files()) worst = std::max(worst, expect_monotone(file, Machine(factors().size(), 1)));
  std::cout << "worst rate or latency of all GPUs: +" << worst * 100 << " %\n";
}

// Rates and latencies are scaled by half to twice, capacities by half to once; integers and reciprocals of integers by half or
// once.
Machine random_machine(uint32_t seed) {
  std::mt19937 random(seed);
  Machine machine;
  for (const configs::ScalableResource* resource : factors()) {
    const bool whole = resource->name == "issue_slot" || resource->name.starts_with("register_");
    const uint32_t steps = resource->kind == configs::ResourceKind::kCapacity ? 501 : 1501;
    machine.push_back(whole ? (random() % 2 == 0 ? 0.5 : 1) : 0.5 + static_cast<double>(random() % steps) / 1000);
  }
  return machine;
}

TEST(MoreOfAResource, MakesNoRandomMachineSlower) {
  const std::vector<std::string> files = gpu_files();
  double worst = 0;
  for (uint32_t seed = 1; seed <= 16; ++seed) {
    const std::string& file = files[seed % files.size()];
    SCOPED_TRACE("seed " + std::to_string(seed));
    worst = std::max(worst, expect_monotone(file, random_machine(seed)));
  }
  std::cout << "worst rate or latency of random machines: +" << worst * 100 << " %\n";
}

}  // namespace
}  // namespace warpfold::test
