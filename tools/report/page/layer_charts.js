// Charts of a transformer's layer: the share of each class of operators, and all launches under the GPU's roofs.
const layerClasses = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  contraction: {fill: ['blue', 'solid'], style: 0},
  normalisation: {fill: ['orange', 'rising'], style: 4},
  elementwise: {fill: ['green', 'dots'], style: 2},
  attention: {fill: ['purple', 'falling'], style: 3},
  communication: {fill: ['vermillion', 'lines'], style: 1},
  optimiser: {fill: ['grey', 'grid'], style: 7},
};

const atLayer = (path, words) => ({text: words, field: `layer.${path}`});
const layerClass = (kind) => layerClasses[kind] ?? layerClasses.optimiser;

function layerSharesChart(version, v) {
  const rows = [
    {row: 'operations', field: 'flop_percent', unit: 'FLOP'}, {row: 'words moved', field: 'word_percent', unit: 'words'},
    {row: 'time', field: 'time_percent', unit: 'time'},
  ];
  const values = rows.flatMap(({row, field}) => {
    let from = 0;
    return version.classes.map((each, c) => {
      const part = {row, from, to: from + each[field], fill: fill(...layerClass(each.kind).fill), field: `layer.versions[${v}].classes[${c}].${field}`,
        tip: `${each.kind}: ${decimals(2)(each[field])} % of ${row}`};
      from = part.to;
      return part;
    });
  });
  return chart({
    id: `layer-shares-${v}`, title: 'Shares of each class of operators',
    note: 'Kernels without a simulation have the roofline’s time.',
    keys: version.classes.map(({kind}) => ({name: kind, fill: fill(...layerClass(kind).fill)})),
    spec: lanesSpec({
      description: 'A bar each for operations, words moved and time, made of the classes’ shares', height: 150, rows: values,
      lanes: rows.map(({row}) => row), padding: 0.25, domain: [0, 100], x: {title: 'share (%)', grid: false, tickCount: undefined},
      y: {title: 'of the layer’s', ticks: true, domain: true}, marks: [laneBars('row', {stroke: {value: 'var(--card)'}, strokeWidth: {value: 1}})],
    }),
    table: listTable('Classes of operators', `layer.versions[${v}].classes`, version.classes, [
      {name: 'class', text: true, field: 'kind'}, {name: 'operations', unit: '%', field: 'flop_percent', format: decimals(2)},
      {name: 'words', unit: '%', field: 'word_percent', format: decimals(1)}, {name: 'time', unit: 'us', field: 'time_us', format: decimals(1)},
      {name: 'time', unit: '%', field: 'time_percent', format: decimals(1)}, {name: 'of it simulated', unit: '%', field: 'simulated_percent', format: decimals(0)},
    ]),
  });
}

// Returns the slope of memory and two flat roofs, for products and for all other operations. A launch without operations has no
// place under them.
function layerRoofs(layer, low, high) {
  const bandwidth = layer.memory_gb_per_s / 1000;  // TFLOPS at one FLOP a byte
  const top = Math.max(layer.tensor_tflops, layer.vector_tflops);
  const flat = (name, field) => ({
    x: layer[field] / bandwidth, y: layer[field], x2: high, y2: layer[field], label: `${name}, ridge ${rounded(layer[field] / bandwidth)} FLOP/B`, field: `layer.${field}`,
    tip: `${name}: ${rounded(layer[field])} TFLOPS at most, ridge at ${rounded(layer[field] / bandwidth)} FLOP a byte`,
  });
  return {
    roofs: [{x: low, y: low * bandwidth, x2: top / bandwidth, y2: top, field: 'layer.memory_gb_per_s', tip: `memory: ${rounded(layer.memory_gb_per_s)} GB/s at most`},
      flat('products and attention', 'tensor_tflops'), flat('other operators', 'vector_tflops')],
    top,
  };
}

function layerRooflineChart(layer, version, v) {
  const points = version.kernels.map((kernel, k) => ({kernel, k})).filter(({kernel}) => kernel.flops > 0 && kernel.ridge > 0).map(({kernel, k}) => {
    const style = scatterStyle(layerClass(kernel.kind).style);
    const speed = kernel.flops / kernel.time_us / 1e6;
    return {
      x: kernel.intensity, y: speed, style, faint: kernel.simulated_us === undefined,
      tip: `${kernel.name} (${kernel.pass}): ${rounded(kernel.intensity)} FLOP a byte, ${rounded(speed)} TFLOPS, ${rounded(kernel.time_us)} us`,
      field: `layer.versions[${v}].kernels[${k}].intensity, layer.versions[${v}].kernels[${k}].flops, layer.versions[${v}].kernels[${k}].time_us`,
    };
  });
  if (points.length === 0) return [];
  const low = Math.min(...points.map(({x}) => x), 1) / 2;
  const high = Math.max(...points.map(({x}) => x), 1000 * layer.tensor_tflops / layer.memory_gb_per_s) * 4;
  const {roofs, top} = layerRoofs(layer, low, high);
  const axis = {grid: true, labelOverlap: true, tickCount: 6, format: ',.6~g'};
  const kinds = [...new Set(version.kernels.filter(({flops, ridge}) => flops > 0 && ridge > 0).map(({kind}) => kind))];
  return [chart({
    id: `layer-roofline-${v}`, title: 'All launches under the GPU’s roofs',
    note: 'A point for each launch with operations: operations over bytes of its words, and operations over its time. Points above memory’s slope reuse words ' +
      'in L2. Faint points are not simulated: they lie on the roof.',
    keys: kinds.map((kind) => {
      const {colour, shape} = scatterStyle(layerClass(kind).style);
      return {name: kind, fill: fill(colour), shape};
    }),
    spec: {
      description: 'The roofs of memory, of products and of other operators, and a point for each launch by intensity and speed', height: 420,
      data: [{name: 'roofs', values: roofs}, {name: 'flats', values: roofs.slice(1)}, {name: 'points', values: points}],
      scales: [{name: 'x', type: 'log', domain: [low, high], range: 'width'},
        {name: 'y', type: 'log', domain: [Math.min(...points.map(({y}) => y), low * layer.memory_gb_per_s / 1000) / 2, 2 * top], range: 'height'}],
      axes: [{orient: 'bottom', scale: 'x', title: 'intensity (FLOP a byte)', ...axis}, {orient: 'left', scale: 'y', title: 'speed (TFLOPS)', ...axis}],
      marks: [
        marksOf('rule', 'roofs', {
          x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, x2: {scale: 'x', field: 'x2'}, y2: {scale: 'y', field: 'y2'},
          stroke: {value: 'var(--ink)'}, strokeWidth: {value: 2},
        }, {clip: true}),
        labelsOf('flats', {
          x: {signal: 'width', offset: -4}, y: {scale: 'y', field: 'y', offset: -6}, align: {value: 'right'}, text: {signal: "roomy ? datum.label : ''"},
          fill: {value: 'var(--ink)'}, stroke: {value: 'var(--card)'}, strokeWidth: {value: 3},
        }),
        marksOf('symbol', 'points', {
          x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, shape: {field: 'style.shape'}, size: {value: 90},
          fill: {signal: "'var(--' + datum.style.colour + ')'"}, fillOpacity: {signal: 'datum.faint ? 0.3 : 0.85'},
          stroke: {value: 'var(--ink)'}, strokeWidth: {value: 0.75},
        }),
      ],
    },
    table: layerKernelTable(version, v, version.kernels.map((_, k) => k), `All launches of ${version.name}`),
  })];
}
