// A profiled step, as `warpfold profile` reports it: measured and simulated times, overlaps in the trace, and the plan.
const shownKernels = 15;

const atProfile = (path, words) => ({text: words, field: `profile.${path}`});
const kernelRow = (name, row) => `${row}: ${name}`;
const familyOf = (kernel) => kernel.family || 'unknown';

const demands = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  DRAM: 'DRAM',
  ISSUE: 'the issue of instructions',
  LATENCY: 'latency',
};
const demandOf = (kernel) => demands[kernel.stand_in_demand] ?? '';

// Returns the assumed limits of opaque launches, with the rows of their kernels: "bound by DRAM (#1, #3) and by latency (#4)".
function assumptionOf(profile) {
  const rows = (demand) => profile.kernels.flatMap((kernel, k) => (kernel.stand_in_demand === demand ? [`#${k + 1}`] : []));
  const parts = Object.keys(demands).map((demand) => [demands[demand], rows(demand)]).filter(([, found]) => found.length > 0);
  return `bound ${parts.map(([words, found]) => `by ${words} (${found.join(', ')})`).join(' and ')}`;
}
const withinError = ({gain_us, error_us}) => gain_us > 0 && gain_us <= error_us;
// Returns the reason why the kernel is not simulated, and the assumption of the plan.
const reasonOf = (kernel) => (demandOf(kernel) === '' ? kernel.opaque : `${kernel.opaque}; the plan assumes that it is bound by ${demandOf(kernel)}`);

function profileHead(profile) {
  return [el('p', {class: 'kind'}, 'Warpfold report'), el('h1', {}, profile.trace),
    el('p', {class: 'kind'}, `${profile.traced_gpu || 'a GPU that the trace does not name'}, simulated on ${profile.gpu}`),
    el('dl', {class: 'facts'},
      fact('launches', atProfile('launches', count(profile.launches))), fact('kernel time', atProfile('kernel_us', timeText(profile.kernel_us))),
      fact('simulated, of it', atProfile('simulated_share', percent(profile.simulated_share))),
      fact('with a known name', atProfile('named_share', percent(profile.named_share))),
      fact('the plan saves', atProfile('gain_us, profile.error_us', timeText(profile.gain_us) + (withinError(profile) ? ', within the error' : ''))),
      fact('of the kernel time', atProfile('gain_us, profile.kernel_us', percent(ratio(profile.gain_us, profile.kernel_us)))))];
}

// Returns a bar for a kernel's measured time in the step, and a thin bar for the simulated time of the same number of launches.
function stepBars(kernels) {
  return kernels.flatMap(({kernel, k}) => {
    const name = kernelRow(kernel.short_name, k + 1);
    const bars = [{
      name, to: kernel.measured_us, lane: 0.06, depth: 0.54, fill: kernel.simulated_us > 0 ? fill('blue') : fill('grey'),
      field: `profile.kernels[${k}].measured_us`,
      tip: `${kernel.short_name}: ${timeText(kernel.measured_us)} in ${count(kernel.launches)} launches${kernel.simulated_us > 0 ? '' : ', not simulated'}`,
    }];
    if (kernel.simulated_us > 0) {
      const us = kernel.simulated_us * kernel.launches;
      bars.push({
        name, to: us, lane: 0.66, depth: 0.26, fill: fill('vermillion'), field: `profile.kernels[${k}].simulated_us, profile.kernels[${k}].launches`,
        tip: `${kernel.short_name}: ${timeText(us)} simulated, bound by ${kernel.bound_by}`,
      });
    }
    return bars;
  });
}

function kernelsChart(profile) {
  const kernels = profile.kernels.map((kernel, k) => ({kernel, k})).slice(0, shownKernels);
  const bars = stepBars(kernels);
  const spec = lanesSpec({
    description: 'A bar for the measured time of each of the longest kernels, and a thin one for the same launches as simulated',
    height: 40 * kernels.length, rows: bars, lanes: kernels.map(({kernel, k}) => kernelRow(kernel.short_name, k + 1)), padding: 0.12,
    domain: [0, Math.max(...bars.map((bar) => bar.to))], across: {nice: true}, x: {title: 'time of all launches (us)'}, y: {title: 'kernel'},
    marks: [laneBars('name', {
      x: {scale: 'x', value: 0}, y: {signal: "scale('y', datum.name) + bandwidth('y') * datum.lane"}, height: {signal: "bandwidth('y') * datum.depth"},
      cornerRadius: {value: 2},
    })],
  });
  return chart({
    id: 'profile-kernels', title: 'The longest kernels', spec,
    note: 'The wide bar is measured, of all launches; the thin one is as many launches, each as simulated alone.',
    keys: [{name: 'measured', fill: fill('blue')}, {name: 'measured, not simulated', fill: fill('grey')}, {name: 'simulated', fill: fill('vermillion')}],
  });
}

function profiledKernels(profile) {
  return dataTable('Kernels by time; us is one launch, alone one that overlaps no other', [
    {name: 'kernel', text: true, long: true}, {name: 'launches'}, {name: 'total', unit: 'us'}, {name: 'share', unit: '%'}, {name: 'measured', unit: 'us'},
    {name: 'alone', unit: 'us'}, {name: 'simulated', unit: 'us'}, {name: 'error', unit: '%'}, {name: 'bound by', text: true},
    {name: 'read as', text: true, sentence: true},
  ], profile.kernels.map((kernel, k) => {
    const at = (field, words) => atProfile(`kernels[${k}].${field}`, words);
    const simulated = kernel.simulated_us > 0;
    return [at('name', kernelRow(kernel.short_name, k + 1)), at('launches', count(kernel.launches)), at('measured_us', decimals(1)(kernel.measured_us)),
      decimals(1)(100 * ratio(kernel.measured_us, profile.kernel_us)), at('mean_us', decimals(2)(kernel.mean_us)),
      kernel.alone_us > 0 ? at('alone_us', decimals(2)(kernel.alone_us)) : '-', simulated ? at('simulated_us', decimals(2)(kernel.simulated_us)) : '-',
      simulated && kernel.error !== 0 ? at('error', signedPercent(kernel.error)) : '-', simulated ? at('bound_by', kernel.bound_by) : '-',
      at(kernel.opaque ? 'opaque' : 'reads_as', [kernel.reads_as ? `${familyOf(kernel)}: ${kernel.reads_as}` : familyOf(kernel), reasonOf(kernel), ...kernel.notes]
        .filter((words) => words !== '').join('; '))];
  }));
}

function profiledFamilies(profile) {
  const error = (name, field, format) => ({name, unit: '%', field, format: (share, {launches}) => (launches > 0 ? format(share) : '-')});
  return listTable('Errors of launches of 8 us or more that overlap no other kernel, each launch counted', 'profile.families', profile.families, [
    {name: 'family', text: true, long: true, field: 'family'}, {name: 'total', unit: 'us', field: 'measured_us', format: decimals(1)},
    {name: 'simulated', unit: '%', field: 'simulated_share', format: inPercent(1)}, {name: 'launches', field: 'launches', format: count},
    error('median', 'median_error', inPercent(1)), error('mean', 'mean_error', inPercent(1)), error('bias', 'bias', signedPercent),
  ]);
}

function timeSection(profile) {
  return section('time', 'Where the time goes', 1, el('dl', {class: 'facts'},
    fact('from first to last', atProfile('span_us', timeText(profile.span_us))), fact('GPU busy', atProfile('busy_us', timeText(profile.busy_us))),
    fact('gaps', atProfile('gaps', count(profile.gaps))), fact('in gaps', atProfile('gaps_us', timeText(profile.gaps_us))),
    fact('longest gap', atProfile('longest_gap_us', timeText(profile.longest_gap_us))),
    fact('launches overlap', atProfile('overlap_us', timeText(profile.overlap_us))), fact('copies', atProfile('copies_us', timeText(profile.copies_us)))));
}

// Lists kernels that ran both alone and beside another kernel, the costliest first.
function overlapSection(profile) {
  const ran = profile.kernels.map((kernel, k) => ({kernel, k, cost: (kernel.beside_us - kernel.alone_us) * kernel.beside}))
    .filter(({kernel}) => kernel.beside > 0 && kernel.alone_us > 0).sort((a, b) => b.cost - a.cost);
  if (ran.length === 0) return [];
  return [section('overlaps', 'What overlaps in the trace', 1, dataTable('Kernels that ran beside others and alone, as measured', [
    {name: 'kernel', text: true, long: true}, {name: 'launches'}, {name: 'beside', text: true, long: true}, {name: 'alone', unit: 'us'}, {name: 'beside', unit: 'us'},
    {name: 'slowdown', unit: 'times'}, {name: 'in all', unit: 'us'},
  ], ran.map(({kernel, k, cost}) => {
    const at = (field, words) => atProfile(`kernels[${k}].${field}`, words);
    return [at('name', kernelRow(kernel.short_name, k + 1)), at('beside', count(kernel.beside)), at('beside_most', kernel.beside_most),
      at('alone_us', decimals(2)(kernel.alone_us)), at('beside_us', decimals(2)(kernel.beside_us)),
      decimals(3)(ratio(kernel.beside_us, kernel.alone_us)), decimals(1)(cost)];
  })))];
}

function pairsTable(profile) {
  return dataTable('Pairs on two streams; times are of one pair; first: its stream has priority; from, to: the gain over what may bind opaque launches', [
    {name: 'kernel', text: true, long: true}, {name: 'beside', text: true, long: true}, {name: 'pairs'}, {name: 'bound', unit: 'us'}, {name: 'one after the other', unit: 'us'},
    {name: 'together', unit: 'us'}, {name: 'first', unit: '#'}, {name: 'gain', unit: 'us'}, {name: 'from', unit: 'us'}, {name: 'to', unit: 'us'},
    {name: 'plan', text: true, long: true},
  ], profile.pairs.map((pair, p) => {
    const at = (field, words) => atProfile(`pairs[${p}].${field}`, words);
    const ran = pair.concurrent_us > 0;
    const planned = (pair.planned ? 'yes' : 'no') + (pair.planned && !pair.independent ? ', if independent' : '') + (withinError(pair) ? ', within the error' : '');
    return [at('one', kernelRow(pair.one, pair.one_row)), at('other', kernelRow(pair.other, pair.other_row)), at('times', count(pair.times)),
      ...['bound_us', 'sequential_us'].map((field) => (pair[field] > 0 ? at(field, decimals(2)(pair[field])) : '-')),
      ran ? at('concurrent_us', decimals(2)(pair.concurrent_us)) : '-', ran ? at('first_row', count(pair.first_row)) : '-',
      ran ? at('gain_us', decimals(1)(pair.gain_us)) : '-', ...['least_gain_us', 'most_gain_us'].map((field) => (ran && pair.opaque ? at(field, decimals(1)(pair[field])) : '-')),
      pair.not_run === '' ? at('planned', planned) : at('not_run', pair.not_run)];
  }));
}

function planSection(profile) {
  if (profile.pairs.length === 0)
    return section('plan', 'The plan', 1, paragraph('No two kernels were tried together: fewer than two run by themselves, are said to be independent, or are asked for.'));
  const opaque = profile.pairs.some((pair) => pair.opaque);
  const assumed = assumptionOf(profile);
  const parts = [];
  if (profile.pairs.every((pair) => pair.not_run !== '')) {
    parts.push(paragraph('No pair of the longest kernels can be simulated: the table says why.'));
  } else if (profile.gain_us <= 0) {
    parts.push(paragraph(`No pair of the longest kernels gains more than the error by running together${opaque ? `, if opaque launches are ${assumed}` : ''}.`));
  } else {
    const planned = profile.pairs.filter((pair) => pair.planned).length;
    const kernels = `${planned} ${planned === 1 ? 'pair' : 'pairs'} of kernels on two streams`;
    const gain = `${timeText(profile.gain_us)} of ${timeText(profile.kernel_us)}, ${percent(ratio(profile.gain_us, profile.kernel_us))} of the kernel time`;
    parts.push(paragraph(withinError(profile) ? `Within the error: ${kernels} ${planned === 1 ? 'saves' : 'save'} ${gain}, as simulated. The simulated times of these kernels alone are ` +
      `${timeText(profile.error_us)} off the measured ones, so the step may not gain at all.` :
      `${kernels} would save ${gain}, with an error of ${timeText(profile.error_us)}.`));
  }
  if (opaque && profile.gain_us > 0) {
    parts.push(paragraph(`${timeText(profile.opaque_gain_us)} of it rest on opaque launches, stand-ins that take the measured time, being ${assumed}. ` +
      `The plan saves ${timeText(profile.least_gain_us)} to ${timeText(profile.most_gain_us)} over what else may bind them, and ` +
      `${timeText(profile.gain_us - profile.opaque_gain_us)} if they want what their partners want.`));
  }
  parts.push(pairsTable(profile));
  if (profile.plan !== '') {
    parts.push(el('details', {class: 'data'}, el('summary', {}, 'The plan as a scenario for warpfold simulate'),
      el('pre', {'data-field': 'profile.plan', tabindex: 0}, profile.plan)));
  }
  return section('plan', 'The plan', 1, ...parts);
}

function profileSections(profile) {
  const list = (name, value, field) => [el('dt', {}, name), el('dd', {'data-field': `profile.${field}`}, el('code', {}, value))];
  return [
    ...(profile.notes.length > 0 ? [section('notes', 'To be known', 1, el('ul', {},
      ...profile.notes.map((note, n) => el('li', {'data-field': `profile.notes[${n}]`}, note))))] : []),
    planSection(profile),
    section('kernels', 'Kernels by time', 1, kernelsChart(profile), profiledKernels(profile)),
    section('families', 'Coverage and errors by family', 1, profiledFamilies(profile)),
    timeSection(profile),
    ...overlapSection(profile),
    section('provenance', 'Provenance', 1, el('dl', {class: 'provenance'}, ...list('version', profile.version, 'version'),
      ...list('command line', profile.command_line, 'command_line'), ...list('profile', profile.trace, 'trace'))),
  ];
}
