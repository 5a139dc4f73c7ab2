// Questions that take longer and are asked by a button: every policy, and more of every resource.
const advice = [];

// Adds a button with its answer. `draw` turns the answer's result into elements.
function advised(id, title, ask, label, filter, draw) {
  const button = el('button', {type: 'button'}, label);
  const state = el('p', {role: 'status', class: 'help'});
  const body = el('div', {});
  const command = el('code', {class: 'command', tabindex: 0});
  let waiting = null;
  button.addEventListener('click', async () => {
    waiting?.abort();
    waiting = new AbortController();
    state.textContent = 'Asking ...';
    try {
      const answer = await askServer(lines(ask), waiting.signal);
      state.textContent = answer.failed ? answer.message : `${decimals(1)(answer.seconds)} s`;
      if (answer.failed) return;
      body.replaceChildren(...draw(answer.result));
      body.classList.remove('stale');
      command.textContent = `${answer.command} | jq '${filter}'`;
    } catch (error) {
      if (error.name !== 'AbortError') state.textContent = `No answer: ${error.message}`;
    }
  });
  advice.push(() => body.classList.add('stale'));
  return el('section', {id, 'aria-labelledby': `${id}-title`}, el('h2', {id: `${id}-title`}, title), el('span', {class: 'buttons'}, button), state, body, command);
}

function taking(label, act) {
  const button = el('button', {type: 'button'}, label);
  button.addEventListener('click', act);
  return button;
}

function plainTable(caption, head, rows) {
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption}, el('table', {}, el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...head.map((name) => el('th', {scope: 'col'}, name)))),
    el('tbody', {}, ...rows.map(([first, ...cells]) => el('tr', {}, el('th', {scope: 'row'}, first), ...cells.map((cell) => el('td', {}, cell)))))));
}

function drawPolicies({results, skipped, verdict, taken}) {
  const settingsOf = (policy) => taken?.find((each) => each.policy === policy)?.settings || '';
  return [paragraph(verdict), plainTable('Policies, the fastest first', ['policy', 'total time', 'limited by', 'settings', ''],
    [...results].sort((a, b) => a.total_time_us - b.total_time_us).map((result) => [result.policy.toLowerCase(), timeText(result.total_time_us), result.reason, settingsOf(result.policy),
      taking('Take', () => choose('policy', result.policy))])),
  details('Policies that do not apply', el('ul', {}, ...skipped.map((each) => el('li', {}, each.reason))))];
}

function drawWhatIf({what_if: {factor, resources, noise}}) {
  const gain = (variation) => (variation.not_run ? variation.not_run : `${decimals(3)(variation.speedup)}\u00a0x`);
  return [paragraph(`Programs stay as they are.${noise > 0 ? ` Speed-ups within ${percent(noise, 2)} of 1 are none.` : ''}`),
    plainTable(`Resources, by what ${factor} times as much of each gains (of latencies: a ${factor}th)`, ['resource', 'more', 'less', ''],
      resources.map((each) => [each.resource, gain(each.better), gain(each.worse), taking('Take more', () => {
        const next = copyOf(question);
        for (const setting of each.better.setting) {
          const equals = setting.indexOf('=');
          next.changes = next.changes.filter(({path}) => path !== setting.slice(0, equals));
          next.changes.push({path: setting.slice(0, equals), value: setting.slice(equals + 1)});
        }
        become(next);
      })]))];
}
