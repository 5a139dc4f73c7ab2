#include "traces/accelsim/synthetic_addresses.h"

#include <algorithm>

#include "traces/accelsim/site_totals.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr uint64_t kSectors = kStreamRegion / access::kSectorBytes;

uint64_t scattered(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
  return value ^ value >> 33;
}

}  // namespace

SyntheticAddresses::SyntheticAddresses(const Kernel& kernel) {
  for (const MemoryStream& stream : kernel.streams) regions_.push_back({stream.dram_numerator, stream.dram_denominator});
  regions_.resize(kernel.streams.size() + 2);
}

access::LaneAccess SyntheticAddresses::global(const isa::Effect& effect, uint32_t bytes) {
  const size_t streams = regions_.size() - 2;
  const uint64_t number = effect.l1_hit       ? l1_region(streams)
                          : effect.stream < 0 ? l2_region(streams)
                                              : static_cast<uint64_t>(effect.stream);
  Region& region = regions_[number];
  const uint64_t sectors =
      std::clamp<uint64_t>((effect.bytes + access::kSectorBytes / 2) / access::kSectorBytes, 1, access::kLanes);
  // Align to the size, rounded up to a power of two, so that the access touches as few lines as possible.
  uint64_t room = 1;
  while (room < sectors) room *= 2;
  uint64_t first = 0;
  region.accumulated += region.numerator;
  if (region.fresh == 0 || region.accumulated >= region.denominator) {
    if (region.accumulated >= region.denominator) region.accumulated -= region.denominator;
    first = (region.fresh + room - 1) / room * room;
    region.fresh = first + room;
  } else {
    first = scattered(++region.accesses) % region.fresh / room * room;
  }
  access::LaneAccess access;
  access.mask = 0xffffffff;
  access.bytes = bytes;
  for (uint64_t lane = 0; lane < access::kLanes; ++lane) {
    const uint64_t sector = lane * sectors / access::kLanes;
    const uint64_t first_lane = (sector * access::kLanes + sectors - 1) / sectors;
    const uint64_t offset = (lane - first_lane) * bytes % access::kSectorBytes;
    access.addresses[lane] = kFirstRegion + number * kStreamRegion + (first + sector) % kSectors * access::kSectorBytes + offset;
  }
  return access;
}

access::LaneAccess SyntheticAddresses::shared(uint32_t wavefronts, uint32_t bytes, int group_lanes) {
  access::LaneAccess access;
  access.mask = 0xffffffff;
  access.bytes = bytes;
  const auto groups = static_cast<uint32_t>(access::kLanes / group_lanes);
  for (uint32_t group = 0; group < groups; ++group) {
    const uint32_t passes = std::clamp<uint32_t>(wavefronts / groups + (group < wavefronts % groups ? 1 : 0), 1, group_lanes);
    for (uint32_t lane = 0; lane < static_cast<uint32_t>(group_lanes); ++lane) {
      const size_t at = size_t{group} * static_cast<size_t>(group_lanes) + lane;
      access.addresses[at] = uint64_t{lane % passes} * access::kLineBytes + uint64_t{lane / passes} * bytes;
    }
  }
  return access;
}

}  // namespace warpfold::traces::accelsim
