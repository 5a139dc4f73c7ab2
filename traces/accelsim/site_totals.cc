#include "traces/accelsim/site_totals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "traces/accelsim/synthetic_addresses.h"
#include "traces/access/coalesce.h"
#include "traces/access/shared_wavefronts.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr uint64_t kSharedWindow = uint64_t{1} << 24;  // generic addresses of shared memory

access::Kind kind_of(Access access) {
  return access == Access::kGlobalStore        ? access::Kind::kStore
         : access == Access::kGlobalLoadPastL1 ? access::Kind::kLoadPastL1
                                               : access::Kind::kLoad;
}

bool is_global(Access access) {
  return access == Access::kGlobalLoad || access == Access::kGlobalLoadPastL1 || access == Access::kGlobalStore;
}

uint64_t nearest(uint64_t sum, uint64_t count) { return count == 0 ? 0 : (2 * sum + count) / (2 * count); }

uint64_t clamped(uint64_t value, uint64_t most) { return std::min(value, most); }

// What the same access would take without a conflict, in the machine's terms: an effect says only what is beyond.
uint32_t fewest_wavefronts(const StaticInstruction& instruction) {
  if (instruction.access == Access::kMatrix) return instruction.matrices;
  return instruction.bytes > 8 ? 4 : instruction.bytes > 4 ? 2 : 1;
}

}  // namespace

Fraction simplest(uint64_t numerator, uint64_t denominator) {
  if (denominator == 0 || numerator == 0) return {};
  if (numerator >= denominator) return {1, 1};
  const double share = static_cast<double>(numerator) / static_cast<double>(denominator);
  constexpr double kRelative = 0.005;
  constexpr double kAbsolute = 0.0005;
  const double allowed = std::max(kRelative * share, std::min(kAbsolute, 0.25 * share));
  // Down the Stern-Brocot tree: the first fraction inside the interval has the smallest denominator.
  uint64_t low_n = 0;
  uint64_t low_d = 1;
  uint64_t high_n = 1;
  uint64_t high_d = 1;
  while (low_d + high_d <= 16384) {  // SpreadShare's units
    const uint64_t middle_n = low_n + high_n;
    const uint64_t middle_d = low_d + high_d;
    const double middle = static_cast<double>(middle_n) / static_cast<double>(middle_d);
    if (std::abs(middle - share) <= allowed) return {middle_n, middle_d};
    (middle < share ? low_n : high_n) = middle_n;
    (middle < share ? low_d : high_d) = middle_d;
  }
  return {high_n, high_d};
}

Fraction simplest_binary(uint64_t numerator, uint64_t denominator) {
  if (denominator == 0 || numerator == 0) return {};
  if (numerator >= denominator) return {1, 1};
  const double share = static_cast<double>(numerator) / static_cast<double>(denominator);
  constexpr double kAllowed = 0.005;
  constexpr uint64_t kMost = 4096;
  for (uint64_t below = 2;; below *= 2) {
    const auto above = static_cast<uint64_t>(std::round(share * static_cast<double>(below)));
    const double off = std::abs(static_cast<double>(above) / static_cast<double>(below) - share);
    if (below == kMost || (off <= kAllowed && above < below)) return {std::min(above, below - 1), below};
  }
}

void SiteTotals::add(const StaticInstruction& instruction, uint32_t site, uint64_t cta, uint32_t warp, uint64_t step,
                     const TraceLine& line, const TraceHeader& header) {
  if (site >= totals_.size()) totals_.resize(site + 1);
  if (instruction.access == Access::kNone || !line.has_addresses || line.mask == 0) return;
  Totals& totals = totals_[site];
  access::LaneAccess lanes = line.access;
  lanes.bytes = instruction.bytes;
  ++totals.requests;
  if (!is_global(instruction.access)) {
    if (instruction.access == Access::kMatrix) totals.wavefronts += access::matrix_wavefronts(lanes, instruction.matrices);
    if (instruction.access == Access::kShared) totals.wavefronts += access::shared_wavefronts(lanes);
    return;
  }
  access::coalesce(lanes, touched_);
  if (touched_.empty()) return;
  const uint64_t address = touched_.front().line * access::kLineBytes;
  if (header.shared_base != 0 && address - header.shared_base < kSharedWindow) {
    ++totals.in_shared;
    totals.wavefronts += access::shared_wavefronts(lanes);
    return;
  }
  totals.sectors += access::sector_count(touched_);
  totals.wavefronts += std::max<size_t>(touched_.size(), fewest_wavefronts(instruction));
  if (header.synthetic) {
    totals.region = (address - kFirstRegion) / kStreamRegion;
    return;
  }
  reuse_.add(cta, warp, step, site, kind_of(instruction.access), touched_);
}

std::vector<isa::Effect> SiteTotals::effects(const StaticCode& code, const TraceHeader& header, Kernel& kernel) const {
  const std::vector<access::SiteReuse> reuse = reuse_.result();
  kernel.streams = header.streams;
  std::map<std::tuple<bool, uint64_t, uint64_t, uint64_t, uint64_t>, int16_t> streams;
  const auto stream_of = [&](bool write, const Fraction& dram, const Fraction& l1) {
    const auto [known, made] = streams.try_emplace({write, dram.numerator, dram.denominator, l1.numerator, l1.denominator},
                                                   static_cast<int16_t>(kernel.streams.size()));
    if (made) {
      kernel.streams.push_back({(write ? "stores" : "loads") + std::to_string(kernel.streams.size()), write, dram.numerator,
                                dram.denominator, 0, l1.numerator, l1.denominator});
    }
    return known->second;
  };

  std::vector<isa::Effect> effects;
  for (size_t site = 0; site < code.size(); ++site) {
    const StaticInstruction& instruction = code.at(static_cast<uint32_t>(site));
    isa::Effect effect = instruction.instruction.effect;
    const Totals totals = site < totals_.size() ? totals_[site] : Totals{};
    const uint64_t wavefronts = clamped(nearest(totals.wavefronts, totals.requests), 0xffff);
    if (wavefronts > fewest_wavefronts(instruction) && !instruction.off) effect.wavefronts = static_cast<uint16_t>(wavefronts);
    if (!is_global(instruction.access) || instruction.off) {
      effects.push_back(effect);
      continue;
    }
    const bool write = instruction.access == Access::kGlobalStore;
    const access::SiteReuse used = site < reuse.size() ? reuse[site] : access::SiteReuse{};
    if (totals.sectors == 0) {
      effect.l1_hit = true;  // of no addresses, or in shared memory
    } else if (header.synthetic && totals.region == l1_region(header.streams.size())) {
      effect.l1_hit = true;
    } else if (header.synthetic) {
      effect.bytes = static_cast<uint32_t>(
          clamped(nearest(totals.sectors * access::kSectorBytes, totals.requests), std::numeric_limits<uint32_t>::max()));
      if (totals.region < header.streams.size()) effect.stream = static_cast<int16_t>(totals.region);
    } else if (used.sectors > 0 && used.l1_requests == used.requests) {
      effect.l1_hit = true;
    } else {
      const Fraction l1 = simplest_binary(used.l1_requests, used.requests);
      const uint64_t moved_share_n = used.requests == 0 ? 1 : used.l2_sectors();
      const uint64_t moved_share_d = used.requests == 0 ? 1 : used.sectors;
      // Of all requests, counted exactly; the shares are those of the lines that were kept.
      const double moved = static_cast<double>(totals.sectors) * access::kSectorBytes * static_cast<double>(moved_share_n) /
                           static_cast<double>(moved_share_d);
      const double requests =
          static_cast<double>(totals.requests) * (1 - static_cast<double>(l1.numerator) / static_cast<double>(l1.denominator));
      effect.bytes = static_cast<uint32_t>(std::clamp(std::round(moved / requests), 1.0, 4.0e9));
      const Fraction dram = simplest(used.dram_sectors, std::max<uint64_t>(used.l2_sectors(), 1));
      effect.stream = stream_of(write, dram, l1);
    }
    effects.push_back(effect);
  }
  return effects;
}

}  // namespace warpfold::traces::accelsim
