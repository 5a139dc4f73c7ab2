// Timelines of an SM of each class: its CTAs, and its busy resources.
const shownClasses = 3;

function slotsSpec(run, sm, s, usPerCycle) {
  const base = `timeline.sms[${s}]`;
  const slots = [...new Set(sm.ctas.map((cta) => cta.slot))].sort((a, b) => a - b);
  const kernelName = (index) => run.result.kernels[index].name;
  const ctas = sm.ctas.map((cta, c) => ({
    slot: cta.slot, from: cta.start_cycle * usPerCycle, to: cta.end_cycle * usPerCycle, fill: kernelFill(cta.kernel),
    tip: `${kernelName(cta.kernel)}, a CTA in slot ${cta.slot}: ${rounded(cta.start_cycle * usPerCycle)} to ${rounded(cta.end_cycle * usPerCycle)} us`,
    field: `${fieldOf(run, `${base}.ctas[${c}].start_cycle`)}, ${fieldOf(run, `${base}.ctas[${c}].end_cycle`)}`,
  }));
  const folded = sm.folded.map((span, f) => ({
    from: span.start_cycle * usPerCycle, to: (span.start_cycle + span.cycles) * usPerCycle,
    tip: `${count(span.periods)} periods skipped, ${span.exact ? 'exactly' : 'within the bound'}: ${rounded(span.cycles * usPerCycle)} us`,
    field: fieldOf(run, `${base}.folded[${f}].cycles`),
  }));
  // Drawn behind the CTAs, in the slots that the kernel's CTAs use.
  const leftOut = sm.kernels.flatMap((span, k) => (span.ctas_left_out > 0 ? [{
    from: span.left_out_from_cycle * usPerCycle, to: span.left_out_to_cycle * usPerCycle,
    tip: `${count(span.ctas_left_out)} CTAs of ${kernelName(span.kernel)} not drawn: ${rounded(span.left_out_from_cycle * usPerCycle)} to ${rounded(span.left_out_to_cycle * usPerCycle)} us`,
    field: fieldOf(run, `${base}.kernels[${k}].ctas_left_out`),
  }] : []));
  const whole = {y: {value: 0}, height: {signal: 'height'}};
  return lanesSpec({
    description: 'A bar for each CTA from its placement to its end, by CTA slot; hatched where time was skipped or CTAs are not drawn',
    height: Math.min(360, Math.max(60, 17 * slots.length)), rows: ctas, data: [{name: 'folded', values: folded}, {name: 'leftOut', values: leftOut}],
    lanes: slots, padding: 0.1, domain: [0, sm.end_cycle * usPerCycle], x: {title: 'time (us)', tickCount: 8}, y: {title: 'CTA slot', domain: true, labelOverlap: true},
    marks: [
      laneBars('slot', {...whole, fill: {value: fill('grey', 'dots')}, fillOpacity: {value: 0.35}}, 'leftOut'),
      laneBars('slot', {stroke: {value: 'var(--card)'}, strokeWidth: {value: 0.75}}),
      laneBars('slot', {...whole, fill: {value: fill('grey', 'falling')}, fillOpacity: {value: 0.75}}, 'folded'),
    ],
  });
}

// Fills of the phases that each role of a slot's CTA is in. Only the first lanes are shown; the result's JSON has all of them.
const phaseFills = {__proto__: null, prologue: ['sky', 'lines'], main_loop: ['green', 'solid'], epilogue: ['orange', 'rising']};
const shownLanes = 16;

function phaseFill(phase) {
  return fill(...(phaseFills[phase] ?? ['grey', 'dots']));
}

function phasesChart(run, sm, s, prefix, usPerCycle) {
  const slices = (sm.phases ?? []).map((slice, p) => ({...slice, p, kernelName: run.result.kernels[slice.kernel].name}))
    .map((slice) => ({...slice, lane: `${slice.kernelName}, slot ${slice.slot}, ${slice.role}`}));
  const lanes = [...new Set(slices.map((slice) => slice.lane))]
    .sort((a, b) => a.localeCompare(b, 'en', {numeric: true})).slice(0, shownLanes);
  const shown = slices.filter((slice) => lanes.includes(slice.lane));
  if (shown.length === 0) return [];
  const base = `timeline.sms[${s}].phases`;
  const rows = shown.map((slice) => ({
    lane: slice.lane, from: slice.start_cycle * usPerCycle, to: slice.end_cycle * usPerCycle, fill: phaseFill(slice.phase),
    tip: `${slice.lane}, ${slice.phase.replaceAll('_', ' ')}: ${rounded(slice.start_cycle * usPerCycle)} to ${rounded(slice.end_cycle * usPerCycle)} us`,
    field: `${fieldOf(run, `${base}[${slice.p}].start_cycle`)}, ${fieldOf(run, `${base}[${slice.p}].end_cycle`)}`,
  }));
  const spec = lanesSpec({
    description: 'A bar for each phase of each role of the CTA in a slot', height: 22 * lanes.length, rows, lanes, padding: 0.15,
    domain: [0, sm.end_cycle * usPerCycle], x: {title: 'time (us)', tickCount: 8}, y: {title: 'kernel, CTA slot, role', domain: true}, marks: [laneBars('lane')],
  });
  const table = dataTable('The phases shown', [
    {name: 'kernel, slot, role', text: true}, {name: 'phase', text: true}, {name: 'from', unit: 'cycle'}, {name: 'to', unit: 'cycle'},
  ], shown.map((slice) => [slice.lane, figure(run, `${base}[${slice.p}].phase`, text), figure(run, `${base}[${slice.p}].start_cycle`, count),
    figure(run, `${base}[${slice.p}].end_cycle`, count)]));
  const phases = [...new Set(shown.map((slice) => slice.phase))];
  return [chart({
    id: `${prefix}timeline-phases-${s}`, title: `Phases of roles on an SM of class ${sm.sm_class}`,
    note: 'Skipped time, and time between the first and the last phases kept, is blank.',
    keys: phases.map((phase) => ({name: phase.replaceAll('_', ' '), fill: phaseFill(phase)})), spec, table,
  })];
}

// Returns the use of each resource, with the lanes of all sub-cores added.
function useCells(run, sm, s, usPerCycle) {
  const resources = [...new Set(run.result.timeline.lanes.map((lane) => lane.resource))];
  return sm.windows.flatMap((window, w) => resources.map((resource) => {
    const lanes = run.result.timeline.lanes.flatMap((lane, l) => (lane.resource === resource ? [l] : []));
    const busy = lanes.reduce((sum, l) => sum + window.busy[l], 0);
    const capacity = lanes.reduce((sum, l) => sum + run.result.timeline.lanes[l].capacity_per_cycle, 0) * (window.end_cycle - window.start_cycle);
    return {
      resource, from: window.start_cycle * usPerCycle, to: window.end_cycle * usPerCycle, use: ratio(busy, capacity),
      tip: `${resource} from ${rounded(window.start_cycle * usPerCycle)} us: ${percent(ratio(busy, capacity))} busy`,
      field: lanes.map((l) => fieldOf(run, `timeline.sms[${s}].windows[${w}].busy[${l}]`)).join(' + '),
    };
  }));
}

function useSpec(cells, end) {
  const resources = [...new Set(cells.filter((cell) => cell.use > 0).map((cell) => cell.resource))];
  return lanesSpec({
    description: 'A strip for each resource, the deeper the colour the busier', height: 24 * resources.length,
    rows: cells.filter((cell) => cell.use > 0), lanes: resources, padding: 0.12, domain: [0, end],
    x: {title: 'time (us)', tickCount: 8, grid: false}, y: {title: 'resource', domain: true},
    // Height and opacity both show the use, so that the chart is readable without colour.
    marks: [laneBars('resource', {
      y: {signal: "scale('y', datum.resource) + bandwidth('y') * (1 - min(1, datum.use))"}, height: {signal: "bandwidth('y') * min(1, datum.use)"},
      fill: {value: 'var(--heat)'}, fillOpacity: {signal: '0.35 + 0.65 * min(1, datum.use)'},
    })],
  });
}

function timelineCharts(run, sm, s, prefix) {
  const usPerCycle = ratio(run.result.total_time_us, run.result.total_cycles);
  const kernels = [...new Set(sm.ctas.map((cta) => cta.kernel))].sort((a, b) => a - b);
  const spans = listTable(`Kernels on an SM of class ${sm.sm_class}`, fieldOf(run, `timeline.sms[${s}].kernels`), sm.kernels, [
    {name: 'kernel', text: true, field: 'kernel', format: (kernel) => run.result.kernels[kernel].name}, {name: 'released', unit: 'cycle', field: 'released_cycle', format: count},
    {name: 'first CTA', unit: 'cycle', field: 'start_cycle', format: count}, {name: 'last CTA ends', unit: 'cycle', field: 'end_cycle', format: count},
    {name: 'CTAs', field: 'ctas', format: count}, {name: 'in skipped time', field: 'ctas_folded', format: count},
  ]);
  const cells = useCells(run, sm, s, usPerCycle);
  const mean = new Map();
  for (const cell of cells) mean.set(cell.resource, (mean.get(cell.resource) ?? 0) + cell.use * (cell.to - cell.from));
  const use = dataTable('Mean use over the SM’s time', [{name: 'resource', text: true}, {name: 'used', unit: '% of capacity'}],
    [...mean].map(([resource, sum]) => [resource, {text: decimals(1)(100 * ratio(sum, sm.end_cycle * usPerCycle)),
      field: fieldOf(run, `timeline.sms[${s}].windows`)}]));
  const where = `one SM of class ${sm.sm_class}, which has ${count(sm.sms)} SMs`;
  const keys = kernels.map((k) => ({name: run.result.kernels[k].name, fill: kernelFill(k)}));
  if (sm.kernels.some((span) => span.ctas_left_out > 0)) keys.push({name: 'further CTAs, not drawn', fill: fill('grey', 'dots')});
  if (sm.folded.length > 0) keys.push({name: 'fast-forwarded: the period before it repeats', fill: fill('grey', 'falling')});
  const charts = [chart({id: `${prefix}timeline-use-${s}`, title: `Use of each resource over time on ${where}`,
    note: 'The height of a strip is the use of its resource, over all sub-cores.', spec: useSpec(cells, sm.end_cycle * usPerCycle), table: use})];
  charts.unshift(...phasesChart(run, sm, s, prefix, usPerCycle));
  if (sm.ctas.length > 0) {
    charts.unshift(chart({id: `${prefix}timeline-ctas-${s}`, title: `CTAs on ${where}`, keys, spec: slotsSpec(run, sm, s, usPerCycle), table: spans}));
  }
  return charts;
}

function timelineSection(run, prefix) {
  const {timeline} = run.result;
  if (!timeline || timeline.sms.length === 0) return [];
  const left = timeline.sms.length - shownClasses;
  return [section(`${prefix}timeline`, 'Over time', 2,
    ...timeline.sms.slice(0, shownClasses).flatMap((sm, s) => timelineCharts(run, sm, s, prefix)),
    ...(left > 0 ? [paragraph(`${left} more in the JSON of the result.`)] : []))];
}
