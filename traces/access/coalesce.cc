#include "traces/access/coalesce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace warpfold::traces::access {
namespace {

void touch(uint64_t sector, std::vector<LineTouch>& touched) {
  const uint64_t line = sector / kSectorsPerLine;
  const auto bit = static_cast<uint8_t>(1U << sector % kSectorsPerLine);
  if (!touched.empty() && touched.back().line == line) {
    touched.back().sectors = static_cast<uint8_t>(touched.back().sectors | bit);
  } else {
    touched.push_back({line, bit});
  }
}

void merge_sorted(std::vector<LineTouch>& touched) {
  std::ranges::sort(touched, {}, &LineTouch::line);
  size_t kept = 0;
  for (const LineTouch& each : touched) {
    if (kept > 0 && touched[kept - 1].line == each.line) {
      touched[kept - 1].sectors = static_cast<uint8_t>(touched[kept - 1].sectors | each.sectors);
    } else {
      touched[kept++] = each;
    }
  }
  touched.resize(kept);
}

}  // namespace

void coalesce(const LaneAccess& access, std::vector<LineTouch>& touched) {
  touched.clear();
  bool rising = true;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const uint64_t first = access.addresses[std::countr_zero(left)];
    const uint64_t last = first + std::max<uint32_t>(access.bytes, 1) - 1;
    if (last < first) continue;  // wraps past the end of the address space
    for (uint64_t sector = first / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
      rising = rising && (touched.empty() || touched.back().line <= sector / kSectorsPerLine);
      touch(sector, touched);
    }
  }
  if (!rising) merge_sorted(touched);
}

std::vector<LineTouch> coalesce(const LaneAccess& access) {
  std::vector<LineTouch> touched;
  coalesce(access, touched);
  return touched;
}

uint32_t l2_passes(const LaneAccess& access) {
  std::vector<uint64_t> addresses;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) addresses.push_back(access.addresses[std::countr_zero(left)]);
  std::ranges::sort(addresses);
  std::map<uint64_t, uint32_t> most;  // most lanes at one address, by sector
  for (size_t i = 0, first = 0; i < addresses.size(); ++i) {
    if (addresses[i] != addresses[first]) first = i;
    uint32_t& of_sector = most[addresses[i] / kSectorBytes];
    of_sector = std::max(of_sector, static_cast<uint32_t>(i - first + 1));
  }
  uint32_t passes = 0;
  for (const auto& [sector, lanes] : most) passes += lanes;
  return passes;
}

uint32_t store_pairs(const std::vector<LineTouch>& touched) {
  const auto parts = static_cast<uint32_t>(touched.size()) + sector_count(touched);
  return (2 * parts + 4) / 5;
}

uint32_t tag_passes(const std::vector<LineTouch>& touched) {
  std::array<uint32_t, 4> in_bank{};
  for (const LineTouch& each : touched) {
    const uint64_t halves = each.line ^ each.line >> 4;
    ++in_bank[(halves ^ halves >> 2) % in_bank.size()];
  }
  return std::ranges::max(in_bank);
}

uint32_t pair_count(const std::vector<LineTouch>& touched) {
  uint32_t count = 0;
  for (const LineTouch& each : touched) count += ((each.sectors & 3) != 0 ? 1U : 0U) + ((each.sectors & 12) != 0 ? 1U : 0U);
  return count;
}

uint32_t sector_count(const std::vector<LineTouch>& touched) {
  uint32_t count = 0;
  for (const LineTouch& each : touched) count += static_cast<uint32_t>(std::popcount(each.sectors));
  return count;
}

}  // namespace warpfold::traces::access
