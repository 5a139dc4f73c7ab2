// The states of resident warps: issuing, or waiting, by reason.

// `bars`: {name, states: [{state, warp_cycles, field}], whole, wholeField}
function stackRows(bars) {
  return bars.flatMap((bar) => {
    let from = 0;
    return bar.states.filter((each) => each.warp_cycles > 0).map((each) => {
      const share = 100 * ratio(each.warp_cycles, bar.whole);
      const row = {
        bar: bar.name, from, to: from + share, middle: from + share / 2, state: each.state, fill: stateFill(each.state),
        words: `${each.state.replaceAll('_', ' ')} ${share.toFixed(0)}`, number: share.toFixed(0),
        tip: `${bar.name}, ${each.state}: ${share.toFixed(1)} % of its warp time, ${count(each.warp_cycles)} warp-cycles`,
        field: `${each.field} / ${bar.wholeField}`,
      };
      from += share;
      return row;
    });
  });
}

function stackSpec(description, bars, yTitle) {
  const room = "(scale('x', datum.to) - scale('x', datum.from))";  // for the words in a part, at about 6 pixels a letter
  return lanesSpec({
    description, height: 54 * bars.length, rows: stackRows(bars), lanes: bars.map((bar) => bar.name), padding: 0.22, domain: [0, 100],
    x: {title: 'share of resident warp-cycles (%)', tickCount: 10, grid: false}, y: {title: yTitle},
    marks: [
      laneBars('bar', {stroke: {value: 'var(--card)'}, strokeWidth: {value: 1}}),
      labelsOf('rows', {
        x: {scale: 'x', field: 'middle'}, y: {scale: 'y', field: 'bar', band: 0.5}, align: {value: 'center'}, baseline: {value: 'middle'},
        text: {signal: `${room} > 6.4 * length(datum.words) + 6 ? datum.words : ${room} > 8 * length(datum.number) + 2 ? datum.number : ''`},
        fontSize: {value: 11},
        fill: {value: 'var(--on-colour)'}, stroke: {value: 'var(--on-colour-halo)'}, strokeWidth: {value: 3},
      }),
    ],
  });
}

function kernelBars(run) {
  return run.result.kernels.map((kernel, k) => ({
    name: kernel.name, whole: kernel.resident_warp_cycles, wholeField: fieldOf(run, `kernels[${k}].resident_warp_cycles`),
    states: kernel.states.map((each, s) => ({...each, field: fieldOf(run, `kernels[${k}].states[${s}].warp_cycles`)})),
  }));
}

function statesTable(bars) {
  const seen = [...new Set(bars.flatMap((bar) => bar.states.filter((each) => each.warp_cycles > 0).map((each) => each.state)))];
  return dataTable('Share of resident warp-cycles in each state', [
    {name: 'state', text: true}, ...bars.map((bar) => ({name: bar.name, unit: '%'})),
  ], seen.map((state) => [state, ...bars.map((bar) => {
    const each = bar.states.find((entry) => entry.state === state);
    return each === undefined ? '-' : {text: decimals(1)(100 * ratio(each.warp_cycles, bar.whole)), field: `${each.field} / ${bar.wholeField}`};
  })]));
}

function statesSection(run, prefix) {
  const bars = kernelBars(run);
  const seen = [...new Set(bars.flatMap((bar) => bar.states.filter((each) => each.warp_cycles > 0).map((each) => each.state)))];
  return section(`${prefix}states`, 'Warp states', 2, chart({
    id: `${prefix}states-kernels`, title: 'States of each kernel’s resident warps',
    note: 'selected: issued an instruction. All other states are stall reasons, by their names in Nsight Compute.',
    keys: seen.map((state) => ({name: state, fill: stateFill(state)})),
    spec: stackSpec('A stacked bar for each kernel: the share of its resident warp-cycles in each state', bars, 'kernel'),
    table: statesTable(bars),
  }), ...rolesChart(run, prefix));
}
