// The states of a kernel's warps by role and by phase of their program.

function roleBars(run) {
  return run.result.kernels.flatMap((kernel, k) => (kernel.roles ?? []).flatMap((role, r) => role.phases.map((phase, p) => {
    const base = `kernels[${k}].roles[${r}].phases[${p}]`;
    return {
      name: `${kernel.name}, ${role.role}, ${phase.phase.replaceAll('_', ' ')}`, whole: phase.resident_warp_cycles,
      wholeField: fieldOf(run, `${base}.resident_warp_cycles`), share: ratio(phase.resident_warp_cycles, kernel.resident_warp_cycles),
      states: phase.states.map((each, s) => ({...each, field: fieldOf(run, `${base}.states[${s}].warp_cycles`)})),
    };
  })));
}

// Phases with a smaller share of the kernel's resident warp-cycles are left out.
const leastShare = 0.002;

function rolesChart(run, prefix) {
  const all = roleBars(run);
  const bars = all.filter((bar) => bar.share >= leastShare);
  if (bars.length === 0) return [];
  const spec = stackSpec('A stacked bar for each role and phase: the share of its resident warp-cycles in each state', bars, 'kernel, role, phase');
  spec.height = 30 * bars.length;
  const table = dataTable('Roles and phases; the whole of a kernel is its resident warp-cycles', [
    {name: 'kernel, role, phase', text: true}, {name: 'of the kernel', unit: '%'}, {name: 'warp-cycles'},
  ], all.map((bar) => [bar.name, decimals(1)(100 * bar.share), {text: count(bar.whole), field: bar.wholeField}]));
  return [chart({
    id: `${prefix}states-roles`, title: 'States by role and phase',
    note: 'A role is the warps of a kernel that run the same program; phases with less than 0.2 % of the kernel’s warp time are left out.',
    spec, table,
  })];
}
