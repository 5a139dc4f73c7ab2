// The instruction mix of kernels: warp instructions by pipe, and the opcodes that are issued most.

function mixSection(run, prefix) {
  const roles = run.result.kernels.flatMap((kernel, k) => (kernel.mix ?? []).map((role, r) => ({kernel, role, base: `kernels[${k}].mix[${r}]`})));
  if (roles.length === 0) return [];
  const pipes = [...new Set(roles.flatMap(({role}) => role.pipes.map((pipe) => pipe.name)))];
  const name = ({kernel, role}) => `${kernel.name}, ${role.role}`;
  const shares = dataTable('Warp instructions by pipe, % of the role’s', [
    {name: 'kernel, role', text: true}, {name: 'warps', unit: 'a CTA'}, {name: 'issued', unit: 'warp instructions'},
    ...pipes.map((pipe) => ({name: pipe, unit: '%'})),
  ], roles.map((each) => [name(each), figure(run, `${each.base}.warps_per_cta`, count), figure(run, `${each.base}.issued`, count),
    ...pipes.map((pipe) => {
      const p = each.role.pipes.findIndex((entry) => entry.name === pipe);
      if (p < 0) return '-';
      return derived(run, `{${each.base}.pipes[${p}].issued} / {${each.base}.issued}`, decimals(1)(100 * ratio(each.role.pipes[p].issued, each.role.issued)));
    })]));
  const opcodes = roles.map((each) => el('details', {class: 'data'}, el('summary', {}, `Opcodes of ${name(each)}`),
    dataTable(`The opcodes that ${name(each)} issues most`, [{name: 'opcode', text: true}, {name: 'issued', unit: 'warp instructions'}, {name: 'share', unit: '%'}],
      each.role.opcodes.map((opcode, o) => [figure(run, `${each.base}.opcodes[${o}].name`, text), figure(run, `${each.base}.opcodes[${o}].issued`, count),
        derived(run, `{${each.base}.opcodes[${o}].issued} / {${each.base}.issued}`, decimals(1)(100 * ratio(opcode.issued, each.role.issued)))]))));
  return [section(`${prefix}mix`, 'Instruction mix', 2, shares, ...opcodes)];
}
