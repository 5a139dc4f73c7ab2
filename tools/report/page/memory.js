// The kernels' demand on each level of memory and its efficiency: bytes by level, wavefronts of shared memory by kind of access.
const memoryLevels = [
  {name: 'asked of L1 and L2', colour: 'sky', pattern: 'solid'}, {name: 'served by L1', colour: 'green', pattern: 'rising'},
  {name: 'between SMs and L2', colour: 'blue', pattern: 'falling'}, {name: 'between L2 and DRAM', colour: 'orange', pattern: 'dots'},
];

function levelRows(run, kernel, k) {
  const asked = kernel.memory.accesses.reduce((sum, access) => sum + access.bytes, 0);
  const l1 = kernel.memory.accesses.reduce((sum, access) => sum + access.l1_bytes, 0);
  const of = (name) => kernel.memory.accesses.map((_, a) => fieldOf(run, `kernels[${k}].memory.accesses[${a}].${name}`)).join(' + ');
  const values = [[asked, of('bytes')], [l1, of('l1_bytes')], [kernel.l2_bytes, fieldOf(run, `kernels[${k}].l2_bytes`)],
    [kernel.dram_bytes, fieldOf(run, `kernels[${k}].dram_bytes`)]];
  return values.map(([bytes, field], v) => ({
    name: `${kernel.name}: ${memoryLevels[v].name}`, value: bytes / 1e6, label: `${rounded(bytes / 1e6)} MB`,
    tip: `${kernel.name}: ${rounded(bytes / 1e6)} MB ${memoryLevels[v].name}`, field, fill: fill(memoryLevels[v].colour, memoryLevels[v].pattern),
  })).filter((row) => row.value > 0);
}

function wavefrontRows(run, kernel, k) {
  return kernel.memory.accesses.flatMap((access, a) => {
    const base = `kernels[${k}].memory.accesses[${a}]`;
    const needed = access.wavefronts - access.excess_wavefronts;
    const name = `${kernel.name}: ${access.kind.replaceAll('_', ' ')}`;
    return [
      {name, from: 0, to: needed, part: 'without conflicts', fill: fill('green'), field: `${fieldOf(run, `${base}.wavefronts`)} - ${fieldOf(run, `${base}.excess_wavefronts`)}`},
      {name, from: needed, to: access.wavefronts, part: 'by conflicts', fill: fill('vermillion', 'rising'), field: fieldOf(run, `${base}.excess_wavefronts`)},
    ].map((row) => ({...row, tip: `${name}, ${row.part}: ${count(row.to - row.from)} wavefronts`})).filter((row) => row.to > row.from);
  });
}

function wavefrontSpec(rows) {
  const names = [...new Set(rows.map((row) => row.name))];
  return lanesSpec({
    description: 'Stacked bars of the wavefronts of each kind of access: the conflict-free minimum, and what bank conflicts add',
    height: 28 * names.length, rows, lanes: names, padding: 0.25, domain: [0, Math.max(...rows.map((row) => row.to)) * 1.04],
    x: {title: 'shared-memory passes (wavefronts)', format: '~s'}, y: {title: 'kernel and access'}, marks: [laneBars('name')],
  });
}

function memoryTables(run) {
  const accesses = dataTable('Accesses by kind; a wavefront is a pass of 128 bytes through shared memory’s data stage', [
    {name: 'kernel', text: true}, {name: 'access', text: true}, {name: 'requests'}, {name: 'sectors', unit: 'a request'}, {name: 'asked', unit: 'bytes'},
    {name: 'served by L1', unit: 'bytes'}, {name: 'wavefronts'}, {name: 'of them by conflicts'},
  ], run.result.kernels.flatMap((kernel, k) => (kernel.memory?.accesses ?? []).map((access, a) => {
    const at = (name, format) => figure(run, `kernels[${k}].memory.accesses[${a}].${name}`, format);
    return [kernel.name, access.kind.replaceAll('_', ' '), at('requests', count), at('sectors_per_request', decimals(1)), at('bytes', count), at('l1_bytes', count),
      at('wavefronts', count), at('excess_wavefronts', count)];
  })));
  const rates = dataTable('Rates of each kernel, % of bytes and of wavefronts', [
    {name: 'kernel', text: true}, {name: 'L1 hits', unit: '%'}, {name: 'L2 hits of reads', unit: '%'}, {name: 'conflicts', unit: '% of wavefronts'},
  ], run.result.kernels.map((kernel, k) => [kernel.name, ...['l1_hit_rate', 'l2_hit_rate', 'conflict_rate'].map((name) =>
    figure(run, `kernels[${k}].memory.${name}`, (share) => decimals(1)(100 * share)))]));
  return [rates, accesses];
}

function memorySection(run, prefix) {
  const {kernels} = run.result;
  if (!kernels.some((kernel) => kernel.memory?.accesses?.length > 0)) return [];
  const known = kernels.map((kernel, k) => ({kernel, k})).filter(({kernel}) => kernel.memory);
  const bytes = known.flatMap(({kernel, k}) => levelRows(run, kernel, k));
  const wavefronts = known.flatMap(({kernel, k}) => wavefrontRows(run, kernel, k));
  const parts = [];
  if (bytes.length > 0) {
    parts.push(chart({
      id: `${prefix}memory-bytes`, title: 'Bytes by level of memory', keys: memoryLevels.map(({name, colour, pattern}) => ({name, fill: fill(colour, pattern)})),
      spec: barsSpec({description: 'Bars of the bytes that each kernel moves at each level of memory', rows: bytes, xTitle: 'moved (MB)', yTitle: 'kernel and level',
        height: 26, domainMax: Math.max(...bytes.map((row) => row.value)) * 1.2}),
    }));
  }
  if (wavefronts.length > 0) {
    parts.push(chart({
      id: `${prefix}memory-wavefronts`, title: 'Passes through shared memory by kind of access',
      keys: [{name: 'conflict-free minimum', fill: fill('green')}, {name: 'bank conflicts and scattered addresses', fill: fill('vermillion', 'rising')}],
      spec: wavefrontSpec(wavefronts),
    }));
  }
  return [section(`${prefix}memory`, 'Memory', 2, ...parts, ...memoryTables(run))];
}
