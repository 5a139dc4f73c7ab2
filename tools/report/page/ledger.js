// The contention ledger: victim, culprit and resource of each wait.

function ledgerEntries(run) {
  return run.result.ledger.map((entry, e) => {
    const k = run.result.kernels.findIndex((kernel) => kernel.name === entry.victim);
    const victim = run.result.kernels[k];
    const c = victim?.beside?.findIndex((company) => company.kernel === entry.culprit) ?? -1;
    const whole = c >= 0 ? victim.beside[c].warp_cycles : victim?.resident_warp_cycles ?? 0;
    return {
      ...entry, own: entry.victim === entry.culprit, share: ratio(entry.warp_cycles, whole),
      pair: entry.victim === entry.culprit ? `${entry.victim} waits for itself` : `${entry.victim} waits for ${entry.culprit}`,
      field: fieldOf(run, `ledger[${e}].warp_cycles`), wholeField: fieldOf(run, `kernels[${k}].${c >= 0 ? `beside[${c}].warp_cycles` : 'resident_warp_cycles'}`),
    };
  }).sort((a, b) => a.own - b.own || b.warp_cycles - a.warp_cycles);
}

function heatSpec(entries) {
  const pairs = [...new Set(entries.map((entry) => entry.pair))];
  const sums = new Map();
  for (const entry of entries) sums.set(entry.resource, (sums.get(entry.resource) ?? 0) + entry.share);
  const resources = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  const most = Math.max(...entries.map((entry) => entry.share));
  const angle = `(${resources.length <= 6} && roomy ? 0 : bandwidth('x') < 40 ? -90 : -30)`;
  const cells = entries.map((entry) => ({
    pair: entry.pair, resource: entry.resource, depth: 0.06 + 0.94 * Math.sqrt(entry.share / most),
    label: entry.share >= 0.0005 ? decimals(entry.share >= 0.1 ? 1 : 2)(100 * entry.share) : '<0.05',
    tip: `${entry.pair}, ${entry.resource}: ${percent(entry.share, 2)} of its warp time, ${count(entry.warp_cycles)} warp-cycles`,
    field: `${entry.field} / ${entry.wholeField}`,
  }));
  return {
    description: 'A cell for each pair of victim and culprit and each resource: how much of its warp time the victim waited there',
    height: 42 * pairs.length,
    data: [{name: 'cells', values: cells}],
    scales: [
      {name: 'x', type: 'band', domain: resources, range: 'width', padding: 0.04},
      {name: 'y', type: 'band', domain: pairs, range: 'height', padding: 0.06},
    ],
    axes: [
      {orient: 'top', scale: 'x', title: 'resource', ticks: false, domain: false, labelAngle: {signal: angle}, labelAlign: {signal: `${angle} === 0 ? 'center' : 'left'`},
        labelBaseline: {signal: `${angle} === -90 ? 'middle' : 'bottom'`}},
      {orient: 'left', scale: 'y', title: 'victim and culprit', ticks: false, domain: false},
    ],
    marks: [
      marksOf('rect', 'cells', {
        x: {scale: 'x', field: 'resource'}, width: {scale: 'x', band: 1}, y: {scale: 'y', field: 'pair'}, height: {scale: 'y', band: 1},
        fill: {value: 'var(--heat)'}, fillOpacity: {field: 'depth'}, stroke: {value: 'var(--line-strong)'}, strokeWidth: {value: 0.5},
        cornerRadius: {value: 3},
      }),
      labelsOf('cells', {
        x: {scale: 'x', field: 'resource', band: 0.5}, y: {scale: 'y', field: 'pair', band: 0.5}, align: {value: 'center'},
        baseline: {value: 'middle'}, text: {signal: "bandwidth('x') > 7.5 * length(datum.label) ? datum.label : ''"}, fontWeight: {value: 600}, fill: {value: 'var(--ink)'},
        stroke: {value: 'var(--card)'}, strokeWidth: {value: 3}, strokeOpacity: {value: 0.6},
      }),
    ],
  };
}

function ledgerSection(run, prefix) {
  const entries = ledgerEntries(run);
  if (entries.length === 0) return section(`${prefix}ledger`, 'Contention between kernels', 2, paragraph('No kernel waited for a shared resource.'));
  const table = dataTable('The contention ledger: contention between kernels first, each kernel’s own queueing after it', [
    {name: 'victim', text: true}, {name: 'culprit', text: true}, {name: 'resource', text: true}, {name: 'warp-cycles'},
    {name: '% of victim’s time'},
  ], entries.map((entry) => [entry.victim, entry.own ? 'itself' : entry.culprit, entry.resource,
    {text: count(entry.warp_cycles), field: entry.field},
    {text: decimals(2)(100 * entry.share), field: `${entry.field} / ${entry.wholeField}`}]));
  return section(`${prefix}ledger`, 'Contention between kernels', 2, chart({
    id: `${prefix}ledger-heat`, title: 'Warp time that the victim waited while the culprit held the resource (% of the victim’s while both were on an SM)',
    note: 'Cells hold the share, and a deeper colour is a larger one. Contention between kernels comes first, each kernel’s own queueing below.',
    spec: heatSpec(entries), table,
  }));
}
