// The controller of the page: sends the questions and passes answers to the views.
const byId = (id) => document.getElementById(id);
let asking = null;
let pause = 0;

function complain(message) {
  byId('problem').textContent = message;
  byId('problem').hidden = message === '';
}

// Asks the limiter model first, which answers in tens of milliseconds, then the simulation. Side by side they would compete for
// cores.
async function refresh() {
  asking?.abort();
  asking = new AbortController();
  const {signal} = asking;
  const begun = performance.now();
  const asked = JSON.stringify(question);
  byId('answer').classList.add('stale');
  byId('state').textContent = 'Asking ...';
  const get = async (ask, show) => {
    try {
      const answer = await askServer(lines(ask), signal);
      if (signal.aborted || asked !== JSON.stringify(question)) return;
      if (answer.failed) {
        if (!answer.stopped || ask === 'simulate') complain(answer.message);
        byId('state').textContent = ask === 'simulate' ? 'No answer: this machine or scenario is refused.' : byId('state').textContent;
        return;
      }
      complain('');
      show(answer);
      const took = `${decimals(0)(performance.now() - begun)} ms`;
      byId('state').textContent = ask === 'model' && byId('answer').classList.contains('stale') ? `Bounds of the limiter model after ${took}; simulating ...` : `Simulated, after ${took}`;
      byId('state').dataset[ask] = String(Math.round(performance.now() - begun));
      if (ask === 'simulate') byId('answer').classList.remove('stale');
    } catch (error) {
      if (error.name !== 'AbortError') {
        complain(`The server does not answer: ${error.message}`);
        byId('state').textContent = '';
      }
    }
  };
  await get('model', showModel);
  if (!signal.aborted) await get('simulate', showRun);
}

whenChanged = () => {
  byId('undo').disabled = past.length === 0;
  byId('redo').disabled = future.length === 0;
  byId('policy-help').textContent = schema.enums.PolicyKind[question.policy] ?? '';
  if (document.activeElement !== byId('text')) byId('text').value = textOf(question);
  fillChoices();
  for (const control of controls) if (shown.scenario) control.show(shown.scenario);
  history.replaceState(null, '', `#${encodeURIComponent(textOf(question))}`);
  for (const fade of advice) fade();
  clearTimeout(pause);
  pause = setTimeout(refresh, moving === null ? 0 : 30);  // steps of a slider come faster than answers
};

function takeText(words) {
  try {
    become(questionOf(words));
  } catch (error) {
    complain(error.message);
  }
}

byId('views').append(
  view('kernels', 'Kernels over time', '.kernels[] | {name, start_cycle, end_cycle, solo_cycles}', drawKernels),
  view('machine', 'The SM', '.timeline, .resources, .ledger', drawMachine),
  view('states', 'What warps do', '.kernels[] | {name, states}', drawStates),
  view('ledger', 'Who delays whom', '.ledger', drawLedger),
  view('slowdown', 'Why a kernel is slower than alone', '.kernels[] | {name, slowdown}', drawSlowdown),
  view('resources', 'Resources', '.resources', drawResources),
  view('limiters', 'Bounds: what each kernel needs most of', '.kernels[].limiters', drawLimiters, () => shown.model.command),
  advised('policies', 'Policies', 'compare', 'Compare all policies', '.results', drawPolicies),
  advised('what-if', 'What if there were more of it?', 'whatif', 'Double and halve every resource', '.what_if', drawWhatIf),
  sweepSection(), cyclesSection());
for (const {section} of views) section.hidden = true;
for (const select of ['scenario', 'gpu', 'policy']) byId(select).addEventListener('change', (event) => choose(select, event.target.value));
byId('undo').addEventListener('click', undo);
byId('redo').addEventListener('click', redo);
byId('reset').addEventListener('click', () => become({scenario: question.scenario, gpu: '', policy: '', changes: []}));
byId('take').addEventListener('click', () => takeText(byId('text').value));
byId('copy').addEventListener('click', () => navigator.clipboard.writeText(byId('text').value));
byId('pin').addEventListener('click', () => {
  if (shown.run) pinned = {question: JSON.parse(shown.run.of), answer: shown.run};
  redraw();
});
byId('return').addEventListener('click', () => become(copyOf(pinned.question)));
byId('knobs').addEventListener('submit', (event) => event.preventDefault());
document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || /^(TEXTAREA|INPUT)$/.test(event.target.tagName)) return;
  event.preventDefault();
  (event.shiftKey ? redo : undo)();
});

const kept = decodeURIComponent(location.hash.slice(1));
if (kept !== '') {
  try { question = questionOf(kept); } catch (error) { complain(error.message); }
}
whenChanged();
showChanges();
