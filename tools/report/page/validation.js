// The results of `warpfold validate`: measured rows beside their simulations.
const shownWorst = 15;

const atValidation = (path, words) => ({text: words, field: `validation.${path}`});

// In a validation of profiles, a row holds all launches of a kernel, and groups count launches.
const ofProfiles = (validation) => validation.launches > 0;

function signedPercent(share) {
  return `${share < 0 ? '' : '+'}${decimals(1)(100 * share)}`;
}

function groupName(group) {
  return group.kernel === '' || group.kernel === group.family ? group.family : `${group.family}: ${group.kernel}`;
}

function validationHead(validation) {
  const families = validation.groups.map((group, g) => ({group, g})).filter(({group}) => group.kernel === '');
  return [el('p', {class: 'kind'}, 'Warpfold report'), el('h1', {}, 'Simulations compared with measurements'),
    el('dl', {class: 'facts'}, ofProfiles(validation) ? fact('launches', atValidation('launches', count(validation.launches))) : fact('rows', {text: count(validation.rows.length)}), fact('simulations', atValidation('simulations', count(validation.simulations))),
      ...families.map(({group, g}) => fact(`${group.family}, mean error`, atValidation(`groups[${g}].mean`, decimals(1)(100 * group.mean)), '%')))];
}

// Kinds of figures that rows hold, with a chart for each.
const quantities = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  time_us: {what: 'time', unit: 'us', title: 'Simulated against measured time of each row'},
  watts: {what: 'board power', unit: 'W', title: 'Simulated against measured board power of each row'},
  clock_mhz: {what: 'clock', unit: 'MHz', title: 'Simulated against measured clock under the cap of each row'},
  slowdown: {what: 'slowdown', unit: 'times', title: 'Simulated against measured slowdown of each row'},
  time_ratio: {what: 'ratio of times', unit: 'times', title: 'Simulated against measured ratio of times of each row'},
};

function validationPoint(row, r, families, unit) {
  return {
    measured: row.measured, simulated: row.simulated, style: scatterStyle(families.indexOf(row.family)), faint: !row.judged,
    tip: `${row.id}, ${row.kernel} on ${row.gpu}, ${row.shape}: measured ${rounded(row.measured)} ${unit}, ` +
      `simulated ${rounded(row.simulated)} ${unit}, ${signedPercent(row.error)} %, ${row.limiter} ${percent(row.limiter_utilization, 0)}`,
    field: `validation.rows[${r}].measured, validation.rows[${r}].simulated`,
  };
}

function rowsTable(caption, rows) {
  return dataTable(caption, [
    {name: 'row', text: true}, {name: 'kernel', text: true}, {name: 'GPU', text: true}, {name: 'shape', text: true}, {name: 'measured'},
    {name: 'simulated'}, {name: 'unit', text: true}, {name: 'error', unit: '%'}, {name: 'busiest', text: true}, {name: 'of it', unit: '%'},
  ], rows.map(({row, r}) => {
    const at = (field, words) => atValidation(`rows[${r}].${field}`, words);
    return [at('id', row.judged ? row.id : `${row.id}, not judged`), at('kernel', row.kernel), at('gpu', row.gpu), at('shape', row.shape),
      at('measured', rounded(row.measured)), at('simulated', rounded(row.simulated)), quantities[row.quantity].unit,
      at('error', signedPercent(row.error)), at('limiter', row.limiter), at('limiter_utilization', decimals(0)(100 * row.limiter_utilization))];
  }));
}

function validationScatters(rows) {
  const families = [...new Set(rows.map(({row}) => row.family))];
  return Object.entries(quantities).flatMap(([quantity, {what, unit, title}]) => {
    const shown = rows.filter(({row}) => row.quantity === quantity);
    if (shown.length === 0) return [];
    const used = families.filter((family) => shown.some(({row}) => row.family === family));
    return [chart({
      id: `validation-${quantity.replace('_', '-')}`, title,
      note: 'The line is equality, the grey band 10 % of the measurement. Above it the simulation is too slow. ' +
        'Faint points are not judged.',
      keys: used.map((family) => {
        const {colour, shape} = scatterStyle(families.indexOf(family));
        return {name: family, fill: fill(colour), shape};
      }),
      spec: scatterSpec({points: shown.map(({row, r}) => validationPoint(row, r, families, unit)), unit, what}),
      table: rowsTable('Every row', shown),
    })];
  });
}

function groupsTable(validation) {
  const error = (name, field) => ({name, unit: '%', field, format: inPercent(1)});
  const rate = (name, field) => ({name, field, format: (value, {rate_unit: unit}) => (unit === '' ? '-' : decimals(1)(value))});
  return listTable('Errors by kernel and GPU: absolute errors of time, their signed mean (bias), and mean rates', 'validation.groups', validation.groups, [
    {name: 'kernel', text: true, field: 'kernel', format: (_, group) => groupName(group)},
    {name: 'GPU', text: true, field: 'gpu', format: (gpu, {kernel}) => (kernel === '' ? 'all' : gpu)},
    {name: ofProfiles(validation) ? 'launches' : 'rows', field: 'rows', format: count}, error('mean', 'mean'), error('median', 'median'), error('90th percentile', 'p90'),
    error('largest', 'largest'), {name: 'bias', unit: '%', field: 'bias', format: signedPercent}, rate('measured rate', 'measured_rate'),
    rate('simulated rate', 'simulated_rate'), {name: 'unit', text: true, field: 'rate_unit'},
  ]);
}

function unmappedTable(validation) {
  return listTable('Rows without a simulation', 'validation.unmapped', validation.unmapped, [{name: 'row', text: true, field: 'id'}, {name: 'why', text: true, field: 'reason'}]);
}

function unreadTable(validation) {
  return listTable('Phrases of dims_other and notes that no simulation follows', 'validation.unread', validation.unread, [{name: 'phrase', text: true, field: 'example'},
    {name: 'rows', field: 'rows', format: count}, {name: 'why', text: true, field: 'why'}, {name: 'first row', text: true, field: 'id'}]);
}

function validationSections(validation) {
  const rows = validation.rows.map((row, r) => ({row, r}));
  const worst = rows.filter(({row}) => row.judged && (!ofProfiles(validation) || row.family === validation.groups[0].family)).sort((a, b) => Math.abs(b.row.error) - Math.abs(a.row.error)).slice(0, shownWorst);
  const list = (name, values, field) => values.flatMap((value) => [el('dt', {}, name), el('dd', {'data-field': field}, el('code', {}, value))]);
  return [
    section('rows', 'Measured and simulated', 1, ...validationScatters(rows)),
    section('groups', 'Errors by kernel and GPU', 1, groupsTable(validation)),
    section('worst', 'Largest errors', 1, rowsTable('The rows with the largest errors, and the busiest resource of each simulation', worst)),
    ...(validation.unmapped.length > 0 ? [section('unmapped', 'Not simulated', 1, unmappedTable(validation))] : []),
    ...(validation.unread.length > 0 ? [section('unread', 'Phrases not read', 1, unreadTable(validation))] : []),
    section('provenance', 'Provenance', 1, el('dl', {class: 'provenance'},
      ...list('version', [validation.version], 'validation.version'), ...list('command line', [validation.command_line], 'validation.command_line'),
      ...list('measurements', validation.data, 'validation.data'))),
  ];
}
