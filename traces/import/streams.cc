#include "traces/import/streams.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "traces/access/shares.h"
#include "traces/import/launch_reuse.h"

namespace warpfold::sass {
namespace {

using access::Fraction;
using access::Kind;
using access::SiteReuse;

constexpr std::array<Kind, kKinds> kAllKinds{Kind::kLoad, Kind::kLoadPastL1, Kind::kStore};
constexpr std::array<const char*, kKinds> kSuffixes{".loads", ".loads_past_l1", ".stores"};

uint64_t share_of(uint64_t all, double share) { return static_cast<uint64_t>(std::llround(static_cast<double>(all) * share)); }

class Streams {
 public:
  Streams(Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch, const std::optional<access::CacheSpec>& caches,
          Imported& result)
      : found_(found), ops_(ops), launch_(launch), caches_(caches), result_(result), of_(launch.arrays.size()) {}

  void add() {
    bound_traffic();
    if (caches_ && found_.all_accesses) {
      reuse_ = launch_reuse(found_, launch_, *caches_, footprint() > caches_->l2_bytes);
    } else if (caches_) {
      reuse_.l1.why = reuse_.l2.why = Followed::Why::kTooMuch;
    }
    reuse_.arrays.resize(launch_.arrays.size());
    result_.report.l1 = reuse_.l1;
    result_.report.l2 = reuse_.l2;
    mark_used();
    for (size_t array = 0; array < launch_.arrays.size(); ++array) add_array(array);
    for (Path& path : found_.paths) {
      for_each_step(path, [this](Step& step) { place(step); });
    }
  }

 private:
  struct Stream {
    bool used = false;
    int16_t number = -1;
  };

  Stream& stream_of(const Step& step) {
    const Kind kind = access_kind(ops_[static_cast<size_t>(step.op)]);
    return of_[static_cast<size_t>(step.effect.stream)][static_cast<size_t>(kind)];
  }

  uint64_t whole_sectors(size_t array) const {
    return (launch_.arrays[array].bytes + access::kSectorBytes - 1) / access::kSectorBytes * access::kSectorBytes;
  }

  // Touches of an array may overlap: together they cover at most the array.
  void bound_traffic() {
    for (size_t array = 0; array < launch_.arrays.size(); ++array) {
      for (ArrayTraffic& traffic : found_.traffic[array]) {
        traffic.touched = std::min({traffic.touched, whole_sectors(array), traffic.requested});
      }
    }
  }

  uint64_t touched(size_t array) const {
    uint64_t all = 0;
    for (const ArrayTraffic& traffic : found_.traffic[array]) all += traffic.touched;
    return std::min(all, whole_sectors(array));
  }

  uint64_t footprint() const {
    uint64_t all = 0;
    for (size_t array = 0; array < launch_.arrays.size(); ++array) all += touched(array);
    return all;
  }

  void mark_used() {
    for (Path& path : found_.paths) {
      for_each_step(path, [this](const Step& step) {
        if (step.effect.stream >= 0) stream_of(step).used = true;
      });
    }
  }

  void add_array(size_t array) {
    const ArrayFacts& facts = launch_.arrays[array];
    ArrayReport report{.name = facts.name, .bytes = facts.bytes, .touched = touched(array)};
    const auto uses = std::ranges::count_if(of_[array], &Stream::used);
    for (size_t kind = 0; kind < kKinds; ++kind) {
      Stream& stream = of_[array][kind];
      if (!stream.used) continue;
      const bool write = kAllKinds[kind] == Kind::kStore;
      const SiteReuse reuse = reuse_of(array, kind);
      report.requested += found_.traffic[array][kind].requested;
      report.in_l1 += reuse.l1_sectors * access::kSectorBytes;
      report.dram += reuse.dram_sectors * access::kSectorBytes;
      report.written = report.written || write;
      report.linear = report.linear && reuse_.arrays[array][kind].linear;
      access::Served served = access::served(reuse);
      if (!caches_) served.dram = exact(reuse.dram_sectors, reuse.sectors);
      stream.number = static_cast<int16_t>(result_.kernel.streams.size());
      const auto& [l1, moved, dram] = served;
      result_.kernel.streams.push_back({facts.name + (uses > 1 ? kSuffixes[kind] : ""), write, dram.numerator, dram.denominator, 0,
                                        l1.numerator, l1.denominator, moved.numerator, moved.denominator});
    }
    result_.report.arrays.push_back(std::move(report));
  }

  static Fraction exact(uint64_t numerator, uint64_t denominator) {
    const uint64_t divisor = std::max<uint64_t>(1, std::gcd(numerator, denominator));
    return {numerator / divisor, std::max<uint64_t>(1, denominator / divisor)};
  }

  // Returns the reuse of all accesses of the array and kind, scaled up from the sample that was followed.
  SiteReuse reuse_of(size_t array, size_t kind) const {
    const ArrayTraffic& traffic = found_.traffic[array][kind];
    const ArrayReuse& followed = reuse_.arrays[array][kind];
    SiteReuse reuse{.sectors = traffic.requested / access::kSectorBytes};
    reuse.requests = reuse.sectors;
    if (followed.in_l1) {
      reuse.l1_requests = share_of(reuse.requests, followed.requests);
      reuse.l1_sectors = share_of(reuse.sectors, followed.l1_sectors);
    }
    const uint64_t once = traffic.touched / access::kSectorBytes;
    reuse.dram_sectors = std::min(followed.in_l2 ? share_of(reuse.sectors, followed.dram_sectors) : once, reuse.l2_sectors());
    if (traffic.random > 0) add_random(array, traffic, reuse);
    return reuse;
  }

  // Returns the misses of accesses to random places. An LRU cache serves the share of the array that it holds, and the
  // first access to each place misses.
  static double misses(double accesses, double places, double held) {
    const double fresh = places * -std::expm1(-accesses / places);
    return std::max(fresh, accesses * (1 - std::min(1.0, held / places)));
  }

  // Adds the sectors at random places. The other sectors reuse as in the sample.
  void add_random(size_t array, const ArrayTraffic& traffic, SiteReuse& reuse) const {
    const auto places = static_cast<double>(std::max<uint64_t>(whole_sectors(array) / access::kSectorBytes, 1));
    const auto random = static_cast<double>(traffic.random / access::kSectorBytes);
    const double others = 1 - static_cast<double>(traffic.random) / static_cast<double>(traffic.requested);
    const double l2 = caches_ ? static_cast<double>(caches_->l2_bytes / access::kSectorBytes) : places;
    double past_l1 = random;
    if (caches_ && kAllKinds[0] == Kind::kLoad && &traffic == &found_.traffic[array][0]) {
      const double of_sm = random / caches_->sms;
      const double on_sm = static_cast<int>(array) == launch_.local_array ? places / caches_->sms : places;
      past_l1 = misses(of_sm, on_sm, static_cast<double>(caches_->l1_bytes / access::kSectorBytes)) * caches_->sms;
    }
    const auto l1 = static_cast<uint64_t>(std::llround(random - past_l1));
    reuse.l1_requests = share_of(reuse.l1_requests, others) + l1;
    reuse.l1_sectors = share_of(reuse.l1_sectors, others) + l1;
    const auto dram = static_cast<uint64_t>(std::llround(std::min(misses(random, places, l2), past_l1)));
    reuse.dram_sectors = std::min(share_of(reuse.dram_sectors, others) + dram, reuse.l2_sectors());
  }

  void place(Step& step) {
    if (step.effect.stream < 0) return;
    const Stream& stream = stream_of(step);
    if (isa::adds_in_l2(ops_[static_cast<size_t>(step.op)].instruction->mnemonic)) {
      const ArrayTraffic& traffic = found_.traffic[static_cast<size_t>(step.effect.stream)]
                                                  [static_cast<size_t>(access_kind(ops_[static_cast<size_t>(step.op)]))];
      step.effect.l2_sectors = static_cast<uint32_t>(std::min<uint64_t>(traffic.touched / access::kSectorBytes, UINT32_MAX));
    }
    step.effect.stream = stream.number;
  }

  Exploration& found_;
  const std::vector<Op>& ops_;
  const LaunchFacts& launch_;
  const std::optional<access::CacheSpec>& caches_;
  Imported& result_;
  LaunchReuse reuse_;
  std::vector<std::array<Stream, kKinds>> of_;  // by array
};

}  // namespace

void add_streams(Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch,
                 const std::optional<access::CacheSpec>& caches, Imported& result) {
  Streams(found, ops, launch, caches, result).add();
}

}  // namespace warpfold::sass
