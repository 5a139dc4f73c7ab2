// The hierarchical roofline of each kernel: the ceiling of each level of memory and of each pipe, and the kernel's rate.
const levelStyle = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  shared_memory: {name: 'shared memory and L1', colour: 'blue', shape: 'circle', dash: []},
  l2: {name: 'L2', colour: 'orange', shape: 'square', dash: [7, 3]},
  dram: {name: 'DRAM', colour: 'purple', shape: 'triangle-up', dash: [2, 3]},
};
const shownCeilings = 3;

const rooflineHeight = 320;

// Roofs whose distance is less than a line of text share the label of the highest roof. `decades`: the axis's height.
function shareLabels(flats, decades) {
  let first;
  for (const flat of [...flats].sort((a, b) => b.y - a.y)) {
    if (first !== undefined && rooflineHeight * Math.log10(first.y / flat.y) / decades < 16) {
      first.label += `, ${flat.label}`;
      flat.label = '';
    } else {
      first = flat;
    }
  }
}

function rooflineSpec(run, kernel, k) {
  const {roofline} = kernel;
  const base = `kernels[${k}].roofline`;
  const levels = roofline.levels.map((level, l) => ({...level, ...(levelStyle[level.level] ?? {name: level.level, colour: 'grey', shape: 'cross', dash: [1, 2]}),
    l})).filter((level) => level.intensity > 0);
  const ceilings = roofline.ceilings.slice(0, shownCeilings);
  const top = Math.max(...ceilings.map((ceiling) => ceiling.operations_per_ns), roofline.operations_per_ns);
  const low = Math.min(...levels.map((level) => level.intensity), ...ceilings.flatMap((ceiling) => levels.map((level) =>
    ceiling.operations_per_ns / level.ceiling_gb_per_s))) / 4;
  const high = Math.max(...levels.map((level) => level.intensity), ...levels.map((level) => top / level.ceiling_gb_per_s)) * 4;
  // Billions a second, or trillions for large numbers.
  const scale = top >= 1e4 ? 1000 : 1;
  const unit = `${scale > 1 ? 'trillions' : 'billions'} of ${roofline.operation}s a second`;
  const close = levels.some((level, l) => l > 0 && Math.max(level.intensity, levels[l - 1].intensity) < 2 * Math.min(level.intensity, levels[l - 1].intensity));
  const slopes = levels.map((level) => ({
    x: low, y: low * level.ceiling_gb_per_s, x2: top / level.ceiling_gb_per_s, y2: top, stroke: `var(--${level.colour})`, dash: level.dash,
    tip: `${level.name}: ${rounded(level.ceiling_gb_per_s)} GB/s at most`, field: fieldOf(run, `${base}.levels[${level.l}].ceiling_gb_per_s`),
  }));
  const flats = ceilings.map((ceiling, c) => ({
    x: Math.max(low, Math.min(...levels.map((level) => ceiling.operations_per_ns / level.ceiling_gb_per_s))), y: ceiling.operations_per_ns,
    x2: high, y2: ceiling.operations_per_ns, stroke: 'var(--ink)', dash: c === 0 ? [] : [5, 5],
    tip: `${ceiling.resource}: ${rounded(ceiling.operations_per_ns / scale)} ${unit} at most`, label: ceiling.resource,
    field: fieldOf(run, `${base}.ceilings[${c}].operations_per_ns`),
  }));
  const points = levels.map((level) => ({
    x: level.intensity, y: roofline.operations_per_ns, row: level.l, fill: `var(--${level.colour})`, shape: level.shape, label: level.name, drop: close ? 18 + 15 * level.l : 20,
    tip: `${kernel.name} by ${level.name}: ${rounded(level.intensity)} ${roofline.operation}s a byte, ${rounded(roofline.operations_per_ns / scale)} ${unit}, ${rounded(level.gb_per_s)} GB/s`,
    field: `${fieldOf(run, `${base}.levels[${level.l}].intensity`)}, ${fieldOf(run, `${base}.operations_per_ns`)}`,
  }));
  const bottom = Math.min(roofline.operations_per_ns, ...slopes.map((slope) => slope.y)) / 2;
  shareLabels(flats, Math.log10(2 * top / bottom));
  return {
    description: `Roofs over ${kernel.name} from each level of memory and each pipe, and a point for each level`, height: rooflineHeight,
    data: [{name: 'roofs', values: [...slopes, ...flats]}, {name: 'points', values: points}, {name: 'flats', values: flats}],
    scales: [
      {name: 'x', type: 'log', domain: [low, high], range: 'width'},
      {name: 'y', type: 'log', domain: [bottom, top * 2], range: 'height'},
      {name: 'speed', type: 'log', domain: [bottom / scale, 2 * top / scale], range: 'height'},
    ],
    axes: [
      {orient: 'bottom', scale: 'x', title: `intensity (${roofline.operation}s a byte)`, format: ',.6~g', labelOverlap: true, tickCount: 6},
      {orient: 'left', scale: 'speed', title: `speed (${unit})`, format: ',.6~g', labelOverlap: true, tickCount: 6},
    ],
    marks: [
      marksOf('rule', 'roofs', {
        x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, x2: {scale: 'x', field: 'x2'}, y2: {scale: 'y', field: 'y2'},
        stroke: {field: 'stroke'}, strokeWidth: {value: 2}, strokeDash: {field: 'dash'},
      }, {clip: true}),
      labelsOf('flats', {
        x: {signal: 'width', offset: -4}, y: {scale: 'y', field: 'y', offset: -5}, align: {value: 'right'}, text: {field: 'label'},
        fill: {value: 'var(--ink)'}, stroke: {value: 'var(--card)'}, strokeWidth: {value: 3},
      }),
      marksOf('symbol', 'points', {
        x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, fill: {field: 'fill'}, shape: {field: 'shape'}, size: {value: 170},
        stroke: {value: 'var(--ink)'}, strokeWidth: {value: 1.5},
      }),
      labelsOf('points', {
        x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y', offset: {signal: 'roomy ? datum.drop : 18 + 15 * datum.row'}}, align: {value: 'center'}, text: {field: 'label'},
        fill: {value: 'var(--ink)'}, stroke: {value: 'var(--card)'}, strokeWidth: {value: 3},
      }),
    ],
  };
}

function rooflineChart(run, kernel, k, prefix) {
  const base = `kernels[${k}].roofline`;
  const table = listTable(`${kernel.name} by level of memory`, fieldOf(run, `${base}.levels`), kernel.roofline.levels, [
    {name: 'level', text: true, field: 'level'}, {name: 'moved', unit: 'bytes', field: 'bytes', format: count},
    {name: 'intensity', unit: `${kernel.roofline.operation}s a byte`, field: 'intensity', format: rounded},
    {name: 'achieved', unit: 'GB/s', field: 'gb_per_s', format: decimals(1)}, {name: 'at most', unit: 'GB/s', field: 'ceiling_gb_per_s', format: decimals(1)},
  ]);
  return chart({
    id: `${prefix}roofline-${k}`, title: `${kernel.name} under its roofs`,
    keys: kernel.roofline.levels.map((level) => ({name: `roof and point of ${levelStyle[level.level]?.name ?? level.level}`,
      fill: fill(levelStyle[level.level]?.colour ?? 'grey')})),
    note: `The lowest roof over the kernel: ${kernel.roofline.bound_by}, ${rounded(kernel.roofline.roof)} billions of ${kernel.roofline.operation}s a second; ` +
      `it does ${rounded(kernel.roofline.operations_per_ns)}.`,
    spec: rooflineSpec(run, kernel, k), table,
  });
}

function rooflineSection(run, prefix) {
  const charts = run.result.kernels.flatMap((kernel, k) =>
    (kernel.roofline?.levels?.some((level) => level.intensity > 0) ? [rooflineChart(run, kernel, k, prefix)] : []));
  return charts.length === 0 ? [] : [section(`${prefix}roofline`, 'Roofline', 2, ...charts)];
}
