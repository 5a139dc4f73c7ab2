// Several simulations of the same kernels: the time, the kernels' slowdowns and the limit of each.

function barsSpec({description, rows, xTitle, yTitle, xFormat = '~s', height = 30, domainMax}) {
  return lanesSpec({
    description, height: height * rows.length, rows, lanes: rows.map((row) => row.name), padding: 0.28,
    domain: domainMax === undefined ? {data: 'rows', field: 'value'} : [0, domainMax], across: {zero: true, nice: domainMax === undefined},
    x: {title: xTitle, format: xFormat}, y: {title: yTitle},
    marks: [
      laneBars('name', {x: {scale: 'x', value: 0}, x2: {scale: 'x', field: 'value'}, cornerRadius: {value: 2}}),
      labelsOf('rows', {
        x: {scale: 'x', field: 'value', offset: 6}, y: {scale: 'y', field: 'name', band: 0.5}, baseline: {value: 'middle'},
        text: {field: 'label'}, fill: {value: 'var(--ink)'},
      }),
    ],
  });
}

function slowdownCell(run, alone) {
  const parts = run.result.kernels.flatMap((kernel, k) => (kernel.of === alone.name ? [k] : []));
  if (parts.length === 0) return '-';
  const busy = parts.reduce((sum, k) => sum + run.result.kernels[k].cycles, 0);
  const index = run.result.alone.findIndex((each) => each.name === alone.name);
  const formula = `(${parts.map((k) => `{kernels[${k}].cycles}`).join(' + ')}) / {alone[${index}].cycles}`;
  return derived(run, formula, decimals(3)(ratio(busy, alone.cycles)));
}

function policiesTable(runs) {
  const kernels = runs[0].result.alone;
  const small = runs.some(({result}) => result.stored_bits_bytes > 0 && result.stored_bits_bytes < 1e5);  // would read as 0.0 MB
  const stored = small ? {unit: 'kB', bytes: '1e3'} : {unit: 'MB', bytes: '1e6'};
  const ranked = runs.every(({result}) => result.rank > 0);  // results of several files have no ranks
  return dataTable('One line for each run; slowdown is a kernel’s busy time over its time alone', [
    {name: 'run', text: true}, ...(ranked ? [{name: 'rank'}] : []), {name: 'total', unit: 'us'}, {name: 'speed-up', unit: 'over the first'},
    ...kernels.map((alone) => ({name: `slowdown of ${alone.name}`, unit: 'times'})), {name: 'stored', unit: stored.unit},
    {name: 'limited by', text: true, sentence: true},
  ], runs.map((run) => [
    run.label, ...(ranked ? [figure(run, 'rank', text)] : []), figure(run, 'total_time_us', decimals(2)),
    {text: decimals(3)(ratio(runs[0].result.total_time_us, run.result.total_time_us)),
      field: `${fieldOf(runs[0], 'total_time_us')} / ${fieldOf(run, 'total_time_us')}`},
    ...kernels.map((alone) => slowdownCell(run, run.result.alone.find((each) => each.name === alone.name) ?? alone)),
    run.result.stored_bits_bytes > 0 ? derived(run, `{stored_bits_bytes} / ${stored.bytes}`, decimals(1)(run.result.stored_bits_bytes / Number(stored.bytes))) : '-',
    figure(run, 'reason', text),
  ]));
}

function policiesSection(runs) {
  const best = Math.min(...runs.map((run) => run.result.total_time_us));
  const rows = runs.map((run) => ({
    name: run.label, value: run.result.total_time_us, field: fieldOf(run, 'total_time_us'),
    label: `${timeText(run.result.total_time_us)}, ${decimals(2)(ratio(runs[0].result.total_time_us, run.result.total_time_us))}x`,
    tip: `${run.label}: ${rounded(run.result.total_time_us)} us`,
    fill: fill(run.result.total_time_us === best ? 'green' : 'blue', run.result.total_time_us === best ? 'solid' : 'rising'),
  }));
  const table = policiesTable(runs);
  const skipped = report.skipped.map((each) => el('li', {}, `Not run: ${each.reason}`));
  const list = skipped.length > 0 ? [el('ul', {}, ...skipped)] : [];
  if (tied(runs)) {
    return section('policies', 'Runs compared', 1,
      paragraph(`All runs take ${timeText(best)}: their times differ by no more than folding’s error bounds.`), table, ...list);
  }
  return section('policies', 'Runs compared', 1, chart({
    id: 'policies-time', title: 'Total time of each run, and its speed-up over the first',
    note: 'Plain green: the fastest.',
    spec: barsSpec({description: 'Bars of the total time of each run', rows, xTitle: 'total time (us)', yTitle: 'run',
      domainMax: Math.max(...rows.map((row) => row.value)) * 1.6}),
  }), table, ...list);
}
