// The question: a scenario and its settings, its history, and its text. values.js of the report reads the page's data and calls it
// `report`.
const site = report;
const session = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');

// `changes` are {path, value}; a change without a value unsets the path. Each path occurs once.
let question = {scenario: site.scenario, gpu: '', policy: '', changes: []};
let past = [];
let future = [];
let moving = null;  // the knob that is being moved: all its steps are one entry of the history
let whenChanged = () => {};

const copyOf = (value) => JSON.parse(JSON.stringify(value));

function become(next, knob = null) {
  if (JSON.stringify(next) === JSON.stringify(question)) return;
  if (knob === null || knob !== moving) past.push(copyOf(question));
  moving = knob;
  future = [];
  question = next;
  whenChanged();
}

const settled = () => { moving = null; };

function step(from, to) {
  if (from.length === 0) return;
  to.push(copyOf(question));
  question = from.pop();
  moving = null;
  whenChanged();
}
const undo = () => step(past, future);
const redo = () => step(future, past);

const changeAt = (path) => question.changes.find((change) => change.path === path);

// Sets a field to `value`. undefined unsets the field; null restores the scenario's value.
function change(path, value, knob = null) {
  const next = copyOf(question);
  next.changes = next.changes.filter((each) => each.path !== path);
  if (value !== null) next.changes.push(value === undefined ? {path} : {path, value: String(value)});
  become(next, knob);
}

function choose(field, value) {
  const next = {...copyOf(question), [field]: value};
  if (field === 'scenario') next.changes = next.changes.filter(({path}) => path.startsWith('gpu.'));
  if (field === 'policy' || field === 'scenario') next.changes = next.changes.filter(({path}) => !path.startsWith('policy.'));
  if (field === 'scenario') next.policy = '';
  become(next);
}

// Returns the text of a question to the server (question.h). A field that is an axis of the study is not set as well.
function lines(ask, ...more) {
  const free = question.changes.filter((each) => !more.some((line) => line.startsWith(`axis ${each.path}=`)));
  const changes = free.map(({path, value}) => (value === undefined ? `unset ${path}` : `set ${path}=${value}`));
  return [`session ${session}-${ask}`, `ask ${ask}`, `scenario ${question.scenario}`,
    ...(question.gpu ? [`gpu ${question.gpu}`] : []), ...(question.policy ? [`policy ${question.policy}`] : []), ...changes, ...more].join('\n');
}

async function askServer(body, signal) {
  const response = await fetch('ask', {method: 'POST', body, signal, headers: {'Content-Type': 'text/plain'}});
  const text = await response.text();
  let answer = {message: text};
  // The key __proto__ would set the object's prototype; it gets a blank, as in values.js.
  try { answer = JSON.parse(text, (_, value) => (value === '__proto__' ? '__proto__ ' : value)); } catch { /* a text */ }
  return {...answer, failed: !response.ok || Boolean(answer.message)};
}

const shellWord = (word) => (/^[\w\-+=.,:/@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function textOf({scenario, gpu, policy, changes}) {
  return ['warpfold', 'simulate', scenario, ...(gpu ? ['--gpu', gpu] : []), ...(policy ? ['--policy', policy] : []),
    ...changes.flatMap(({path, value}) => (value === undefined ? ['--unset', path] : ['--set', `${path}=${value}`]))].map(shellWord).join(' ');
}

// Splits a command line into words as a shell does: quotes of both kinds, backslashes.
function wordsOf(text) {
  const words = [];
  for (const [found] of text.trim().matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\[\s\S]|[^\s'"\\])+/g)) {
    words.push(found.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\([\s\S])/g, (_, single, double, one) =>
      (one === '\n' ? '' : single ?? one ?? double.replace(/\\(["\\$`])/g, '$1'))));
  }
  return words;
}

// Returns the question that a command line asks. Throws if the page does not support a word of it.
function questionOf(text) {
  const words = wordsOf(text);
  const taken = {scenario: '', gpu: '', policy: '', changes: []};
  if (words[0]?.endsWith('warpfold')) words.shift();
  if (!['simulate', 'model', 'whatif'].includes(words[0])) throw new Error('The text is a command line: warpfold simulate SCENARIO ...');
  const set = (setting) => {
    const equals = setting.indexOf('=');
    if (equals < 1) throw new Error(`${setting} is no PATH=VALUE`);
    taken.changes = taken.changes.filter((each) => each.path !== setting.slice(0, equals));
    taken.changes.push({path: setting.slice(0, equals), value: setting.slice(equals + 1)});
  };
  const options = {
    __proto__: null,
    '--set': set, '--unset': (path) => taken.changes.push({path}), '--gpu': (name) => { taken.gpu = name; },
    '--policy': (name) => { taken.policy = name.toUpperCase(); }, '--format': () => {}, '--interference': () => {},
  };
  for (let w = 1; w < words.length; ++w) {
    const [name, ...joined] = words[w].split('=');
    if (name === '--timeline') continue;
    if (options[name]) options[name](joined.length > 0 ? joined.join('=') : words[++w] ?? '');
    else if (name.startsWith('-')) throw new Error(`The page does not take ${name}.`);
    else if (taken.scenario === '') taken.scenario = words[w];
    else set(words[w]);
  }
  if (taken.scenario === '') throw new Error('The text names no scenario.');
  return taken;
}
