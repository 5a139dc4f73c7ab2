// The form: every field that the resolved scenario has or may have, with the schema's comment as its help.
const schema = site.schema;
const hidden = new Set(['Scenario', 'Parameter', 'ListingFile', 'TraceFile', 'DataSheet', 'Power', 'Unit', 'MathPipe', 'Capacity', 'Latency', 'MemoryIo']);
const mayName = new Set(['Kernel.after', 'Reservation.kernel', 'SmShare.kernel', 'Quota.kernel', 'ByPriority.order', 'HopperGemm.library',
  'BlackwellGemm.library', 'AmpereGemm.library']);
const factors = [0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8];
let controls = [];  // of the current form: {path, show(resolved)}
let formShape = '';
let numericFields = [];  // paths of numbers, for sweeps

const idOf = (path) => `knob-${path.replace(/\W/g, '-')}`;
const openGroups = new Set(['group-parameters', 'group-scales']);

// Returns the value at a path whose steps are fields, or names or indices of list elements.
function at(value, path) {
  return path.split('.').reduce((here, key) => {
    if (here === undefined || !Array.isArray(here)) return here?.[key];
    return here.find((each) => each.name === key || each.kernel === key) ?? here[Number(key)];
  }, value);
}

function knob(path, id, label, help, control, kind = '') {
  const undoButton = el('button', {type: 'button', class: 'undo', 'aria-label': `${label}: as the scenario has it`, title: 'as the scenario has it'}, '\u21ba');
  undoButton.addEventListener('click', () => change(path, null));
  const parts = Array.isArray(control) ? control : [control];
  parts[0].id = id;
  parts[0].setAttribute('aria-describedby', `${id}-help`);
  const row = el('div', {class: `knob ${kind}`}, el('label', {for: id}, label), ...parts, undoButton, el('p', {class: 'help', id: `${id}-help`}, help || path));
  return row;
}

function mark(row, path) {
  row.classList.toggle('changed', changeAt(path) !== undefined);
}

// Parameters by the field that they set; the form then sets the parameter instead of the field.
let setBy = new Map();
function findTargets(resolved) {
  setBy = new Map((resolved.parameter ?? []).flatMap(({name, sets}) => (sets ?? []).map(({path, times, divide}) => [path, {name, same: !times && !divide}])));
}

// Returns the control of one value: a choice, or a text whose type the server checks.
function field(path, name, {type, list, comment}, ownPath = path) {
  const target = setBy.get(path);
  const settingPath = target?.same ? target.name : ownPath;
  const values = schema.enums[type] ? Object.keys(schema.enums[type]) : type === 'bool' ? ['true', 'false'] : null;
  let control;
  if (values && !list) {
    control = el('select', {}, el('option', {value: ''}, 'default'), ...values.map((value) => el('option', {value}, value)));
    control.addEventListener('change', () => change(settingPath, control.value === '' ? undefined : control.value));
  } else {
    const number = !list && type !== 'string' && !values;
    control = el('input', number ? {type: 'number', step: 'any', placeholder: 'default'} : {type: 'text', placeholder: 'default'});
    if (number) numericFields.push(settingPath);
    control.addEventListener('input', () => { if (control.value !== '') change(settingPath, control.value, settingPath); });
    control.addEventListener('change', () => {
      if (control.value === '') change(settingPath, changeAt(settingPath) ? null : undefined);
      settled();
    });
  }
  control.disabled = target !== undefined && !target.same;
  const of = target ? `set by the parameter ${target.name}` : '';
  const help = values && schema.enums[type] ? Object.entries(schema.enums[type]).map(([value, of]) => (of ? `${value}: ${of}` : value)).join('; ') : '';
  const row = knob(settingPath, idOf(path), name.replaceAll('_', ' '), [comment, of, help].filter(Boolean).join('. '), control);
  controls.push({
    path: settingPath, show: (resolved) => {
      mark(row, settingPath);
      if (document.activeElement === control && control.type !== 'select-one' && control.value !== '') return;
      const value = at(resolved, path);
      control.value = value === undefined ? '' : Array.isArray(value) ? value.join(',') : String(value);
    },
  });
  return row;
}

// Returns a group of fields, open if it was open before. The content is built when the group is opened for the first time.
function group(id, title, build, help = '') {
  const details = el('details', {id}, el('summary', {}, title));
  let built = false;
  const fill = () => {
    if (!built) details.append(...(help ? [el('p', {class: 'help'}, help)] : []), ...build());
    built = true;
  };
  if (openGroups.has(id)) { fill(); details.open = true; }
  details.addEventListener('toggle', () => {
    if (details.open) { fill(); openGroups.add(id); } else openGroups.delete(id);
    if (shown.scenario) showForm(shown.scenario);
  });
  return details;
}

// Returns the fields of a message, and the groups that the message contains.
function fieldsOf(path, type, value) {
  if (hidden.has(type)) return [];
  return Object.entries(schema.messages[type]).flatMap(([name, of]) => {
    const below = `${path}.${name}`;
    if (!schema.messages[of.type]) {
      if (of.type === 'string' && !mayName.has(`${type}.${name}`)) return [];
      if (name.endsWith('scale')) return [];  // the sliders set scales
      return [field(below, name, of)];
    }
    if (value[name] === undefined) return [];
    if (!of.list) {
      const fields = () => fieldsOf(below, of.type, value[name]);
      return hidden.has(of.type) ? [] : [group(`group-${idOf(below)}`, name.replaceAll('_', ' '), fields, of.comment)];
    }
    return value[name].map((each, i) => group(`group-${idOf(`${below}.${i}`)}`, `${name} ${each.name ?? each.kernel ?? i + 1}`,
      () => fieldsOf(`${below}.${each.name ?? each.kernel ?? i}`, of.type, each), of.comment));
  });
}

function scaleKnob({name, path, what, kind}) {
  const full = `gpu.${path}`;
  const slider = el('input', {type: 'range', min: 0, max: factors.length - 1, step: 1});
  const number = el('input', {type: 'number', min: 0.125, max: 8, step: 'any', 'aria-label': `${name}: factor`});
  slider.addEventListener('input', () => change(full, factors[slider.value] === 1 ? null : factors[slider.value], full));
  slider.addEventListener('change', settled);
  number.addEventListener('change', () => change(full, number.value === '' || Number(number.value) === 1 ? null : number.value));
  numericFields.push(full);
  const row = knob(full, idOf(full), name.replaceAll('_', ' '), `${what}; ${{latency: 'a factor on the latency: less is faster', capacity: 'a factor on the size', rate: 'a factor on the rate'}[kind]}`,
    [slider, number], 'scale');
  controls.push({
    path: full, show: (resolved) => {
      mark(row, full);
      const factor = Number(changeAt(full)?.value ?? at(resolved, full) ?? 1);
      if (document.activeElement !== number) number.value = factor;
      const nearest = factors.reduce((best, each, f) => (Math.abs(each - factor) < Math.abs(factors[best] - factor) ? f : best), 0);
      slider.value = nearest;
      slider.setAttribute('aria-valuetext', `${factor} times`);
    },
  });
  return row;
}

function parameterKnobs(resolved) {
  return (resolved.parameter ?? []).map(({name, sets}, p) => {
    const targets = (sets ?? []).map(({path, times, divide}) => path + (times ? ` (times ${times})` : '') + (divide ? ` (divided by ${divide})` : ''));
    return field(`parameter.${p}.value`, name, {type: 'uint64', comment: `Sets ${targets.join(', ')}`}, name);
  });
}

// Returns the parts of a scenario that decide which fields the form has.
const shapeOf = (resolved) => JSON.stringify(resolved, (key, value) =>
  (key === 'name' || key === 'kernel' || (typeof value === 'object' && value !== null) ? value : undefined));

function buildForm(resolved) {
  const focused = document.activeElement?.id;
  controls = [];
  numericFields = [];
  findTargets(resolved);
  const groups = [];
  if ((resolved.parameter ?? []).length > 0) groups.push(group('group-parameters', 'Parameters of the scenario', () => parameterKnobs(resolved)));
  groups.push(group('group-scales', 'Scales: more or less of one resource', () =>
    site.resources.filter(({whole, path}) => !whole && path.endsWith('scale')).map(scaleKnob), 'Programs stay as they are, tiling and grid included.'));
  if (resolved.block) groups.push(group('group-block', 'Transformer block', () => fieldsOf('block', 'Block', resolved.block)));
  for (const kernel of resolved.kernel ?? []) {
    groups.push(group(`group-kernel-${idOf(kernel.name)}`, `Kernel ${kernel.name}`, () => fieldsOf(`kernel.${kernel.name}`, 'Kernel', kernel)));
  }
  if (resolved.policy) groups.push(group('group-policy', 'Policy', () => fieldsOf('policy', 'Policy', resolved.policy).slice(1), 'Where a list is empty, the policy has its defaults.'));
  groups.push(group('group-launch', 'Launches', () => [field('launch', 'launch', schema.messages.Scenario.launch)]));
  groups.push(group('group-gpu', `GPU: ${resolved.gpu.name ?? ''}`, () => fieldsOf('gpu', 'Gpu', resolved.gpu), 'Programs are made for the GPU that these fields describe.'));
  document.getElementById('fields').replaceChildren(...groups);
  if (focused) document.getElementById(focused)?.focus();
}

function showForm(resolved) {
  const shape = `${question.scenario} ${shapeOf(resolved)}`;
  if (shape !== formShape) buildForm(resolved);
  formShape = shape;
  for (const control of controls) control.show(resolved);
}

function fillChoices() {
  const options = (select, entries) => document.getElementById(select).replaceChildren(...entries.map(([value, name]) => el('option', {value}, name ?? value)));
  const names = site.scenarios.includes(question.scenario) ? site.scenarios : [question.scenario, ...site.scenarios];
  options('scenario', names.map((name) => [name]));
  options('gpu', [['', 'as the scenario'], ...site.gpus.map((name) => [name])]);
  options('policy', [['', 'as the scenario'], ...Object.keys(schema.enums.PolicyKind).map((name) => [name])]);
  for (const select of ['scenario', 'gpu', 'policy']) document.getElementById(select).value = question[select];
}
