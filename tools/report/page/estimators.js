// The limiter model beside the simulation of the same scenario.
const shownLimiters = 6;

function limitersSection(run, prefix) {
  const parts = run.result.kernels.map((kernel, k) => {
    const rows = kernel.limiters.slice(0, shownLimiters).map((limiter, l) => ({
      name: limiter.resource, value: limiter.time_us, label: `${rounded(limiter.time_us)} us`,
      tip: `${kernel.name}, ${limiter.resource}: at least ${rounded(limiter.time_us)} us`,
      field: fieldOf(run, `kernels[${k}].limiters[${l}].time_us`), fill: l === 0 ? fill('vermillion') : fill('blue', 'rising'),
    }));
    const table = listTable(`Every limiter of ${kernel.name}`, fieldOf(run, `kernels[${k}].limiters`), kernel.limiters, [
      {name: 'resource', text: true, field: 'resource'}, {name: 'cycles', field: 'cycles', format: count}, {name: 'time', unit: 'us', field: 'time_us', format: decimals(2)},
    ]);
    return chart({
      id: `${prefix}limiters-${k}`, title: `Demand of ${kernel.name} on each resource, as the time at that resource’s peak`,
      note: 'Plain: the largest limiter, a lower bound on the kernel’s time.',
      spec: barsSpec({description: `Bars of the limiters of ${kernel.name}`, rows, xTitle: 'time (us)', yTitle: 'resource', height: 24,
        domainMax: Math.max(...rows.map((row) => row.value)) * 1.12}), table,
    });
  });
  const table = listTable('Compositions of GEMMs, random numbers and attention', fieldOf(run, 'model.compositions'), run.result.model.compositions, [
    {name: 'composition', text: true, field: 'name'}, {name: 'total', unit: 'us', field: 'total_time_us', format: decimals(2)},
    {name: 'speed-up', unit: 'over sequential', field: 'speedup', format: decimals(3)}, {name: 'GEMMs', unit: 'us', field: 'gemm_us', format: decimals(2)},
    {name: 'exposed random numbers', unit: 'us', field: 'exposed_rng_us', format: decimals(2)}, {name: 'attention', unit: 'us', field: 'attention_us', format: decimals(2)},
  ]);
  return section(`${prefix}limiters`, 'Limiters', 2, ...parts, table);
}

function estimatorRows(simulated, modelled) {
  const rows = [];
  for (const [m, kernel] of modelled.result.kernels.entries()) {
    const k = simulated.result.alone.findIndex((alone) => alone.name === kernel.name);
    if (k < 0) continue;
    rows.push({what: `${kernel.name} alone`,
      simulation: {value: simulated.result.alone[k].time_us, field: fieldOf(simulated, `alone[${k}].time_us`)},
      model: {value: kernel.time_us, field: fieldOf(modelled, `kernels[${m}].time_us`)}});
  }
  rows.push({what: `all, ${simulated.result.policy}`,
    simulation: {value: simulated.result.total_time_us, field: fieldOf(simulated, 'total_time_us')},
    model: {value: modelled.result.total_time_us, field: fieldOf(modelled, 'total_time_us')}});
  return rows;
}

function estimatorsSection(simulated, modelled, index) {
  const rows = estimatorRows(simulated, modelled);
  const kinds = [{key: 'simulation', name: 'simulation', fill: fill('blue')}, {key: 'model', name: 'limiter model', fill: fill('orange', 'rising')}];
  const bars = rows.flatMap((row) => kinds.map((kind) => ({
    name: row.what, kind: kind.name, value: row[kind.key].value, field: row[kind.key].field, fill: kind.fill,
    label: `${kind.name} ${rounded(row[kind.key].value)} us`, tip: `${row.what}, ${kind.name}: ${rounded(row[kind.key].value)} us`,
  })));
  const spec = pairsSpec({
    description: 'Two bars for each quantity: the simulation and the limiter model', height: 60 * rows.length, rows: bars, lanes: rows.map((row) => row.what),
    kinds: kinds.map((kind) => kind.name), gap: 0.08, domain: [0, 1.25 * Math.max(...bars.map((bar) => bar.value))],
    x: {title: 'time (us)'}, y: {title: 'quantity'}, encode: {cornerRadius: {value: 2}}, label: {x: {scale: 'x', field: 'value', offset: 6}, text: {field: 'label'}},
  });
  const table = dataTable('Simulation and limiter model', [
    {name: 'quantity', text: true}, {name: 'simulation', unit: 'us'}, {name: 'limiter model', unit: 'us'}, {name: 'model over simulation', unit: '%'},
  ], rows.map((row) => [row.what, {text: decimals(2)(row.simulation.value), field: row.simulation.field},
    {text: decimals(2)(row.model.value), field: row.model.field},
    {text: decimals(1)(100 * ratio(row.model.value, row.simulation.value)), field: `${row.model.field} / ${row.simulation.field}`}]));
  return section(`estimators-${index}`, 'Two estimators', 1, paragraph(
    'The limiter model counts the demand on each resource without waits: a lower bound for each kernel. The difference of the two ' +
        'estimates is latency, synchronisation and contention.'),
  chart({id: `estimators-${index}-times`, title: `${simulated.label} by two estimators`, keys: kinds, spec, table}));
}
