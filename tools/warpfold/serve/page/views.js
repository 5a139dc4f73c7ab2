// Views of the answer: the limiter model's bounds first, then the simulation.
const shown = {model: null, run: null, command: '', scenario: null};
let pinned = null;  // {question, answer}

const names = (result) => result.kernels.map((kernel) => kernel.name);

// Returns a part of a bar; `from` and `to` in percent.
function piece(from, to, paint, tip, attributes = {}) {
  const part = el('i', {title: tip, ...attributes});
  part.style.left = `${from}%`;
  part.style.width = `${Math.max(0, to - from)}%`;
  paintOn(part, paint);
  return part;
}

// Fills an HTML element with a fill of palette.js; patterns are drawn as SVG.
function paintOn(element, paint) {
  if (!paint.startsWith('url(')) {
    element.style.background = paint;
    return;
  }
  element.append(svgElement('svg', {width: '100%', height: '100%', 'aria-hidden': 'true'}, svgElement('rect', {width: '100%', height: '100%', fill: paint})));
}

function tick(place, tip) {
  const mark = el('b', {title: tip});
  mark.style.left = `calc(${place}% - 1px)`;
  return mark;
}

function track(children, says, kind = '') {
  return el('div', {class: `track ${kind}`, role: 'img', 'aria-label': says}, ...children);
}

// Adds a view: a title, a drawing that is redone for each answer, and the command line whose output the drawing shows.
const views = [];
function view(id, title, filter, draw, commandOf = (answer) => answer.command) {
  const body = el('div', {});
  const command = el('code', {class: 'command', tabindex: 0});
  const section = el('section', {id, 'aria-labelledby': `${id}-title`}, el('h2', {id: `${id}-title`}, title), body, command);
  views.push({section, show: (answer) => {
    const parts = draw(answer.result);
    section.hidden = parts.length === 0;
    const focused = document.activeElement?.dataset?.key;
    body.replaceChildren(...parts);
    if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    command.textContent = `${commandOf(answer)} | jq '${filter}'`;
  }});
  return section;
}

const before = (of) => (pinned ? of(pinned.answer.result) : undefined);

function drawKernels(result) {
  const scale = 100 / Math.max(result.total_time_us, before((run) => run.total_time_us) ?? 0);
  const us = result.total_time_us / result.total_cycles;
  const rows = result.kernels.flatMap((kernel, k) => {
    const start = kernel.start_cycle * us;
    const says = `${kernel.name}: from ${timeText(start)} to ${timeText(kernel.end_cycle * us)}, ${timeText(kernel.solo_cycles * us)} alone, ${decimals(2)(kernel.slowdown_vs_solo)} times as long`;
    const old = before((run) => run.kernels.find((each) => each.name === kernel.name));
    const oldUs = before((run) => run.total_time_us / run.total_cycles);
    return [el('span', {}, kernel.name), track([
      piece(scale * start, scale * kernel.end_cycle * us, kernelFill(k), says),
      piece(scale * start, scale * (start + kernel.solo_cycles * us), 'var(--grey)', `${kernel.name} alone`, {class: 'alone'}),
      ...(old ? [tick(scale * old.end_cycle * oldUs, `baseline: ends at ${timeText(old.end_cycle * oldUs)}`)] : []),
    ], says, 'tall'), el('span', {class: 'number'}, `${timeText(kernel.time_us)}, ${decimals(2)(kernel.slowdown_vs_solo)} x alone`)];
  });
  return [el('div', {class: 'rows'}, ...rows), paragraph('Grey: the time that the kernel needs alone. A line marks the end in the baseline.'),
    details('Table', dataTable('Kernels', [{name: 'kernel', text: true}, {name: 'time', unit: 'us'}, {name: 'slowdown', unit: 'times'}, {name: 'CTAs'}, {name: 'CTAs/SM that fit'},
      {name: 'occupancy limit', text: true}, {name: 'mean warps/SM'}, {name: 'bound by', text: true}],
    result.kernels.map((kernel) => [kernel.name, decimals(2)(kernel.time_us), decimals(3)(kernel.slowdown_vs_solo), count(kernel.ctas),
      String(kernel.occupancy.ctas_per_sm_limit), kernel.occupancy.limiter, decimals(2)(kernel.occupancy.average_warps), kernel.bound_by])))];
}

const openDetails = new Set();
function details(title, ...children) {
  const made = el('details', {}, el('summary', {'data-key': title}, title), ...children);
  made.open = openDetails.has(title);
  made.addEventListener('toggle', () => openDetails[made.open ? 'add' : 'delete'](title));
  return made;
}

function drawResources(result) {
  const old = before((run) => new Map(run.resources.map((each) => [each.name, each.utilization])));
  const used = result.resources.filter((each) => each.busy > 0).sort((a, b) => b.utilization - a.utilization);
  return [el('div', {class: 'rows'}, ...used.flatMap(({name, utilization, busy, capacity}) => {
    const says = `${name}: ${percent(utilization)} of its capacity, ${count(busy)} of ${count(capacity)}`;
    return [el('span', {}, name), track([piece(0, 100 * utilization, fill(groupColour(name)), says),
      ...(old?.has(name) ? [tick(100 * old.get(name), `baseline: ${percent(old.get(name))}`)] : [])], says),
    el('span', {class: 'number'}, percent(utilization))];
  }))];
}

const ofTheSm = new Set(['memory_issue', 'memory_queue', 'shared_memory', 'l1', 'bulk_copy', 'sm_ingress', 'sm_egress']);
const groupColour = (name) => (['l2_read', 'l2_write', 'dram'].includes(name) ? 'purple' : ofTheSm.has(name) ? 'orange' : 'blue');

function drawStates(result) {
  const olds = before((run) => run.kernels) ?? [];
  const present = Object.keys(stateFills).filter((state) => [...result.kernels, ...olds].some((kernel) =>
    kernel.states.some((each) => each.state === state && each.warp_cycles > 0.002 * kernel.resident_warp_cycles)));
  const share = (kernel, state) => ratio(kernel.states.find((each) => each.state === state)?.warp_cycles ?? 0, kernel.resident_warp_cycles);
  const bar = (kernel, label) => [el('span', {}, label), track(present.map((state) => piece(0, 100 * share(kernel, state), stateFill(state), `${state} ${percent(share(kernel, state))}`)),
    `${label}: ${present.map((state) => `${state} ${percent(share(kernel, state))}`).join(', ')}`, 'stack'), el('span', {})];
  return [el('div', {class: 'rows'}, ...result.kernels.flatMap((kernel) => {
    const old = olds.find((each) => each.name === kernel.name);
    return [...bar(kernel, kernel.name), ...(old ? bar(old, `${kernel.name}, baseline`) : [])];
  })), legend(present.map((state) => ({name: state, fill: stateFill(state)})))];
}

// Returns the sentence of one cell of the ledger.
function ledgerSays(result, {victim, culprit, resource, warp_cycles}) {
  const of = result.kernels.find((kernel) => kernel.name === victim);
  const beside = of?.beside.find((company) => company.kernel === culprit)?.warp_cycles;
  const whole = beside ?? of?.resident_warp_cycles ?? 0;
  const share = ratio(warp_cycles, whole);
  return {share, text: victim === culprit ? `${victim} waits for itself at ${resource}: ${percent(share, 2)} of its warp time, ${count(warp_cycles)} warp-cycles`
    : `${victim} waits for ${culprit}, which holds ${resource}: ${percent(share, 2)} of ${victim}'s warp time while both are on an SM, ${count(warp_cycles)} warp-cycles`};
}

function drawLedger(result) {
  if (result.ledger.length === 0) return [paragraph('No kernel waited for a shared resource.')];
  const told = result.ledger.map((entry) => ({...entry, ...ledgerSays(result, entry), pair: `${entry.victim} waits for ${entry.victim === entry.culprit ? 'itself' : entry.culprit}`}));
  told.sort((a, b) => (a.victim === a.culprit) - (b.victim === b.culprit) || b.warp_cycles - a.warp_cycles);
  const pairs = [...new Set(told.map((entry) => entry.pair))];
  const resources = [...new Set([...told].sort((a, b) => b.share - a.share).map((entry) => entry.resource))];
  const most = Math.max(...told.map((entry) => entry.share));
  const says = el('p', {class: 'says', 'aria-live': 'polite'}, told[0].text);
  const cell = (entry) => {
    if (entry === undefined) return el('td', {});
    const button = el('button', {type: 'button', title: entry.text, 'aria-label': entry.text, 'data-key': `${entry.pair} ${entry.resource}`}, entry.share >= 0.0005 ? decimals(1)(100 * entry.share) : '<0.05');
    button.style.setProperty('--depth', 6 + 70 * Math.sqrt(entry.share / most));
    for (const event of ['click', 'focus', 'mouseenter']) button.addEventListener(event, () => { says.textContent = entry.text; });
    return el('td', {}, button);
  };
  return [says, el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The ledger'}, el('table', {class: 'matrix'},
    el('caption', {}, '% of the victim\u2019s warp time'), el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, ''), ...resources.map((name) => el('th', {scope: 'col'}, name)))),
    el('tbody', {}, ...pairs.map((pair) => el('tr', {}, el('th', {scope: 'row'}, pair),
      ...resources.map((name) => cell(told.find((entry) => entry.pair === pair && entry.resource === name))))))))];
}

function drawSlowdown(result) {
  const rows = result.kernels.flatMap((kernel) => [...(kernel.slowdown?.losses ?? [])].sort((a, b) => Math.abs(b.cycles) - Math.abs(a.cycles)).slice(0, 5)
    .filter((loss) => Math.abs(loss.cycles) >= 1).map((loss) => [kernel.name, loss.kind.replaceAll('_', ' '), loss.culprit || '-', loss.resource || '-', count(loss.cycles),
      kernel.solo_cycles > 0 ? percent(loss.cycles / kernel.solo_cycles) : '-']));
  if (rows.length === 0) return [];
  return [dataTable('The five largest causes of each kernel; below 0: it waits less than alone', [{name: 'kernel', text: true}, {name: 'cause', text: true}, {name: 'culprit', text: true},
    {name: 'resource', text: true}, {name: 'cycles'}, {name: 'of the time alone', unit: '%'}], rows)];
}

// Draws the longest limiters of each kernel, by the limiter model.
function drawLimiters() {
  const result = shown.model?.result;
  if (!result) return [];
  const most = Math.max(...result.kernels.flatMap((kernel) => kernel.limiters.map((limiter) => limiter.time_us)));
  return [el('div', {class: 'rows'}, ...result.kernels.flatMap((kernel, k) => kernel.limiters.slice(0, 3).flatMap((limiter, l) => {
    const says = `${kernel.name}: ${limiter.resource} needs ${timeText(limiter.time_us)}`;
    return [el('span', {}, l === 0 ? kernel.name : ''), track([piece(0, 100 * limiter.time_us / most, kernelFill(k), says)], says),
      el('span', {class: 'number'}, `${limiter.resource}, ${timeText(limiter.time_us)}`)];
  }))), ...(result.model?.any_policy_us ? [paragraph(`No policy takes less than ${timeText(result.model.any_policy_us)}, by ${result.model.any_policy_bound_by}.`)] : [])];
}

function showFacts(result) {
  const old = before((run) => run.total_time_us);
  const facts = [fact('total time', {text: timeText(result.total_time_us)}), fact('cycles', {text: count(result.total_cycles)})];
  if (result.policy) facts.push(fact('policy', {text: result.policy}));
  if (result.fold) facts.push(fact('folding', {text: result.fold.mode === 'bounded' ? `within ${percent(result.fold.error_bound, 2)}` : result.fold.mode}));
  if (old) facts.push(fact('baseline', {text: `${decimals(3)(old / result.total_time_us)} x as fast`}));
  document.getElementById('facts').replaceChildren(...facts);
}

function showSentence(answer, kind) {
  document.getElementById('sentence').textContent = [answer.finding?.[0]?.text, kind === 'run' && answer.result.reason ? `Limited by ${answer.result.reason}.` : ''].filter(Boolean).join(' ');
  document.getElementById('findings').replaceChildren(...(answer.finding ?? []).map((finding) => el('li', {}, finding.text)));
  document.getElementById('command').textContent = answer.command;
}

// Shows the limiter model's bounds. Until the simulation's answer arrives, the views of the previous answer stay, greyed.
function showModel(answer) {
  shown.model = answer;
  shown.scenario = answer.result.provenance.scenario;
  showForm(shown.scenario);
  if (shown.run && shown.run.of === JSON.stringify(question)) return;
  const bound = answer.result.model?.any_policy_us;
  document.getElementById('sentence').textContent = bound
    ? `${answer.result.scenario} on ${answer.result.gpu}: no policy takes less than ${timeText(bound)}, by ${answer.result.model.any_policy_bound_by}.`
    : answer.finding?.[0]?.text ?? '';
  document.getElementById('command').textContent = answer.command;
}

function showRun(answer) {
  shown.run = {...answer, of: JSON.stringify(question)};
  shown.scenario = answer.result.provenance.scenario;
  showForm(shown.scenario);
  showSentence(answer, 'run');
  redraw();
}

function redraw() {
  if (!shown.run) return;
  showFacts(shown.run.result);
  for (const each of views) each.show(shown.run);
  showChanges();
}

function delta(name, was, is, {unit = (number) => decimals(2)(number), lower = true} = {}) {
  const change = is - was;
  const sign = lower === null || Math.abs(change) < 1e-9 ? '' : (change < 0) === lower ? 'better' : 'worse';
  const relative = was === 0 ? '' : ` (${change > 0 ? '+' : ''}${decimals(1)(100 * change / was)} %)`;
  return el('tr', {}, el('th', {scope: 'row'}, name), el('td', {class: 'number'}, unit(was)), el('td', {class: `number ${sign}`}, unit(is) + relative));
}

function showChanges() {
  const place = document.getElementById('changes');
  document.getElementById('return').disabled = pinned === null;
  if (pinned === null || !shown.run) {
    place.replaceChildren(paragraph('Pin an answer, then turn a knob: what has changed since stands here.'));
    return;
  }
  const [a, b] = [pinned.answer.result, shown.run.result];
  const rows = [delta('total time', a.total_time_us, b.total_time_us, {unit: timeText})];
  for (const kernel of b.kernels) {
    const old = a.kernels.find((each) => each.name === kernel.name);
    if (!old) { rows.push(el('tr', {}, el('th', {scope: 'row'}, kernel.name), el('td', {}, '-'), el('td', {}, timeText(kernel.time_us)))); continue; }
    rows.push(delta(kernel.name, old.time_us, kernel.time_us, {unit: timeText}), delta(`${kernel.name}, slowdown`, old.slowdown_vs_solo, kernel.slowdown_vs_solo));
  }
  const moved = b.resources.map((each) => ({...each, was: a.resources.find(({name}) => name === each.name)?.utilization ?? 0}))
    .filter((each) => Math.abs(each.utilization - each.was) >= 0.005).sort((x, y) => Math.abs(y.utilization - y.was) - Math.abs(x.utilization - x.was)).slice(0, 6);
  for (const each of moved) rows.push(delta(`${each.name}, used`, each.was, each.utilization, {unit: percent, lower: null}));
  const set = ({scenario, gpu, policy, changes}) => [`scenario ${scenario}`, `GPU ${gpu || 'as the scenario'}`, `policy ${policy || 'as the scenario'}`,
    ...changes.map(({path, value}) => (value === undefined ? `unset ${path}` : `${path} = ${value}`))];
  const [was, is] = [set(pinned.question), set(question)];
  const settings = [...was.filter((each) => !is.includes(each)).map((each) => `\u2212 ${each}`), ...is.filter((each) => !was.includes(each)).map((each) => `+ ${each}`)];
  place.replaceChildren(
    el('ul', {class: 'findings'}, ...(settings.length > 0 ? settings : ['the same settings']).map((each) => el('li', {}, each))),
    el('table', {}, el('caption', {}, `Baseline: ${a.scenario}, ${a.policy}`), el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, ''), el('th', {scope: 'col', class: 'number'}, 'baseline'), el('th', {scope: 'col', class: 'number'}, 'now'))), el('tbody', {}, ...rows)),
    paragraph(`Limited by ${b.reason || 'nothing in particular'}; in the baseline by ${a.reason || 'nothing in particular'}.`),
    el('code', {class: 'command', tabindex: 0}, pinned.answer.command));
}
