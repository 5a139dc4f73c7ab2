// The slowdown of a kernel by cause: from its time alone to its time in this run.
const lossKinds = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  contention: {name: 'contention: waits for a resource that another kernel held', fill: ['vermillion', 'solid']},
  inherited: {name: 'inherited: waits for a warp of its kernel that another kernel delayed', fill: ['orange', 'rising']},
  hidden: {name: 'hidden: contention during which the warp would also have waited alone', fill: ['yellow', 'waves']},
  residency: {name: 'residency: fewer resident warps', fill: ['purple', 'dots']},
  own_queueing: {name: 'own queueing: waits for resources that the kernel itself holds', fill: ['blue', 'falling']},
  dependence: {name: 'dependence: longer waits for results that contention does not explain', fill: ['sky', 'lines']},
  rest: {name: 'rest: launch, tail and remainder', fill: ['grey', 'solid']},
};
const shownLosses = 10;
const leastSlowdown = 0.01;  // of the time alone: a smaller slowdown is a small difference between large losses and gains

function lossName(loss) {
  if (loss.kind === 'rest') return 'rest';
  const kind = loss.kind.replaceAll('_', ' ');
  return loss.culprit === '' ? `${kind}: ${loss.resource}` : `${kind}: ${loss.culprit}, ${loss.resource}`;
}

// Returns the rows of the waterfall, each starting at the end of the row before; the smallest losses share a row.
function waterfallRows(run, kernel, k) {
  const us = ratio(run.result.total_time_us, run.result.total_cycles);
  const base = `kernels[${k}].slowdown`;
  const losses = kernel.slowdown.losses.map((loss, l) => ({name: lossName(loss), cycles: loss.cycles, kind: loss.kind,
    field: fieldOf(run, `${base}.losses[${l}].cycles`)})).sort((a, b) => Math.abs(b.cycles) - Math.abs(a.cycles));
  const small = losses.splice(shownLosses);
  if (small.length > 0) {
    losses.push({name: `${small.length} smaller ones`, kind: 'rest', cycles: small.reduce((sum, loss) => sum + loss.cycles, 0),
      field: small.map((loss) => loss.field).join(' + ')});
  }
  const total = (name, cycles, path, colour) => ({name, from: 0, to: cycles * us, fill: fill(...colour), label: `${rounded(cycles * us)} us`,
    tip: `${kernel.name}, ${name}: ${rounded(cycles * us)} us`, field: fieldOf(run, path)});
  const rows = [total('alone', kernel.slowdown.solo_cycles, `${base}.solo_cycles`, ['green', 'rising'])];
  let at = kernel.slowdown.solo_cycles * us;
  for (const loss of losses) {
    const change = loss.cycles * us;
    const words = `${change >= 0 ? '+' : ''}${rounded(change)} us`;
    rows.push({name: loss.name, from: at, to: at + change, fill: fill(...(lossKinds[loss.kind] ?? lossKinds.rest).fill), label: words,
      tip: `${kernel.name}, ${loss.name}: ${words}`, field: loss.field, kind: loss.kind});
    at += change;
  }
  rows.push(total('here', kernel.slowdown.cycles, `${base}.cycles`, ['green', 'solid']));
  return rows;
}

function waterfallSpec(rows, name) {
  const low = Math.min(...rows.slice(1, -1).flatMap((row) => [row.from, row.to]), rows[0].to);
  const high = Math.max(...rows.flatMap((row) => [row.from, row.to]));
  const origin = Math.max(0, low - 1.5 * (high - low));  // the ends of the first and last bars matter, not their length
  const places = rows.map((row) => ({...row, from: Math.max(row.from, origin), right: Math.max(row.from, row.to)}));
  return lanesSpec({
    description: `A waterfall from the time of ${name} alone to its time here, a step for each cause`, height: 27 * rows.length,
    rows: places, lanes: rows.map((row) => row.name), padding: 0.2, domain: [origin, high + 0.14 * (high - origin)], across: {zero: false},
    x: {title: origin > 0 ? 'time (us), axis cut off' : 'time (us)'}, y: {title: 'cause'},
    marks: [
      laneBars('name', {
        x: {signal: "min(scale('x', datum.from), scale('x', datum.to))"}, x2: undefined,
        width: {signal: "max(1.5, abs(scale('x', datum.to) - scale('x', datum.from)))"},
      }),
      labelsOf('rows', {
        x: {scale: 'x', field: 'right', offset: 6}, y: {scale: 'y', field: 'name', band: 0.5}, baseline: {value: 'middle'},
        text: {signal: "roomy ? datum.label : ''"},
      }),
    ],
  });
}

// True if the slowdown is too small to split into causes, or lies within folding's error bounds of the two runs.
function slowdownIsNoise(run, kernel) {
  const {solo_cycles: alone, cycles} = kernel.slowdown;
  return Math.abs(cycles - alone) <= Math.max(2 * openShare(run), leastSlowdown) * alone;
}

function slowdownChart(run, kernel, k, prefix) {
  const rows = waterfallRows(run, kernel, k);
  const kinds = Object.keys(lossKinds).filter((kind) => rows.some((row) => row.kind === kind));
  const base = `kernels[${k}].slowdown`;
  const table = listTable(`Causes of ${kernel.name}’s slowdown; warp-cycles over its mean resident warps alone are cycles`, fieldOf(run, `${base}.losses`),
    kernel.slowdown.losses, [{name: 'kind', text: true, field: 'kind'}, {name: 'culprit', text: true, field: 'culprit'}, {name: 'resource or state', text: true, field: 'resource'},
      {name: 'warp-cycles', field: 'warp_cycles', format: count}, {name: 'cycles', field: 'cycles', format: decimals(1)}]);
  if (slowdownIsNoise(run, kernel)) {
    return el('div', {}, paragraph(`${kernel.name} takes as long as alone to within ${percent(Math.max(2 * openShare(run), leastSlowdown), 2)}.`), table);
  }
  const explained = kernel.slowdown.explained;
  return chart({
    id: `${prefix}slowdown-${k}`, title: `${kernel.name}: from the time alone to the time here`,
    note: explained === undefined ? undefined
      : `Contention, inherited waits, residency and own queueing, less hidden contention, explain ${percent(explained)} of the slowdown.`,
    keys: kinds.map((kind) => ({name: lossKinds[kind]?.name ?? kind, fill: fill(...(lossKinds[kind] ?? lossKinds.rest).fill)})),
    spec: waterfallSpec(rows, kernel.name), table,
  });
}

function slowdownSection(run, prefix) {
  const charts = run.result.kernels.flatMap((kernel, k) => (kernel.slowdown?.losses?.length > 0 ? [slowdownChart(run, kernel, k, prefix)] : []));
  return charts.length === 0 ? [] : [section(`${prefix}slowdown`, 'Causes of slowdown', 2, ...charts)];
}
