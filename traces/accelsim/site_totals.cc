#include "traces/accelsim/site_totals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "traces/accelsim/synthetic_addresses.h"
#include "traces/access/coalesce.h"
#include "traces/access/shared_wavefronts.h"
#include "traces/access/shares.h"

namespace warpfold::traces::accelsim {
namespace {

using access::Access;
using access::Fraction;

constexpr uint64_t kSharedWindow = uint64_t{1} << 24;  // generic addresses of shared memory

uint64_t nearest(uint64_t sum, uint64_t count) { return count == 0 ? 0 : (2 * sum + count) / (2 * count); }

uint64_t clamped(uint64_t value, uint64_t most) { return std::min(value, most); }

// Returns Effect::l2_passes of a request, or 0 if it follows from the sectors.
uint16_t passes_of(const StaticInstruction& instruction, uint64_t passes, uint64_t sectors, uint64_t requests) {
  const bool adds = isa::adds_in_l2(instruction.instruction.mnemonic);
  const uint64_t sectors_at_once = adds ? 1 : 2;
  const uint64_t mean = clamped(nearest(passes, requests), 0xffff);
  return mean * sectors_at_once > nearest(sectors, requests) ? static_cast<uint16_t>(mean) : uint16_t{0};
}

}  // namespace

void SiteTotals::add_addition(Totals& totals, const access::LaneAccess& lanes) const {
  constexpr size_t kMany = 4096;  // far more sectors than the adders of any chip process at once
  totals.l2_passes += access::l2_passes(lanes);
  if (totals.many_added) return;
  for (const access::LineTouch& touch : touched_) {
    for (uint32_t s = 0; s < access::kSectorsPerLine; ++s) {
      if ((touch.sectors >> s & 1) != 0) totals.added.insert(touch.line * access::kSectorsPerLine + s);
    }
  }
  totals.many_added = totals.added.size() > kMany;
  if (totals.many_added) totals.added.clear();
}

void SiteTotals::add(const StaticInstruction& instruction, uint32_t site, uint64_t cta, uint32_t warp, uint64_t step,
                     const TraceLine& line, const TraceHeader& header) {
  if (site >= totals_.size()) totals_.resize(site + 1);
  if (instruction.access == Access::kNone || !line.has_addresses || line.mask == 0) return;
  Totals& totals = totals_[site];
  access::LaneAccess lanes = line.access;
  lanes.bytes = instruction.bytes;
  ++totals.requests;
  if (!access::is_global(instruction.access)) {
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
  totals.wavefronts += access::global_wavefronts(instruction.access, instruction.instruction.mnemonic, lanes, touched_);
  if (isa::adds_in_l2(instruction.instruction.mnemonic)) {
    add_addition(totals, lanes);
  } else {
    totals.l2_passes += instruction.access == Access::kGlobalStore ? access::store_pairs(touched_) : access::pair_count(touched_);
  }
  if (header.synthetic) {
    totals.region = (address - kFirstRegion) / kStreamRegion;
    return;
  }
  reuse_.add(cta, warp, step, site, access::kind_of(instruction.access), touched_);
}

std::vector<isa::Effect> SiteTotals::effects(const StaticCode& code, const TraceHeader& header, Kernel& kernel) const {
  const std::vector<access::SiteReuse> reuse = reuse_.result();
  kernel.streams = header.streams;
  using Share = std::pair<uint64_t, uint64_t>;
  std::map<std::tuple<bool, Share, Share, Share>, int16_t> streams;
  const auto stream_of = [&](bool write, const access::Served& served) {
    const auto& [l1, moved, dram] = served;
    const auto pair = [](const Fraction& share) { return Share{share.numerator, share.denominator}; };
    const auto [known, made] =
        streams.try_emplace({write, pair(dram), pair(l1), pair(moved)}, static_cast<int16_t>(kernel.streams.size()));
    if (made) {
      kernel.streams.push_back({(write ? "stores" : "loads") + std::to_string(kernel.streams.size()), write, dram.numerator,
                                dram.denominator, 0, l1.numerator, l1.denominator, moved.numerator, moved.denominator});
    }
    return known->second;
  };

  std::vector<isa::Effect> effects;
  for (size_t site = 0; site < code.size(); ++site) {
    const StaticInstruction& instruction = code.at(static_cast<uint32_t>(site));
    isa::Effect effect = instruction.instruction.effect;
    const Totals totals = site < totals_.size() ? totals_[site] : Totals{};
    const uint64_t wavefronts = clamped(nearest(totals.wavefronts, totals.requests), 0xffff);
    if (wavefronts > access::fewest_wavefronts(instruction.access, instruction.instruction.mnemonic) && !instruction.off)
      effect.wavefronts = static_cast<uint16_t>(wavefronts);
    if (!access::is_global(instruction.access) || instruction.off) {
      effects.push_back(effect);
      continue;
    }
    effect.l2_passes = passes_of(instruction, totals.l2_passes, totals.sectors, totals.requests);
    effect.l2_sectors = static_cast<uint32_t>(totals.added.size());
    const bool write = instruction.access == Access::kGlobalStore;
    const access::Served served = access::served(site < reuse.size() ? reuse[site] : access::SiteReuse{});
    if (totals.sectors == 0) {
      effect.l1_hit = true;  // no addresses, or in shared memory
    } else if (header.synthetic && totals.region == l1_region(header.streams.size())) {
      effect.l1_hit = true;
    } else if (header.synthetic) {
      effect.bytes = static_cast<uint32_t>(
          clamped(nearest(totals.sectors * access::kSectorBytes, totals.requests), std::numeric_limits<uint32_t>::max()));
      if (totals.region < header.streams.size()) effect.stream = static_cast<int16_t>(totals.region);
    } else {
      // The mean bytes are exact over all requests; the shares come from the sampled lines.
      const double asked = static_cast<double>(totals.sectors) * access::kSectorBytes / static_cast<double>(totals.requests);
      effect.bytes = static_cast<uint32_t>(std::clamp(std::round(asked), 1.0, 4.0e9));
      effect.stream = stream_of(write, served);
    }
    effects.push_back(effect);
  }
  return effects;
}

}  // namespace warpfold::traces::accelsim
