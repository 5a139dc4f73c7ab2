#include "sim/sm/sm_observation.h"

#include "isa/assembler.h"
#include "sim/sm/barrier_unit.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Order: per sub-core its issue slot and its pipes, then the units that sub-cores share.
std::vector<UseLane> use_lanes(const Spec& spec) {
  std::vector<UseLane> lanes;
  for (int c = 0; c < static_cast<int>(spec.sub_cores); ++c) {
    lanes.push_back({"issue_slot", c, 1000 * spec.issue_width / spec.issue_interval});
    for (const isa::PipeRow& row : isa::kMathPipes) {
      if (spec.has(row.pipe)) lanes.push_back({std::string(row.name), c});
    }
  }
  lanes.push_back({"wgmma"});
  if (spec.tensor_memory_columns > 0) lanes.push_back({"tcgen05"});
  lanes.push_back({"memory_issue", -1, spec.memory_issue_rate.thousandths()});
  lanes.push_back({"shared_memory", -1, spec.data_stage_rate.thousandths()});
  lanes.push_back({"sm_ingress", -1, spec.memory.ingress_milli_bytes_per_clk});
  return lanes;
}

std::vector<uint64_t> use_of(Sm& sm) {
  SmState& state = sm.state();
  std::vector<uint64_t> totals;
  uint64_t memory_instructions = 0;
  for (SubCore& sub_core : state.sub_cores) {
    uint64_t& issued = totals.emplace_back(0);
    for (int l = 0; l < state.account.launches(); ++l) issued += sub_core.settle(sm).issued[l];
    for (const isa::PipeRow& row : isa::kMathPipes) {
      if (sm.spec().has(row.pipe)) totals.push_back(sub_core.settle(sm).pipe_cycles[static_cast<size_t>(row.pipe)]);
    }
    memory_instructions += sub_core.settle(sm).pipe_cycles[static_cast<int>(isa::Pipe::kMemory)];
  }
  totals.push_back(state.wgmma.busy_cycles());
  if (sm.spec().tensor_memory_columns > 0) totals.push_back(state.tcgen05.busy_cycles());
  totals.push_back(memory_instructions * sm.spec().memory_issue_interval);
  totals.push_back(state.memory.wavefronts());
  totals.push_back(state.memory.memory().ingress_bytes());
  return totals;
}

void record_timeline(Sm& sm, const TimelineLimits& limits) {
  Observation& observation = sm.observation();
  SmState& state = sm.state();
  observation.timeline.emplace(limits, state.launches.size(), state.ctas.size(), use_of(sm).size());
  observation.next_sample = observation.timeline->next_sample();
}

void sample_use(Sm& sm, Cycle now) {
  Observation& observation = sm.observation();
  observation.timeline->sample(now, use_of(sm));
  observation.next_sample = observation.timeline->next_sample();
}

void entered_segment(Sm& sm, const Warp& warp, uint32_t from, Cycle now) {
  const std::vector<Segment>& segments = sm.state().launches[warp.launch].image->segments;
  const Segment& segment = segments[warp.op->segment];
  if (segment.phase == segments[from].phase) return;
  sm.observation().timeline->warp_moved(static_cast<size_t>(warp.cta), static_cast<size_t>(warp.index_in_cta), segment.role,
                                        segment.phase, now);
}

TimelineRecorder end_timeline(Sm& sm) {
  Observation& observation = sm.observation();
  observation.timeline->end(sm.state().now + 1, use_of(sm));
  return *observation.timeline;
}

std::vector<LaunchSpan> launch_spans(const Sm& sm) {
  const SmState& state = sm.state();
  std::vector<LaunchSpan> launches;
  for (int l = 0; l < state.account.launches(); ++l) {
    const LaunchProgress& progress = state.progress[l];
    if (progress.done > 0) launches.push_back({.launch = l, .start = progress.start, .end = progress.end, .ctas = progress.done});
  }
  return launches;
}

uint64_t port_reads(const Sm& sm) {
  uint64_t reads = 0;
  for (const SubCore& sub_core : sm.state().sub_cores) {
    for (int l = 0; l < sm.ledger().launches(); ++l) reads += sub_core.port_reads(l);
  }
  return reads;
}

// A line for each waiting warp:
//   gemm CTA 3 consumer0 warp 4 (sub-core 0): short_scoreboard since cycle 812 at [..] SYNCS.PHASECHK... ; waits for ring full, 1
//   phases ahead, 0 arrivals and 32768 bytes missing
std::string waiting_report(const Sm& sm) {
  const SmState& state = sm.state();
  std::string report;
  for (size_t c = 0; c < state.sub_cores.size(); ++c) {
    for (int slot = 0; slot < state.sub_cores[c].slots(); ++slot) {
      const Warp& warp = state.sub_cores[c].warp(slot);
      if (!warp.resident || !warp.blocked) continue;
      const KernelImage& image = *state.launches[warp.launch].image;
      const traces::Kernel& kernel = *image.kernel;
      const MicroOp& op = *(warp.in_barrier ? warp.barrier_op : warp.op);
      report += "  " + kernel.name + " CTA " + std::to_string(warp.cta) + " " +
                kernel.roles[image.role_of_warp[warp.index_in_cta]].name + " warp " + std::to_string(warp.index_in_cta) +
                " (sub-core " + std::to_string(c) + "): " + std::string(state_name(warp.reason)) + " since cycle " +
                std::to_string(warp.since) + " at " +
                isa::format_instruction(*warp.program->sources[&op - warp.program->ops.data()]);
      if (warp.in_barrier) {
        const NamedBarrier& barrier = state.ctas[warp.cta].barriers[warp.barrier];
        report +=
            "; waits at barrier " + std::to_string(warp.barrier) + ", " + std::to_string(barrier.arrived) + " warps have arrived";
      } else if (warp.op->behaviour == isa::Behaviour::kMbarrierWait) {
        uint64_t awaited = 0;
        const Mbarrier& barrier = awaited_mbarrier(sm, warp, *warp.op, awaited);
        // The phase, and the stage of a ring with interchangeable stages, do not count skipped time. The report
        // therefore names the distance in phases, and omits the stage of such a ring.
        const auto stage = &barrier - state.ctas[warp.cta].rings[warp.op->barrier].data();
        const bool alike = image.rotates[image.base_ring[warp.op->barrier]];
        report += "; waits for ring " + kernel.rings[warp.op->barrier].name +
                  (alike ? std::string() : " stage " + std::to_string(stage)) + ", " + std::to_string(awaited - barrier.completed) +
                  " phases ahead, " + std::to_string(barrier.arrivals_left) + " arrivals and " +
                  std::to_string(barrier.bytes_left) + " bytes missing";
      }
      if (state.memory.polls(warp)) report += "; reads the counter of the grid's barrier";
      report += "\n";
    }
  }
  return report;
}

}  // namespace warpfold::sim
