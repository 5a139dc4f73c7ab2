#include "sim/sm/segments.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

bool encloses(const LoopSpan& outer, const LoopSpan& inner) {
  return outer.depth < inner.depth && outer.begin <= inner.begin && inner.end <= outer.end;
}

// Returns the passes through a loop's body in one CTA: the trips of the loop times the trips of each loop around it.
uint64_t passes(const Program& program, const LoopSpan& loop, const traces::CtaClass& cta_class) {
  uint64_t product = traces::trips(loop.trips, cta_class);
  for (const LoopSpan& outer : program.loops) {
    if (encloses(outer, loop)) product *= traces::trips(outer.trips, cta_class);
  }
  return product;
}

// Returns the innermost loop from which the kernel issues most instructions; null if the program has no loop.
const LoopSpan* main_loop(const traces::Kernel& kernel, const Program& program) {
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  const LoopSpan* main = nullptr;
  uint64_t most = 0;
  for (const LoopSpan& loop : program.loops) {
    if (std::ranges::any_of(program.loops, [&](const LoopSpan& inner) { return encloses(loop, inner); })) continue;
    uint64_t issued = 0;
    for (size_t c = 0; c < ctas.size(); ++c) {
      issued += ctas[c] * passes(program, loop, kernel.cta_classes[c]) * (loop.end - loop.begin + 1);
    }
    if (main != nullptr && issued <= most) continue;
    main = &loop;
    most = issued;
  }
  return main;
}

Phase phase_of(const LoopSpan* main, uint32_t position) {
  if (main == nullptr) return Phase::kMainLoop;
  return position < main->begin ? Phase::kPrologue : position > main->end ? Phase::kEpilogue : Phase::kMainLoop;
}

}  // namespace

std::vector<Segment> assign_segments(const traces::Kernel& kernel, std::vector<Program>& programs, AccountGranularity granularity) {
  std::vector<Segment> segments;
  for (uint32_t role = 0; role < programs.size(); ++role) {
    Program& program = programs[role];
    const LoopSpan* main = main_loop(kernel, program);
    for (uint32_t position = 0; position < program.ops.size(); ++position) {
      const Phase phase = phase_of(main, position);
      const bool each = granularity == AccountGranularity::kByInstruction;
      if (each || segments.empty() || segments.back().role != role || segments.back().phase != phase)
        segments.push_back({role, phase, each ? position : 0});
      program.ops[position].segment = static_cast<uint32_t>(segments.size() - 1);
    }
  }
  return segments;
}

}  // namespace warpfold::sim
