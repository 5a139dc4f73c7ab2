#include "traces/import/followed_lines.h"

#include <algorithm>

namespace warpfold::sass {

bool FollowedLines::for_each(const AccessPattern& pattern, const CtaBox& box, const Visit& visit) {
  const std::array<uint32_t, 3>& grid = launch_.grid;
  const bool all = choice_.sms == choice_.all_sms;
  const uint64_t busy = std::min<uint64_t>(choice_.all_sms, launch_.ctas());
  touches_ = 0;
  for (uint32_t z = 0; z < box.extent[2]; ++z) {
    for (uint32_t y = 0; y < box.extent[1]; ++y) {
      const uint64_t row = (uint64_t{box.corner[2] + z} * grid[1] + box.corner[1] + y) * grid[0] + box.corner[0];
      if (row >= choice_.ctas || !may_go_on()) return may_go_on();  // rows rise
      const uint64_t end = std::min<uint64_t>(box.extent[0], choice_.ctas - row);
      const uint64_t stride = all ? 1 : choice_.all_sms;
      const uint64_t sms = all ? 1 : choice_.sms;
      for (uint64_t s = 0; s < sms; ++s) {
        const uint64_t sm = (2 * s + 1) * busy / (2 * sms);
        const uint64_t x = all ? 0 : (sm + choice_.all_sms - row % choice_.all_sms) % choice_.all_sms;
        if (x >= end) continue;
        const auto moved = [&](uint64_t steps, int variable) {
          return steps * static_cast<uint64_t>(pattern.slope[static_cast<size_t>(variable)]);
        };
        const Place first{moved(x, 0) + moved(y, 1) + moved(z, 2), row + x, pattern.step};
        in_row(pattern, first,
               {.bytes = static_cast<int64_t>(moved(stride, 0)), .count = (end - x + stride - 1) / stride, .ctas = stride}, visit);
      }
    }
  }
  return may_go_on();
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
