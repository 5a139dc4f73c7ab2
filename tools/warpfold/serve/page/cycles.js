// A window of cycles of one sub-core: a row for each warp, a colour for each state. The marked cycle is told in words below, and
// buttons step it.
const cyclesAtATime = 100;
let cycleShown = null;    // the marked cycle
let spansShown = null;    // {from, until, rows} of the window
let watching = null;

function cyclesSection() {
  const number = (id, label, most) => el('label', {}, label, el('input', {id, type: 'number', min: 0, max: most, step: 1, size: 10}));
  const section = el('section', {id: 'cycles', 'aria-labelledby': 'cycles-title'}, el('h2', {id: 'cycles-title'}, 'Cycle by cycle'),
    el('form', {class: 'ask'}, number('cycle-from', 'From cycle', 4294967295), number('cycle-core', 'of sub-core', 63), number('cycle-class', 'of SM class', 999),
      el('span', {class: 'buttons'}, el('button', {type: 'submit'}, 'Show'), ...[['-100', -100], ['-1', -1], ['+1', 1], ['+100', 100]].map(([label, by]) => {
        const button = el('button', {type: 'button', 'aria-label': `${by > 0 ? 'forward' : 'back'} by ${Math.abs(by)} cycles`}, label);
        button.addEventListener('click', () => stepCycle(by));
        return button;
      }))),
    el('p', {role: 'status', id: 'cycles-state', class: 'help'}, 'What each warp of a sub-core does in each cycle. Without a cycle, the middle of the run.'),
    el('div', {id: 'cycles-picture'}), el('div', {id: 'cycles-told', 'aria-live': 'polite'}), el('code', {class: 'command', id: 'cycles-command', tabindex: 0}));
  section.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    cycleShown = null;
    showCycles(document.getElementById('cycle-from').value.trim());
  });
  advice.push(() => document.getElementById('cycles-picture').classList.add('stale'));
  return section;
}

function stepCycle(by) {
  if (spansShown === null) return showCycles('');
  cycleShown = Math.max(0, cycleShown + by);
  if (cycleShown >= spansShown.from && cycleShown < spansShown.until) return drawCycles();
  return showCycles(String(Math.max(0, cycleShown - (by < 0 ? cyclesAtATime - 1 : 0))));
}

async function showCycles(from) {
  const state = document.getElementById('cycles-state');
  const chosen = (id) => document.getElementById(id).value.trim() || '0';
  watching?.abort();
  watching = new AbortController();
  state.textContent = 'Asking ...';
  try {
    const answer = await askServer(lines('cycles', ...(from === '' ? [] : [`from ${from}`]), `count ${cyclesAtATime}`, `sub-core ${chosen('cycle-core')}`, `sm-class ${chosen('cycle-class')}`), watching.signal);
    state.textContent = answer.failed ? answer.message : `${decimals(1)(answer.seconds)} s`;
    if (answer.failed) return;
    document.getElementById('cycles-command').textContent = answer.command;
    const first = from === '' ? Math.floor(shown.run.result.total_cycles / 2) : Number(from);
    const rows = new Map();
    for (const span of answer.result) {
      const key = `${span.kernel} ${span.cta_slot} ${span.role} ${span.warp}`;
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key).push(span);
    }
    spansShown = {from: first, until: first + cyclesAtATime, rows: [...rows.values()]};
    if (cycleShown === null || cycleShown < first || cycleShown >= spansShown.until) cycleShown = first;
    document.getElementById('cycle-from').value = first;
    document.getElementById('cycles-picture').classList.remove('stale');
    drawCycles();
  } catch (error) {
    if (error.name !== 'AbortError') state.textContent = `No answer: ${error.message}`;
  }
}

function drawCycles() {
  const {from, until, rows} = spansShown;
  const place = (cycle) => 100 * (cycle - from) / (until - from);
  const named = ({kernel, cta_slot, role, warp}) => `${kernel} CTA ${cta_slot} ${role} warp ${warp}`;
  const states = [...new Set(rows.flat().map(({state}) => state))];
  const picture = document.getElementById('cycles-picture');
  picture.replaceChildren(...(rows.length === 0 ? [paragraph('No warp is on the sub-core in these cycles.')]
    : [el('div', {class: 'rows'}, ...rows.flatMap((spans) => {
      const issues = spans.filter(({state}) => state === 'selected').length;
      const bar = track([...spans.map((span) => piece(place(span.from), place(span.until), stateFill(span.state), `${count(span.from)}: ${span.state}, ${span.instruction}`)),
        tick(place(cycleShown + 0.5), `cycle ${count(cycleShown)}`)], `${named(spans[0])}: ${issues} issues in ${until - from} cycles`, 'stack');
      bar.addEventListener('click', (event) => {
        const {left, width} = bar.getBoundingClientRect();
        cycleShown = Math.min(until - 1, from + Math.floor((until - from) * (event.clientX - left) / width));
        drawCycles();
      });
      return [el('span', {}, named(spans[0])), bar, el('span', {class: 'number'}, `${issues} issues`)];
    })), legend(states.map((state) => ({name: state, fill: stateFill(state)})))]));
  const now = rows.flatMap((spans) => spans.filter((span) => span.from <= cycleShown && span.until > cycleShown));
  document.getElementById('cycles-told').replaceChildren(...(rows.length === 0 ? [] : [plainTable(`Cycle ${count(cycleShown)}`, ['warp', 'state', 'instruction'],
    now.map((span) => [named(span), span.state === 'selected' ? 'issues' : span.state, span.instruction]))]));
}
