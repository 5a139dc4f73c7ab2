#include "tools/warpfold/figures/timeline.h"

namespace warpfold::cli {

namespace {

void fill_lane(const sim::UseLane& lane, configs::TimelineLane& into) {
  into.set_resource(lane.name);
  if (lane.sub_core >= 0) into.set_sub_core(static_cast<uint32_t>(lane.sub_core));
  constexpr double kCycles = 1000;
  into.set_capacity_per_cycle(static_cast<double>(lane.per_1000_cycles) / kCycles);
}

void fill_kernel(const sim::LaunchSpan& span, configs::KernelSpan& into) {
  into.set_kernel(static_cast<uint32_t>(span.launch));
  into.set_released_cycle(span.released);
  into.set_start_cycle(span.start);
  into.set_end_cycle(span.end);
  into.set_ctas(span.ctas);
  into.set_ctas_left_out(span.ctas_left_out);
  into.set_left_out_from_cycle(span.left_out_from);
  into.set_left_out_to_cycle(span.left_out_to);
  into.set_ctas_folded(span.ctas_folded);
}

void fill_cta(const policies::Plan& plan, const sim::CtaSlice& slice, configs::CtaSlice& into) {
  into.set_kernel(static_cast<uint32_t>(slice.launch));
  into.set_cta_class(plan.kernels[static_cast<size_t>(slice.launch)].kernel.cta_classes[slice.cta_class].name);
  into.set_slot(slice.slot);
  into.set_start_cycle(slice.start);
  into.set_end_cycle(slice.end);
  if (slice.placed != slice.start) into.set_placed_cycle(slice.placed);
  into.set_ended_folded(slice.ended_folded);
}

void fill_phase(const policies::Plan& plan, const sim::PhaseSlice& slice, configs::PhaseSlice& into) {
  into.set_kernel(static_cast<uint32_t>(slice.launch));
  into.set_role(plan.kernels[static_cast<size_t>(slice.launch)].kernel.roles[slice.role].name);
  into.set_phase(std::string(sim::phase_name(slice.phase)));
  into.set_slot(slice.slot);
  into.set_start_cycle(slice.start);
  into.set_end_cycle(slice.end);
}

void fill_folded(const sim::FoldedSpan& span, configs::FoldedSpan& into) {
  into.set_start_cycle(span.start);
  into.set_cycles(span.cycles);
  into.set_periods(span.periods);
  into.set_exact(span.exact);
  for (size_t l = 0; l < span.ctas.size(); ++l) {
    if (span.ctas[l] == 0) continue;
    configs::KernelCtas& ctas = *into.add_ctas();
    ctas.set_kernel(static_cast<uint32_t>(l));
    ctas.set_ctas(span.ctas[l]);
  }
}

void fill_window(const sim::UseWindow& window, configs::UseWindow& into) {
  into.set_start_cycle(window.start);
  into.set_end_cycle(window.end);
  into.set_folded_cycles(window.folded);
  into.mutable_busy()->Assign(window.busy.begin(), window.busy.end());
}

}  // namespace

configs::Timeline make_timeline(const policies::Plan& plan, const sim::Timeline& timeline) {
  configs::Timeline into;
  for (const sim::UseLane& lane : timeline.lanes) fill_lane(lane, *into.add_lanes());
  for (size_t c = 0; c < timeline.sms.size(); ++c) {
    const sim::SmTimeline& from = timeline.sms[c];
    configs::SmTimeline& sm = *into.add_sms();
    sm.set_sm_class(static_cast<uint32_t>(c));
    sm.set_sms(from.sms);
    sm.set_stands_for_others(from.stands_for_others);
    sm.set_end_cycle(from.end);
    for (const sim::LaunchSpan& span : from.launches) fill_kernel(span, *sm.add_kernels());
    for (const sim::CtaSlice& slice : from.ctas) fill_cta(plan, slice, *sm.add_ctas());
    for (const sim::PhaseSlice& slice : from.phases) fill_phase(plan, slice, *sm.add_phases());
    sm.set_phases_left_out(from.phases_left_out);
    for (const sim::FoldedSpan& span : from.folds) fill_folded(span, *sm.add_folded());
    sm.set_folded_left_out(from.folds_left_out);
    sm.set_folded_cycles_left_out(from.cycles_left_out);
    for (const sim::UseWindow& window : from.windows) fill_window(window, *sm.add_windows());
  }
  return into;
}

}  // namespace warpfold::cli
