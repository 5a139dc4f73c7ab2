// The number of CTAs that fit on an SM, over each quantity of a kernel's footprint, and the gain from smaller footprints.
const curveNames = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  registers_per_thread: 'registers (a thread)', shared_memory_bytes: 'shared memory (bytes a CTA)', warps_per_cta: 'warps (a CTA)',
};

// Returns the steps of a curve. A step ends at the largest value with which its number of CTAs fits.
function curveSteps(run, curve, base) {
  let from = 0;
  return curve.points.map((point, p) => {
    const step = {
      from, to: point.value, warps: point.warps,
      tip: `up to ${count(point.value)} ${curveNames[curve.what] ?? curve.what}: ${count(point.ctas)} CTAs, ${count(point.warps)} warps`,
      field: fieldOf(run, `${base}.points[${p}].ctas`),
    };
    from = point.value;
    return step;
  });
}

function curveSpec(run, kernel, curve, base) {
  const steps = curveSteps(run, curve, base);
  const here = steps.find((step) => curve.now <= step.to && (curve.now > step.from || step.from === 0));
  const now = here === undefined ? [] : [{x: curve.now, tip: `${kernel.kernel}: ${count(curve.now)} ${curveNames[curve.what] ?? curve.what}`,
    field: fieldOf(run, `${base}.now`)}];
  return {
    description: `Resident warps an SM of ${kernel.kernel} over its ${curveNames[curve.what] ?? curve.what}`, height: 150,
    data: [{name: 'steps', values: steps}, {name: 'now', values: now}],
    scales: [
      {name: 'x', type: 'linear', domain: [0, Math.max(...steps.map((step) => step.to), curve.now)], range: 'width'},
      {name: 'y', type: 'linear', domain: [0, kernel.warp_slots], range: 'height'},
    ],
    axes: [
      {orient: 'bottom', scale: 'x', title: curveNames[curve.what] ?? curve.what, format: ',d', labelOverlap: true, tickCount: 6},
      {orient: 'left', scale: 'y', title: 'warps (an SM)', grid: true, tickCount: 4},
    ],
    marks: [
      marksOf('rect', 'steps', {
        x: {scale: 'x', field: 'from'}, x2: {scale: 'x', field: 'to'}, y: {scale: 'y', field: 'warps'}, y2: {scale: 'y', value: 0},
        fill: {value: fill('sky', 'solid')}, stroke: {value: 'var(--card)'}, strokeWidth: {value: 0.5},
      }),
      marksOf('rule', 'now', {
        x: {scale: 'x', field: 'x'}, y: {value: 0}, y2: {signal: 'height'}, stroke: {value: 'var(--vermillion)'}, strokeWidth: {value: 3},
      }),
    ],
  };
}

function curveChart(run, kernel, k, curve, c, prefix) {
  const base = `occupancy.kernels[${k}].curves[${c}]`;
  const last = curve.points.at(-1);
  if (curve.points.every((point) => point.warps === last.warps)) {
    const words = `${kernel.kernel}: ${count(last.warps)} warps an SM for every value of ${curveNames[curve.what] ?? curve.what} up to ${count(last.value)}.`;
    return el('p', {'data-field': fieldOf(run, `${base}.points[${curve.points.length - 1}].warps`)}, words);
  }
  return chart({
    id: `${prefix}occupancy-${k}-${c}`, title: `${kernel.kernel}: warps an SM by ${(curveNames[curve.what] ?? curve.what).replace(/ \(.*/, '')}`,
    keys: [{name: 'warps that fit', fill: fill('sky', 'solid')}, {name: 'now', fill: fill('vermillion', 'solid')}],
    spec: curveSpec(run, kernel, curve, base),
    table: listTable(`CTAs an SM of ${kernel.kernel} up to each size`, fieldOf(run, `${base}.points`), curve.points, [
      {name: 'up to', field: 'value', format: count}, {name: 'CTAs', field: 'ctas', format: count}, {name: 'warps', field: 'warps', format: count}]),
  });
}

function occupancySection(run, prefix) {
  const {occupancy} = run.result;
  if (!occupancy) return [];
  const footprints = listTable('Footprints of CTAs and the resource that limits them on an SM', fieldOf(run, 'occupancy.kernels'), occupancy.kernels, [
    {name: 'kernel', text: true, field: 'kernel'}, {name: 'warps', unit: 'a CTA', field: 'warps_per_cta', format: count},
    {name: 'registers', unit: 'a thread', field: 'registers_per_thread', format: count},
    {name: 'shared memory', unit: 'bytes a CTA', field: 'shared_memory_bytes', format: count}, {name: 'CTAs/SM that fit', field: 'ctas_per_sm', format: count},
    {name: 'warps/SM that fit', field: 'warps_per_sm', format: count}, {name: 'waves', field: 'waves', format: decimals(2)}, {name: 'occupancy limit', text: true, field: 'limiter'},
  ]);
  const smaller = dataTable('Smaller footprints, each simulated with the same program; above 1 is faster', [
    {name: 'kernel', text: true}, {name: 'CTAs/SM that fit'}, {name: 'registers', unit: 'a thread'}, {name: 'shared memory', unit: 'bytes a CTA'},
    {name: 'speed-up', unit: 'of the run'}, {name: 'speed-up', unit: 'of the kernel'}, {name: 'setting', text: true, sentence: true},
  ], occupancy.kernels.flatMap((kernel, k) => kernel.smaller.map((each, s) => {
    const at = (name, format) => figure(run, `occupancy.kernels[${k}].smaller[${s}].${name}`, format);
    return [kernel.kernel, at('ctas', count), at('registers_per_thread', count), at('shared_memory_bytes', count),
      each.speedup > 0 ? at('speedup', decimals(3)) : '-', each.speedup > 0 ? at('kernel_speedup', decimals(3)) : '-',
      each.not_run !== '' && each.not_run !== undefined ? at('not_run', text) : each.setting.join(' ')];
  })));
  const tried = occupancy.kernels.some((kernel) => kernel.smaller.length > 0);
  return [section(`${prefix}occupancy`, 'Occupancy', 2, footprints, ...(tried ? [smaller] : []),
    ...occupancy.kernels.flatMap((kernel, k) => kernel.curves.map((curve, c) => curveChart(run, kernel, k, curve, c, prefix))))];
}
