#include "sim/sampling/work.h"

namespace warpfold::sim {
namespace {

size_t loop_at(const Warp& warp, uint32_t depth) {
  return static_cast<size_t>(&warp.program->loop_around(*warp.op, depth) - warp.program->loops.data());
}

}  // namespace

const WorkTable::Sums& WorkTable::sums(const Program& program, uint32_t cta_class) {
  const auto [entry, made] = sums_.try_emplace({&program, cta_class});
  Sums& sums = entry->second;
  if (!made) return sums;
  const traces::CtaClass& values = image_.kernel->cta_classes[cta_class];
  for (auto* per_loop : {&sums.begin, &sums.end, &sums.passed}) per_loop->resize(program.loops.size());
  Work sum;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    for (const uint32_t l : program.begins_at[i]) sums.begin[l] = sum;
    sums.before.push_back(sum);
    const MicroOp& op = program.ops[i];
    sum = sum + Work{1, op.pipe == isa::Pipe::kMemory ? op.bytes : 0};
    for (const uint32_t l : program.ends_at[i]) {
      sums.end[l] = sum;
      sum = sums.begin[l] + (sum - sums.begin[l]) * traces::trips(program.loops[l].trips, values);
      sums.passed[l] = sum;
    }
  }
  sums.before.push_back(sum);
  return sums;
}

Work WorkTable::of_cta(uint32_t cta_class) {
  Work work;
  for (const int role : image_.role_of_warp) work = work + sums(image_.programs[role], cta_class).before.back();
  return work;
}

Work WorkTable::left(const Warp& warp, uint32_t cta_class) {
  if (warp.exited) return {};
  const Sums& table = sums(*warp.program, cta_class);
  Work position = table.before[warp.op - warp.program->ops.data()];
  Work left;
  for (uint32_t depth = warp.op->depth; depth > 0; --depth) {
    const size_t loop = loop_at(warp, depth - 1);
    left = left + (table.end[loop] - position) + (table.end[loop] - table.begin[loop]) * (warp.trips_left[depth - 1] - 1);
    position = table.passed[loop];
  }
  return left + (table.before.back() - position);
}

Work WorkTable::of_trip(const Warp& warp, uint32_t cta_class, uint32_t depth) {
  const Sums& table = sums(*warp.program, cta_class);
  const size_t loop = loop_at(warp, depth);
  return table.end[loop] - table.begin[loop];
}

}  // namespace warpfold::sim
