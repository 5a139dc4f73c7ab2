#include "traces/import/followed_lines.h"

#include <algorithm>
#include <numeric>

namespace warpfold::sass {

bool FollowedLines::for_each(const AccessPattern& pattern, const CtaBox& box, const Visit& visit) {
  const std::array<uint32_t, 3>& grid = launch_.grid;
  // Returns the CTA at the box's place in the first cluster of a row.
  const auto first_of_row = [&](uint32_t y, uint32_t z) {
    const auto along = [&](size_t d, uint32_t moved) {
      return uint64_t{box.corner[d] + moved} * launch_.cluster[d] + box.place[d];
    };
    return (along(2, z) * grid[1] + along(1, y)) * grid[0] + along(0, 0);
  };
  touches_ = 0;
  for (uint32_t z = 0; z < box.extent[2]; ++z) {
    for (uint32_t y = 0; y < box.extent[1]; ++y) {
      const uint64_t row = first_of_row(y, z);
      if (row >= choice_.ctas || !may_go_on()) return may_go_on();  // row numbers rise
      const uint64_t end = std::min<uint64_t>(box.extent[0], (choice_.ctas - row + launch_.cluster[0] - 1) / launch_.cluster[0]);
      const auto moved = [&](uint64_t steps, int variable) {
        return steps * static_cast<uint64_t>(pattern.slope[static_cast<size_t>(variable)]);
      };
      for_each_on_sms(row, end, [&](uint64_t x, uint64_t stride) {
        const Place first{moved(x, 0) + moved(y, 1) + moved(z, 2), row + x * launch_.cluster[0], pattern.step};
        in_row(pattern, first,
               {.bytes = static_cast<int64_t>(moved(stride, 0)),
                .count = (end - x + stride - 1) / stride,
                .ctas = stride * launch_.cluster[0]},
               visit);
      });
    }
  }
  return may_go_on();
}

void FollowedLines::for_each_on_sms(uint64_t row, uint64_t end,
                                    const std::function<void(uint64_t x, uint64_t stride)>& visit) const {
  if (choice_.sms == choice_.all_sms) return visit(0, 1);
  const uint64_t busy = std::min<uint64_t>(choice_.all_sms, launch_.ctas());
  const uint64_t step = launch_.cluster[0];
  const uint64_t stride = choice_.all_sms / std::gcd(uint64_t{choice_.all_sms}, step);
  for (uint64_t s = 0; s < choice_.sms; ++s) {
    const uint64_t sm = (2 * s + 1) * busy / (2 * choice_.sms);
    uint64_t x = 0;  // first cluster on that SM
    while (x < stride && (row + x * step) % choice_.all_sms != sm) ++x;
    if (x < std::min(stride, end)) visit(x, stride);
  }
}

void FollowedLines::in_row(const AccessPattern& pattern, const Place& first, const Dimension& ctas, const Visit& visit) {
  dimensions_ = pattern.dimensions;
  dimensions_.push_back(ctas);
  const auto longest = std::ranges::max_element(dimensions_, {}, &Dimension::count);
  longest_ = *longest;
  dimensions_.erase(longest);
  along_longest_ = &window(longest_.bytes);
  for (const AccessPattern::Run& run : pattern.runs) {
    along(dimensions_, {first.address + run.address, first.cta, first.step}, run.bytes, visit);
  }
}

void FollowedLines::along(std::span<const Dimension> dimensions, const Place& at, uint64_t bytes, const Visit& visit) {
  if (dimensions.empty()) return search(at, bytes, visit);
  const Dimension& outer = dimensions.back();
  for (uint64_t i = 0; i < outer.count && may_go_on(); ++i) {
    along(dimensions.first(dimensions.size() - 1),
          {at.address + i * static_cast<uint64_t>(outer.bytes), at.cta + i * outer.ctas, at.step + i * outer.steps}, bytes, visit);
  }
}

void FollowedLines::search(const Place& at, uint64_t bytes, const Visit& visit) {
  ++searches_;
  along_longest_->for_each(at.address, bytes, longest_.count, [&](uint64_t i) {
    touch({at.address + i * static_cast<uint64_t>(longest_.bytes), at.cta + i * longest_.ctas, at.step + i * longest_.steps}, bytes,
          visit);
    return may_go_on();
  });
}

void FollowedLines::touch(const Place& at, uint64_t bytes, const Visit& visit) {
  const uint64_t first = at.address / access::kSectorBytes;
  const uint64_t last = (at.address + bytes - 1) / access::kSectorBytes;
  const uint64_t every = choice_.every;
  for (uint64_t line = (first / access::kSectorsPerLine + every - 1) / every * every; line <= last / access::kSectorsPerLine;
       line += every) {
    access::LineTouch touched{line, 0};
    for (uint32_t s = 0; s < access::kSectorsPerLine; ++s) {
      const uint64_t sector = line * access::kSectorsPerLine + s;
      if (sector >= first && sector <= last) touched.sectors |= static_cast<uint8_t>(1U << s);
    }
    visit(at.cta, at.step, touched);
    ++touches_;
  }
}

const MovingWindow& FollowedLines::window(int64_t stride) {
  return windows_.try_emplace(stride, stride, choice_.every).first->second;
}

}  // namespace warpfold::sass
