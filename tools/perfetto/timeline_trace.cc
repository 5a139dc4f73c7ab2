#include "tools/perfetto/timeline_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tools/perfetto/lane_tracks.h"
#include "tools/perfetto/trace_writer.h"

namespace warpfold::perfetto {
namespace {

std::string description(const configs::Result& result) {
  return result.scenario() + ", " + result.policy() + ", on " + result.gpu() + ", by Warpfold " + result.provenance().version();
}

std::string sm_name(const configs::Result& result, const configs::SmTimeline& sm) {
  if (result.whole_chip()) return "SM " + std::to_string(sm.sm_class());
  std::string name = "SM class " + std::to_string(sm.sm_class()) + ": " + std::to_string(sm.sms()) + " SM";
  if (sm.sms() != 1) name += "s";
  return name;
}

// Slices carry their length in cycles, because nanoseconds are rounded.
std::vector<Argument> span(uint64_t from, uint64_t to) { return {{"start_cycle", from}, {"cycles", to - from}}; }

std::vector<Argument> span(const configs::FoldedSpan& folded) {
  std::vector<Argument> arguments = span(folded.start_cycle(), folded.start_cycle() + folded.cycles());
  arguments.push_back({"periods", folded.periods()});
  arguments.push_back({"cycles_per_period", folded.cycles() / folded.periods()});
  arguments.push_back({"exact", folded.exact()});
  return arguments;
}

using Role = std::tuple<uint32_t, uint32_t, std::string>;  // slot, kernel, name
Role role_of(const configs::PhaseSlice& phase) { return {phase.slot(), phase.kernel(), phase.role()}; }

// The tracks of one SM class.
class SmTrace {
 public:
  SmTrace(const configs::Result& result, const configs::SmTimeline& sm, TraceWriter& writer)
      : result_(result), sm_(sm), writer_(writer) {
    sm_track_ = writer_.add_process(static_cast<int>(sm.sm_class()) + 1, sm_name(result, sm), description(result));
  }

  void write() {
    write_kernels();
    write_folding();
    write_ctas();
    write_lanes(result_.timeline(), sm_, sm_track_, writer_);
  }

 private:
  const std::string& kernel_name(uint32_t kernel) const { return result_.kernels(static_cast<int>(kernel)).name(); }

  void write_kernels() {
    const Track group = writer_.add_track(sm_track_, "kernels");
    for (const configs::KernelSpan& kernel : sm_.kernels()) {
      const std::string& name = kernel_name(kernel.kernel());
      const Track track = writer_.add_track(group, name);
      if (kernel.released_cycle() < kernel.start_cycle()) {
        writer_.slice(track, kernel.released_cycle(), kernel.start_cycle(), "waits for room",
                      span(kernel.released_cycle(), kernel.start_cycle()));
      }
      std::vector<Argument> arguments = span(kernel.start_cycle(), kernel.end_cycle());
      arguments.push_back({"ctas", kernel.ctas()});
      arguments.push_back({"ctas_left_out", kernel.ctas_left_out()});
      arguments.push_back({"ctas_folded", kernel.ctas_folded()});
      writer_.slice(track, kernel.start_cycle(), kernel.end_cycle(), name, std::move(arguments));
    }
  }

  // Spans in the middle are omitted if there are too many; the gap that they leave is shown as both replayed and folded.
  void write_folding() {
    const Track track = writer_.add_track(sm_track_, "replayed and folded");
    uint64_t left_out = sm_.folded_left_out();
    const int first = left_out > 0 ? sm_.folded_size() / 2 : -1;
    uint64_t at = 0;
    const auto between = [&](uint64_t to, bool mixed) {
      if (to <= at) return;
      std::vector<Argument> arguments = span(at, to);
      if (mixed) {
        arguments.push_back({"folded_spans", left_out});
        arguments.push_back({"folded_cycles", sm_.folded_cycles_left_out()});
      }
      writer_.slice(track, at, to, mixed ? "replayed and folded" : "replayed", std::move(arguments));
    };
    for (int f = 0; f < sm_.folded_size(); ++f) {
      const configs::FoldedSpan& folded = sm_.folded(f);
      between(folded.start_cycle(), f == first);
      at = folded.start_cycle() + folded.cycles();
      std::vector<Argument> arguments = span(folded);
      for (const configs::KernelCtas& ctas : folded.ctas())
        arguments.push_back({"CTAs of " + kernel_name(ctas.kernel()), ctas.ctas()});
      writer_.slice(track, folded.start_cycle(), at, folded.exact() ? "folded" : "folded, bounded", std::move(arguments));
    }
    between(sm_.end_cycle(), false);
  }

  void write_ctas() {
    const Track group = writer_.add_track(sm_track_, "CTA slots");
    std::map<uint32_t, Track> slots;
    for (const configs::CtaSlice& cta : sm_.ctas()) slots[cta.slot()] = 0;
    std::map<Role, Track> roles;
    for (const configs::PhaseSlice& phase : sm_.phases()) {
      slots[phase.slot()] = 0;
      roles[role_of(phase)] = 0;
    }
    for (auto& [slot, track] : slots) track = writer_.add_track(group, "slot " + std::to_string(slot));
    for (auto& [role, track] : roles) {
      const auto& [slot, kernel, name] = role;
      track = writer_.add_track(slots[slot], kernel_name(kernel) + ": " + name);
    }
    for (const configs::CtaSlice& cta : sm_.ctas()) write_cta(slots[cta.slot()], cta);
    for (const configs::PhaseSlice& phase : sm_.phases()) {
      writer_.slice(roles[role_of(phase)], phase.start_cycle(), phase.end_cycle(), phase.phase(),
                    span(phase.start_cycle(), phase.end_cycle()));
    }
  }

  void write_cta(Track track, const configs::CtaSlice& cta) {
    std::vector<Argument> arguments = span(cta.start_cycle(), cta.end_cycle());
    arguments.push_back({"cta_class", cta.cta_class()});
    if (cta.has_placed_cycle()) arguments.push_back({"placed_cycle", cta.placed_cycle()});
    if (cta.ended_folded()) arguments.push_back({"ended_folded", true});
    writer_.begin(track, cta.start_cycle(), kernel_name(cta.kernel()), std::move(arguments));
    for (const configs::FoldedSpan& folded : sm_.folded()) {
      const uint64_t end = folded.start_cycle() + folded.cycles();
      if (folded.start_cycle() < cta.start_cycle() || end > cta.end_cycle()) continue;
      writer_.slice(track, folded.start_cycle(), end, "folded", span(folded));
    }
    writer_.end(track, cta.end_cycle());
  }

  const configs::Result& result_;
  const configs::SmTimeline& sm_;
  TraceWriter& writer_;
  Track sm_track_ = 0;
};

constexpr uint64_t kMostCycles = uint64_t{1} << 62;

bool well_formed(const configs::Result& result, const configs::SmTimeline& sm) {
  const auto known = [&](uint32_t kernel) { return kernel < static_cast<uint32_t>(result.kernels_size()); };
  const auto spans = [&](uint64_t from, uint64_t to) { return from <= to && to <= kMostCycles; };
  for (const configs::KernelSpan& kernel : sm.kernels()) {
    if (!known(kernel.kernel()) || !spans(kernel.released_cycle(), kernel.start_cycle()) ||
        !spans(kernel.start_cycle(), kernel.end_cycle()))
      return false;
  }
  std::map<uint32_t, uint64_t> free;  // per slot
  for (const configs::CtaSlice& cta : sm.ctas()) {
    if (!known(cta.kernel()) || !spans(free[cta.slot()], cta.start_cycle()) || !spans(cta.start_cycle(), cta.end_cycle()))
      return false;
    free[cta.slot()] = cta.end_cycle();
  }
  std::map<Role, uint64_t> left;
  for (const configs::PhaseSlice& phase : sm.phases()) {
    uint64_t& until = left[role_of(phase)];
    if (!known(phase.kernel()) || !spans(until, phase.start_cycle()) || !spans(phase.start_cycle(), phase.end_cycle()))
      return false;
    until = phase.end_cycle();
  }
  uint64_t at = 0;
  for (const configs::FoldedSpan& folded : sm.folded()) {
    if (folded.periods() == 0 || !spans(at, folded.start_cycle()) || folded.cycles() > kMostCycles) return false;
    at = folded.start_cycle() + folded.cycles();
    for (const configs::KernelCtas& ctas : folded.ctas()) {
      if (!known(ctas.kernel())) return false;
    }
  }
  if (!spans(at, sm.end_cycle())) return false;
  at = 0;
  for (const configs::UseWindow& window : sm.windows()) {
    if (window.start_cycle() != at || window.end_cycle() <= at || window.end_cycle() > kMostCycles ||
        window.busy_size() != result.timeline().lanes_size())
      return false;
    at = window.end_cycle();
  }
  return true;
}

bool well_formed(const configs::Result& result) {
  constexpr double kMostMhz = 1e6;
  const double clock = result.provenance().scenario().gpu().clock_mhz();
  if (!(clock >= 1 && clock <= kMostMhz)) return false;
  for (const configs::TimelineLane& lane : result.timeline().lanes()) {
    if (!(lane.capacity_per_cycle() > 0) || lane.sub_core() >= 1024) return false;
  }
  return std::ranges::all_of(result.timeline().sms(), [&](const auto& sm) { return well_formed(result, sm); });
}

}  // namespace

Expected<std::string> timeline_trace(const configs::Result& result) {
  if (!result.has_timeline()) return fail("the result has no timeline; simulate --timeline keeps it");
  if (!well_formed(result)) return fail("the result's timeline is not one that a simulation writes");
  TraceWriter writer(Clock(result.provenance().scenario().gpu().clock_mhz()));
  for (const configs::SmTimeline& sm : result.timeline().sms()) SmTrace(result, sm, writer).write();
  return writer.finish();
}

}  // namespace warpfold::perfetto
