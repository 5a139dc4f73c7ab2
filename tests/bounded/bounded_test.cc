// Mixes whose state does not recur: bounded folding stays within its bound of the full replay. The first of them, or with
// WARPFOLD_WHOLE (./dev test --all) five times as many.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/bounded/mixes.h"

namespace warpfold {
namespace {

struct Trial {
  bool bounded = false;
  double bound = 0;   // that was asked for
  double stated = 0;  // that the result says
  Kind kind;
  Errors errors;
  uint64_t instructions = 0;
  uint64_t replayed = 0;
  uint32_t sms_simulated = 0;
  std::string what;     // the mix and its errors
  std::string failure;  // faults that a bounded run may not have
};

// Every second mix uses the default bound, the other mixes a bound that suffices for a map.
constexpr double kBound = 0.002;
constexpr double kCoarseBound = 0.01;
// Work is exact and cycles are bounded; how many warps are resident on average comes and goes in waves longer than a window, and
// with it the states in which they wait (docs/sampling.md).
double counter_bound(double bound) { return std::max(0.01, 3 * bound); }
constexpr double kMostOfACounter = 0.15;
constexpr int kMostOffPercent = 20;
constexpr int kWhole = 200;  // mixes that do not recur
constexpr int kSample = 48;

// Every fifth on two SMs, of which some differ by a tile or a few CTAs.
uint32_t sms_of(uint32_t seed) { return seed % 5 == 0 ? 2 : 1; }

Trial trial(const Mix& each, double bound, uint64_t patience, bool replay_always) {
  const sim::FoldOptions fold{.mode = sim::FoldMode::kAuto, .error = bound, .sampling_delay = patience};
  const sim::Outcome folded = must(sim::simulate(each.gpu, each.launches, {.fold = fold}));
  Trial result;
  result.bound = bound;
  result.stated = std::max(bound, folded.fold.error_bound);
  result.kind = each.kind;
  result.bounded = folded.fold.mode == sim::Folded::kBounded;
  result.instructions = folded.fold.instructions_of_classes;
  result.replayed = folded.fold.instructions_replayed;
  result.sms_simulated = folded.sms_simulated;
  result.what = std::to_string(each.gpu.sm_count()) + " SMs: " + each.description;
  if (folded.deadlocked) result.failure = folded.deadlock.report;
  if (folded.deadlocked || (!result.bounded && !replay_always)) return result;
  const sim::Outcome replayed = must(sim::simulate(each.gpu, each.launches, {.fold = {.mode = sim::FoldMode::kOff}}));
  result.errors = compare(folded, replayed, result.failure);
  if (result.errors.cycles > 3 * result.stated) result.failure += " cycles";
  std::array<char, 128> numbers{};
  std::snprintf(numbers.data(), numbers.size(),
                "; of %.1f %% cycles are off by %.3f %%, counters by %.2f %%, %.1f of %.1f M replayed", 100 * bound,
                100 * result.errors.cycles, 100 * result.errors.counters, static_cast<double>(result.replayed) * 1e-6,
                static_cast<double>(result.instructions) * 1e-6);
  result.what += numbers.data();
  return result;
}

Trial of_mix(uint32_t seed, const Mix& each, bool replay_always) {
  const bool coarse = seed % 2 == 0;
  return trial(each, coarse ? kCoarseBound : kBound, coarse ? 25'000 : 100'000, replay_always);
}

Trial of_mix(uint32_t seed, uint32_t sms, bool replay_always) { return of_mix(seed, mix(seed, sms), replay_always); }

// A mix of which something is known, under the policy that it was found with: which one a seed draws depends on how many there are.
struct KnownMix {
  uint32_t seed;
  configs::IssuePolicy policy;
};
Trial of_mix(const KnownMix& known, uint32_t sms, bool replay_always) {
  Mix each = mix(known.seed, sms);
  each.gpu.mutable_sub_core()->set_issue_policy(known.policy);
  return of_mix(known.seed, each, replay_always);
}

Trial of_crowd(uint32_t seed) { return trial(crowd(seed), seed % 2 == 0 ? 0.05 : kCoarseBound, 10'000, true); }

// Trials of the seeds from `first` on, all cores at work.
template <typename Try>
std::vector<Trial> trials(uint32_t first, size_t count, Try one) {
  std::vector<Trial> results(count);
  std::atomic<size_t> next{0};
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      workers.emplace_back([&] {
        for (size_t i = next++; i < count; i = next++) {
          const auto seed = first + static_cast<uint32_t>(i);
          results[i] = one(seed);
          results[i].what = "seed " + std::to_string(seed) + ", " + results[i].what;
        }
      });
    }
  }
  return results;
}

// Fixed seeds, so that a failure can be run again: WARPFOLD_BOUNDED_SEED=n runs that seed alone and prints its mix.
TEST(Bounded, StaysWithinItsBoundOfTheFullReplay) {
  if (const char* only = std::getenv("WARPFOLD_BOUNDED_SEED")) {
    const auto seed = static_cast<uint32_t>(std::atoi(only));
    const Trial one = of_mix(seed, sms_of(seed), true);
    std::printf("%s\n", one.what.c_str());
    EXPECT_EQ(one.failure, "");
    return;
  }
  const int wanted = std::getenv("WARPFOLD_WHOLE") != nullptr ? kWhole : kSample;
  constexpr size_t kAtATime = 16;
  constexpr uint32_t kMostSeeds = 2000;
  int bounded = 0;
  int outside = 0;
  int counters_off = 0;
  Trial sum;
  std::map<double, std::set<Kind>> kinds;  // by bound
  for (uint32_t seed = 1; bounded < wanted; seed += kAtATime) {
    ASSERT_LT(seed, kMostSeeds) << "too few mixes that do not recur: " << bounded;
    for (const Trial& each : trials(seed, kAtATime, [](uint32_t each) { return of_mix(each, sms_of(each), false); })) {
      EXPECT_EQ(each.failure, "") << each.what;
      EXPECT_LE(each.errors.counters, kMostOfACounter) << each.what;
      if (!each.bounded) continue;
      ++bounded;
      kinds[each.bound].insert(each.kind);
      sum.instructions += each.instructions;
      sum.replayed += each.replayed;
      sum.errors.counters = std::max(sum.errors.counters, each.errors.counters);
      sum.errors.cycles = std::max(sum.errors.cycles, each.errors.cycles);
      counters_off += each.errors.counters > counter_bound(each.bound) ? 1 : 0;
      if (each.errors.cycles <= each.stated) continue;
      ++outside;
      std::printf("outside its bound: %s\n", each.what.c_str());
    }
  }
  std::printf(
      "%d bounded mixes, %d outside their bound; off by at most: cycles %.3f %%, counters %.2f %%; %.0f of %.0f M instructions "
      "replayed\n",
      bounded, outside, 100 * sum.errors.cycles, 100 * sum.errors.counters, static_cast<double>(sum.replayed) * 1e-6,
      static_cast<double>(sum.instructions) * 1e-6);
  std::printf("%d with a counter off by more than 1 or 3 %%; kinds: %zu of 0.2 %%, %zu of 1 %%\n", counters_off,
              kinds[kBound].size(), kinds[kCoarseBound].size());
  for (const double bound : {kBound, kCoarseBound}) {
    EXPECT_GE(kinds[bound].size(), 8) << "kinds of mixes that the sample no longer holds";
    for (const Beside gemm : {Beside::kNothing, Beside::kCtaAfterCta, Beside::kPersistent})
      EXPECT_TRUE(std::ranges::any_of(kinds[bound], [&](const Kind& kind) { return kind.gemm == gemm; }));
    EXPECT_TRUE(std::ranges::any_of(kinds[bound], &Kind::chain));
  }
  EXPECT_LE(outside, (bounded + 99) / 100);
  EXPECT_LE(counters_off * 100, kMostOffPercent * bounded);
}

// Work and cycles; of counters none is kept where launches give each other room.
TEST(Bounded, CrowdsStayWithinTheirBound) {
  int bounded = 0;
  int outside = 0;
  const size_t count = std::getenv("WARPFOLD_WHOLE") != nullptr ? 5 * kSample : kSample;
  for (const Trial& each : trials(1, count, of_crowd)) {
    EXPECT_EQ(each.failure, "") << each.what;
    bounded += each.bounded ? 1 : 0;
    if (each.errors.cycles <= each.stated) continue;
    ++outside;
    std::printf("outside its bound: %s\n", each.what.c_str());
  }
  std::printf("%d of %zu crowds bounded, %d outside\n", bounded, count, outside);
  EXPECT_GE(static_cast<size_t>(bounded), count / 8) << "too few to hold anything against";
  EXPECT_LE(static_cast<size_t>(outside), (count + 99) / 100);
}

// Mixes of a hundred long CTAs whose last ones ended too late, by more than the bound, while jumps pushed CTAs together.
TEST(Bounded, CtasStayAsFarApartAsTheyAre) {
  int bounded = 0;
  for (const KnownMix& known : {KnownMix{139, configs::CGGTY}, {329, configs::GTO}, {405, configs::CGGTY}, {489, configs::CGGTY}}) {
    const Trial each = of_mix(known, 1, false);
    bounded += each.bounded ? 1 : 0;
    EXPECT_LE(each.errors.cycles, each.stated) << each.what;
  }
  EXPECT_GT(bounded, 0);
}

// Two SMs have few CTAs, and the SM with less work ends later, by 0.8 % in the first mix: neither may represent the other.
TEST(Bounded, NoSmStandsForOthersWhereWarpsDrift) {
  for (const KnownMix& known : {KnownMix{273, configs::GTO}, {253, configs::CGGTY}}) {
    const Trial each = of_mix(known, 2, true);
    EXPECT_EQ(each.failure, "");
    EXPECT_EQ(each.sms_simulated, 2) << each.what;
    EXPECT_LE(each.errors.cycles, each.stated) << each.what;
  }
}

}  // namespace
}  // namespace warpfold
