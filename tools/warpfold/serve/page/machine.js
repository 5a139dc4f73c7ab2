// A drawing of the SM. Each unit is filled by its use and coloured by the kernels that use it, over the whole run or over a window.
let windowShown = 0;  // 0: the whole run; n: window n - 1
let unitShown = 'issue_slot0';
let classShown = 0;  // index of a class of SMs that have the same CTAs

// Returns the share of each kernel in a resource's work, by the kernel's demand over the whole run.
function askedBy(result, resource) {
  const instructions = (kernel, pipe) => (kernel.mix ?? []).reduce((sum, role) => sum + (role.pipes.find(({name}) => name === pipe)?.issued ?? 0), 0);
  const accesses = (kernel, of) => (kernel.memory?.accesses ?? []).reduce((sum, each) => sum + of(each), 0);
  const asks = result.kernels.map((kernel) => {
    switch (resource) {
      case 'issue_slot': case 'register_read_ports': case 'register_write_port': return kernel.instructions_issued;
      case 'shared_memory': return accesses(kernel, (each) => each.wavefronts);
      case 'memory_issue': case 'memory_queue': return instructions(kernel, 'memory');
      case 'bulk_copy': case 'sm_ingress': return accesses(kernel, (each) => (/load|atom|red/.test(each.kind) ? each.bytes : 0));
      case 'sm_egress': case 'l2_write': return accesses(kernel, (each) => (each.kind.includes('store') ? each.bytes : 0));
      case 'l2_read': return kernel.l2_bytes;
      case 'dram': return kernel.dram_bytes;
      default: return instructions(kernel, resource);
    }
  });
  const all = asks.reduce((sum, each) => sum + each, 0);
  return asks.map((each) => ratio(each, all));
}

const subCoreUnits = ['issue_slot', 'alu', 'fma_heavy', 'fma_lite', 'fp16', 'fp64', 'xu', 'tensor', 'uniform', 'register_read_ports', 'register_write_port'];
const smUnits = ['wgmma', 'tcgen05', 'memory_queue', 'memory_issue', 'shared_memory', 'bulk_copy', 'sm_ingress', 'sm_egress'];
const chipUnits = ['l2_read', 'l2_write', 'dram'];

// Returns the longest waits at a unit as a sentence, with victim and culprit.
function waitsAt(result, resource) {
  const waits = result.ledger.filter((entry) => entry.resource === resource).map((entry) => ({...entry, ...ledgerSays(result, entry)})).sort((a, b) => b.warp_cycles - a.warp_cycles);
  return waits.length > 0 ? waits.slice(0, 3).map(({text: words}) => words).join('. ') : 'Nobody waits here.';
}

function drawMachine(result) {
  const classes = result.timeline?.sms ?? [];
  if (classes.length === 0) return [];
  classShown = Math.min(classShown, classes.length - 1);
  const sm = classes[classShown];
  const lanes = result.timeline.lanes;
  windowShown = Math.min(windowShown, sm.windows.length);
  const use = sm.windows[windowShown - 1];
  const cycles = use ? use.end_cycle - use.start_cycle : sm.end_cycle;
  const present = result.kernels.map((_, k) => !use || sm.kernels.some((span) => span.kernel === k && span.start_cycle < use.end_cycle && span.end_cycle > use.start_cycle));
  const says = el('p', {class: 'says', 'aria-live': 'polite'});
  const busyOf = (resource, subCore) => {
    const lane = lanes.findIndex((each) => each.resource === resource && each.sub_core === subCore);
    if (lane >= 0) {
      const busy = use ? use.busy[lane] : sm.windows.reduce((sum, each) => sum + each.busy[lane], 0);
      return {share: ratio(busy, cycles * lanes[lane].capacity_per_cycle), where: 'on this SM'};
    }
    const whole = result.resources.find(({name}) => name === resource);
    return whole ? {share: whole.utilization, where: 'over the whole run and the whole chip'} : null;
  };
  const unit = (resource, subCore, place) => {
    const busy = busyOf(resource, subCore);
    const waited = result.ledger.some((entry) => entry.resource === resource);
    if (busy === null && !waited) return [];
    const parts = askedBy(result, resource).map((part, k) => (present[k] ? part : 0));
    const all = parts.reduce((sum, part) => sum + part, 0);
    const shares = parts.map((part) => ratio(part, all));
    let from = 0;
    const pieces = busy === null ? [] : shares.flatMap((part, k) => {
      const to = from + 100 * busy.share * part;
      const made = part > 0 ? [piece(from, to, kernelFill(k), `${result.kernels[k].name}`)] : [];
      from = to;
      return made;
    });
    const used = busy === null ? 'no count of its use' : `${percent(busy.share)} used ${busy.where}`;
    const users = shares.map((part, k) => [part, names(result)[k]]).filter(([part]) => part > 0.0005).map(([part, name]) => `${name} ${percent(part, 0)}`).join(', ');
    const text = `${resource}${place}: ${used}${users && busy?.share > 0 ? `, by ${users} of what the kernels ask of it` : ''}. ${waitsAt(result, resource)}`;
    const button = el('button', {type: 'button', class: 'unit', 'aria-label': text, 'aria-pressed': 'false', 'data-key': `unit ${resource} ${subCore ?? ''}`, title: text},
      `${resource.replaceAll('_', ' ')} ${busy === null ? '' : percent(busy.share, 0)}`, el('span', {class: 'track'}, ...pieces));
    const tell = () => {
      says.textContent = text;
      unitShown = resource + (subCore ?? '');
      for (const each of document.querySelectorAll('.unit')) each.setAttribute('aria-pressed', String(each === button));
    };
    for (const event of ['click', 'focus', 'mouseenter']) button.addEventListener(event, tell);
    if (unitShown === resource + (subCore ?? '')) says.textContent = text;
    return [button];
  };
  const subCores = [0, 1, 2, 3].map((s) => el('div', {class: 'part'}, el('h3', {}, `Sub-core ${s}`), ...subCoreUnits.flatMap((name) => unit(name, s, ` of sub-core ${s}`))));
  const wide = (title, units) => el('div', {class: 'part wide'}, el('h3', {}, title), ...units.flatMap((name) => unit(name, undefined, '')));
  const slider = el('input', {type: 'range', id: 'windows', min: 0, max: sm.windows.length, step: 1, value: windowShown, 'data-key': 'windows',
    'aria-valuetext': use ? `cycles ${use.start_cycle} to ${use.end_cycle}` : 'the whole run'});
  slider.value = windowShown;
  const again = () => views.find(({section}) => section.id === 'machine').show(shown.run);
  slider.addEventListener('input', () => { windowShown = Number(slider.value); again(); });
  const which = el('select', {'data-key': 'class'}, ...classes.map((each, c) => el('option', {value: c}, `one of ${count(each.sms)} SMs alike`)));
  which.value = classShown;
  which.addEventListener('change', () => { classShown = Number(which.value); again(); });
  const when = use ? `cycles ${count(use.start_cycle)} to ${count(use.end_cycle)}${use.folded_cycles > 0 ? `, ${count(use.folded_cycles)} of them skipped` : ''}` : 'the whole run';
  return [legend(result.kernels.map((kernel, k) => ({name: kernel.name, fill: kernelFill(k)}))),
    ...(classes.length > 1 ? [el('label', {}, 'SM: ', which), ' '] : []), el('label', {for: 'windows'}, `Time: ${when}`), slider, el('div', {class: 'machine'}, ...subCores, wide('Shared by the SM', smUnits), wide('Shared by the chip', chipUnits)), says];
}
