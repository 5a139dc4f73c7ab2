// The board's power and energy in a run whose clock follows from power.
const millijoules = (joules) => decimals(3)(1e3 * joules);

function energyTable(run) {
  const {power} = run.result;
  const of = (kernel, k, name) => {
    const r = kernel.resources.findIndex(({resource}) => resource === name);
    return r < 0 ? '-' : derived(run, `1e3 * {power.kernels[${k}].resources[${r}].joules}`, millijoules(kernel.resources[r].joules));
  };
  return dataTable('Energy by resource and kernel', [
    {name: 'resource', text: true}, {name: 'share', unit: '%'}, {name: 'run', unit: 'mJ'},
    ...power.kernels.map(({kernel}) => ({name: kernel, unit: 'mJ'})),
  ], power.resources.map(({resource, share, joules}, r) => [
    figure(run, `power.resources[${r}].resource`, text),
    derived(run, `100 * {power.resources[${r}].share}`, decimals(1)(100 * share)),
    derived(run, `1e3 * {power.resources[${r}].joules}`, millijoules(joules)),
    ...power.kernels.map((kernel, k) => of(kernel, k, resource)),
  ]));
}

function phasesTable(run) {
  return listTable('Power by phase at the run’s clock, and the sustained clock of each phase', fieldOf(run, 'power.phases'), run.result.power.phases, [
    {name: 'kernels', text: true, field: 'kernels', format: (kernels) => listed(kernels) || '-'}, {name: 'start', unit: 'us', field: 'start_us', format: decimals(2)},
    {name: 'end', unit: 'us', field: 'end_us', format: decimals(2)}, {name: 'power', unit: 'W', field: 'watts', format: decimals(0)},
    {name: 'own clock', unit: 'MHz', field: 'own_clock_mhz', format: decimals(0)},
  ]);
}

function powerSection(run, prefix) {
  const {power} = run.result;
  if (power === undefined) return [];
  const facts = [fact('board', figure(run, 'power.watts', decimals(0)), 'W'), fact('cap', figure(run, 'power.cap_w', decimals(0)), 'W'),
    fact('clock', figure(run, 'power.clock_mhz', count), 'MHz'), fact('highest', figure(run, 'power.clock_limit_mhz', count), 'MHz'),
    fact('energy', derived(run, '1e3 * {power.joules}', millijoules(power.joules)), 'mJ'),
    fact('cost of the cap', figure(run, 'power.cap_cost_us', rounded), 'us')];
  const assumed = power.assumptions.map((assumption, a) => el('li', {}, 'Assumed: ', el('span', {'data-field': fieldOf(run, `power.assumptions[${a}]`)}, assumption)));
  return [section(`${prefix}power`, 'Power and clock', 2, el('dl', {class: 'facts'}, ...facts), energyTable(run), phasesTable(run),
    ...(assumed.length > 0 ? [el('ul', {}, ...assumed)] : []))];
}
