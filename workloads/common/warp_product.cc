#include "workloads/common/warp_product.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/common/list_schedule.h"

namespace warpfold::workloads {
namespace {

constexpr uint16_t kMatrixWavefronts = 4;  // LDSM.x4: four 8x8 matrices of 128 bytes, without bank conflicts
constexpr uint32_t kFragmentBytes = 512;

Line load(const FragmentRing& ring, uint32_t fragment) {
  const std::string to = general(ring.first + fragment % ring.slots * 4);
  return {line({ring.transposed ? "LDSM.16.MT88.4 " : "LDSM.16.M88.4 ", to, ", [", general(ring.address), "+",
                immediate(fragment * kFragmentBytes), "]"}),
          {.wavefronts = kMatrixWavefronts}};
}

// Loads of one operand in the order of their use, emitted as slots become free.
class Loads {
 public:
  Loads(const FragmentRing& ring, uint32_t fragments) : ring_(ring), fragments_(fragments) {}

  // Emits the loads that fit the ring once the fragments below `freed` have been consumed.
  void up_to(uint32_t freed, Lines& out) {
    for (; next_ < std::min(fragments_, freed + ring_.slots); ++next_) out.push_back(load(ring_, next_));
  }

 private:
  FragmentRing ring_;
  uint32_t fragments_;
  uint32_t next_ = 0;
};

}  // namespace

Lines& append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

void add_lines(Code& code, const Lines& lines) {
  for (const Line& one : lines) code.add(one.text, one.effect);
}

void add_scheduled(Code& code, const Lines& lines) {
  Code region(code.architecture());
  add_lines(region, lines);
  code.add(list_schedule(code.architecture(), region.instructions()));
}

Lines interleave(const Lines& main, const Lines& filler) {
  if (main.empty()) return filler;
  Lines merged;
  size_t next = 0;
  for (size_t i = 0; i < main.size(); ++i) {
    merged.push_back(main[i]);
    for (; next * main.size() < (i + 1) * filler.size(); ++next) merged.push_back(filler[next]);
  }
  return merged;
}

ProductLines lines_of(const WarpProduct& product) {
  const bool loads_a = product.a.slots > 0;
  const uint32_t pairs = product.blocks_n / 2;  // fragments of B per k-step
  if (product.b.slots == 0 || (loads_a && product.a.slots % product.blocks_m != 0)) throw std::logic_error("rings of fragments");
  Loads a(product.a, loads_a ? product.blocks_m * product.steps : 0);
  Loads b(product.b, pairs * product.steps);
  ProductLines lines;
  a.up_to(0, lines.first_loads);
  b.up_to(0, lines.first_loads);
  for (uint32_t step = 0; step < product.steps; ++step) {
    for (uint32_t pair = 0; pair < pairs; ++pair) {
      const uint32_t of_b = product.b.first + (step * pairs + pair) % product.b.slots * 4;
      for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t n = 2 * pair + half;
        for (uint32_t i = 0; i < product.blocks_m; ++i) {
          const uint32_t m = n % 2 == 0 ? i : product.blocks_m - 1 - i;  // back and forth, so that neighbours share a fragment of A
          const uint32_t of_a = loads_a ? product.a.first + (step * product.blocks_m + m) % product.a.slots * 4
                                        : product.a.first + (m * product.steps + step) * product.a_stride;
          const std::string to = general(product.accumulators + (m * product.blocks_n + n) * 4);
          const bool nothing = product.fresh && step == 0;
          lines.products.push_back({line({"HMMA.16816.F32 ", to, ", ", general(of_a), ", ", general(of_b + 2 * half), ", ",
                                          nothing ? std::string("RZ") : to}),
                                    {}});
        }
      }
      b.up_to(step * pairs + pair + 1, lines.products);
    }
    a.up_to((step + 1) * product.blocks_m, lines.products);
  }
  return lines;
}

}  // namespace warpfold::workloads
