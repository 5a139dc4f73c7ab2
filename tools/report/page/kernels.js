// The kernels of a run: their times, and their slowdown against running alone.

function kernelTable(run) {
  return listTable('The kernels of this run', fieldOf(run, 'kernels'), run.result.kernels, [
    {name: 'kernel', text: true, field: 'name'}, {name: 'time', unit: 'us', field: 'time_us', format: decimals(2)}, {name: 'cycles', field: 'cycles', format: count},
    {name: 'start', unit: 'cycle', field: 'start_cycle', format: count}, {name: 'end', unit: 'cycle', field: 'end_cycle', format: count},
    {name: 'alone', unit: 'cycles', field: 'solo_cycles', format: count}, {name: 'slowdown', unit: 'times', field: 'slowdown_vs_solo', format: decimals(3)},
    {name: 'speed', unit: 'TFLOPS', field: 'tflops', format: (speed) => (speed > 0 ? decimals(1)(speed) : '-')}, {name: 'CTAs', field: 'ctas', format: count},
    {name: 'CTAs/SM that fit', field: 'occupancy.ctas_per_sm_limit', format: count}, {name: 'occupancy limit', text: true, field: 'occupancy.limiter'},
    {name: 'mean warps/SM', field: 'occupancy.average_warps', format: decimals(2)}, {name: 'bound by', text: true, field: 'bound_by'},
  ]);
}

function kernelSpans(run) {
  const usPerCycle = ratio(run.result.total_time_us, run.result.total_cycles);
  return run.result.kernels.flatMap((kernel, k) => {
    const start = kernel.start_cycle * usPerCycle;
    const spans = [{
      kernel: kernel.name, from: start, to: kernel.end_cycle * usPerCycle, lane: 0.08, depth: 0.56, fill: kernelFill(k),
      field: `${fieldOf(run, `kernels[${k}].start_cycle`)}, ${fieldOf(run, `kernels[${k}].end_cycle`)}`,
      tip: `${kernel.name} runs from ${rounded(start)} to ${rounded(kernel.end_cycle * usPerCycle)} us`,
      label: kernel.slowdown_vs_solo > 0 ? `${rounded(kernel.time_us)} us, ${decimals(2)(kernel.slowdown_vs_solo)} x alone` : `${rounded(kernel.time_us)} us`,
    }];
    if (kernel.solo_cycles > 0) {
      spans.push({
        kernel: kernel.name, from: start, to: start + kernel.solo_cycles * usPerCycle, lane: 0.7, depth: 0.22, fill: fill('grey', 'rising'),
        field: fieldOf(run, `kernels[${k}].solo_cycles`), label: '',
        tip: `${kernel.name} alone would take ${rounded(kernel.solo_cycles * usPerCycle)} us`,
      });
    }
    return spans;
  });
}

function kernelsSection(run, prefix) {
  const spans = kernelSpans(run);
  const names = run.result.kernels.map((kernel) => kernel.name);
  const spec = lanesSpec({
    description: 'A bar for each kernel from its start to its end; below it the time that it needs alone', height: 46 * names.length,
    rows: spans, lanes: names, padding: 0.12, domain: [0, Math.max(...spans.map((span) => span.to))], across: {nice: true},
    x: {title: 'time (us)', tickCount: 8}, y: {title: 'kernel'},
    marks: [
      laneBars('kernel', {
        y: {signal: "scale('y', datum.kernel) + bandwidth('y') * datum.lane"}, height: {signal: "bandwidth('y') * datum.depth"}, cornerRadius: {value: 2},
      }),
      labelsOf('rows', {
        x: {scale: 'x', field: 'from', offset: 8}, y: {signal: "scale('y', datum.kernel) + bandwidth('y') * (datum.lane + datum.depth / 2)"},
        baseline: {value: 'middle'}, text: {signal: "roomy ? datum.label : ''"}, fontWeight: {value: 600},
        fill: {value: 'var(--on-colour)'}, stroke: {value: 'var(--on-colour-halo)'}, strokeWidth: {value: 3},
      }),
    ],
  });
  return section(`${prefix}kernels`, 'Kernels', 2, chart({
    id: `${prefix}kernels-time`, title: 'When each kernel runs', note: 'The thin striped bar is the time that the kernel needs alone on the same GPU.', spec,
  }), kernelTable(run), ...assumptionList(run));
}

// Returns the assumptions about imported kernels: facts that neither the listing nor the launch description states.
function assumptionList(run) {
  const assumed = run.result.kernels.flatMap((kernel, k) => (kernel.assumptions ?? []).map((assumption, a) =>
    el('li', {}, `Assumed of ${kernel.name}: `, el('span', {'data-field': fieldOf(run, `kernels[${k}].assumptions[${a}]`)}, assumption))));
  return assumed.length > 0 ? [el('ul', {}, ...assumed)] : [];
}
