// The effect of more or less of each resource, varied one at a time.
const shownResources = 18;
const leastChange = 0.5;  // % of the run's speed

function whatIfSection(run, prefix) {
  const whatIf = run.result.what_if;
  if (!whatIf) return [];
  const change = (variation) => (variation && variation.speedup > 0 ? 100 * (variation.speedup - 1) : 0);
  const reach = (resource) => Math.max(Math.abs(change(resource.better)), Math.abs(change(resource.worse)));
  const ranked = whatIf.resources.map((resource, r) => ({resource, r}));
  // Takes the resources with the longest bars, in the order of the result: the resource whose increase gains most comes first.
  const longest = [...ranked].sort((a, b) => reach(b.resource) - reach(a.resource)).slice(0, shownResources);
  const noise = Math.max(100 * whatIf.noise, leastChange);
  const shown = ranked.filter((each) => longest.includes(each) && reach(each.resource) > noise);
  const names = shown.map(({resource}) => resource.resource);
  const bars = shown.flatMap(({resource, r}) => ['better', 'worse'].map((side) => {
    const value = change(resource[side]);
    return {
      name: resource.resource, kind: side, value, fill: side === 'better' ? fill('green') : fill('vermillion', 'rising'),
      label: Math.abs(value) < 0.05 ? '' : `${value > 0 ? '+' : ''}${decimals(1)(value)}`, align: value >= 0 ? 'left' : 'right', offset: value >= 0 ? 5 : -5,
      tip: `${resource.what}, ${resource[side]?.setting?.join(' ')}: ${value > 0 ? '+' : ''}${decimals(2)(value)} % speed`,
      field: fieldOf(run, `what_if.resources[${r}].${side}.speedup`),
    };
  })).filter((bar) => shown.find(({resource}) => resource.resource === bar.name).resource[bar.kind]?.speedup > 0);
  const most = Math.max(...bars.map((bar) => Math.abs(bar.value)), 0.1);
  const spec = pairsSpec({
    description: 'Two bars for each resource: the change of speed with more of it and with less of it', height: 30 * names.length, rows: bars, lanes: names,
    kinds: ['better', 'worse'], x: {title: 'change of speed of the whole run (%)', tickCount: 8}, y: {title: 'resource'},
    domain: [Math.min(0, ...bars.map((bar) => bar.value)) - 0.15 * most, Math.max(0, ...bars.map((bar) => bar.value)) + 0.15 * most],
    label: {x: {scale: 'x', field: 'value', offset: {field: 'offset'}}, align: {field: 'align'}, text: {signal: "roomy ? datum.label : ''"}, fontSize: {value: 11}},
  });
  const cell = (r, side) => {
    const variation = whatIf.resources[r][side];
    if (!variation) return '-';
    if (!(variation.speedup > 0)) return {text: variation.not_run, sentence: true, field: fieldOf(run, `what_if.resources[${r}].${side}.not_run`)};
    return figure(run, `what_if.resources[${r}].${side}.speedup`, (speedup) => (100 * Math.abs(speedup - 1) < noise ? 'no effect' : rounded(speedup)));
  };
  const table = dataTable('Every resource, the largest speed-up first', [
    {name: 'resource', text: true}, {name: 'scaled quantity', text: true}, {name: 'speed-up with more', unit: 'times'},
    {name: 'speed-up with less', unit: 'times'}, {name: 'setting', text: true, sentence: true},
  ], ranked.map(({resource, r}) => [figure(run, `what_if.resources[${r}].resource`, text), figure(run, `what_if.resources[${r}].what`, text),
    cell(r, 'better'), cell(r, 'worse'), (resource.better?.setting ?? []).join(' ')]));
  const quiet = ranked.filter(({resource}) => reach(resource) <= noise).map(({resource}) => resource.resource);
  const unchanged = quiet.length === 0 ? [] : [paragraph(`The run changes by at most ${decimals(2)(noise)} %, ` +
    `${whatIf.noise > 0 ? 'folding’s error bound' : 'too little to draw'}, with ${quiet.join(', ')}.`)];
  if (shown.length === 0) return [section(`${prefix}what-if`, 'What if', 2, ...unchanged, table)];
  return [section(`${prefix}what-if`, 'What if', 2, chart({
    id: `${prefix}what-if-tornado`, title: `Speed of the run with ${whatIf.factor} times, and with 1/${whatIf.factor}, of each resource`,
    note: 'Each bar is a simulation of its own.',
    keys: [{name: 'more of it (a shorter latency)', fill: fill('green')}, {name: 'less of it (a longer latency)', fill: fill('vermillion', 'rising')}],
    spec, table,
  }), ...unchanged)];
}
