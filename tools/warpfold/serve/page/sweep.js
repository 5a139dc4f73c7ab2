// Sweeps of one or two fields over values, as a study.
let sweepText = '';  // CSV of the last sweep
let sweeping = null;

function rowsOf(csv) {
  const [head, ...rows] = csv.trim().split('\n').map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell.replace(/^"|"$/g, '').replaceAll('""', '"')));
  return rows.map((row) => Object.fromEntries(head.map((name, c) => [name, row[c]])));
}

function sweepSection() {
  const axis = (n) => [el('label', {}, n === 0 ? 'Vary' : 'and', el('input', {id: `axis-${n}`, list: 'numbers', placeholder: n === 0 ? 'gpu.sm.tensor.scale' : 'nothing else', size: 24})),
    el('label', {}, 'over', el('input', {id: `values-${n}`, placeholder: '0.5,1,2,4', size: 14}))];
  const section = el('section', {id: 'sweep', 'aria-labelledby': 'sweep-title'}, el('h2', {id: 'sweep-title'}, 'Sweep'),
    el('form', {class: 'ask'}, ...axis(0), ...axis(1), el('label', {}, 'under policies', el('input', {id: 'sweep-policies', placeholder: 'as above', size: 22})),
      el('span', {class: 'buttons'}, el('button', {type: 'submit'}, 'Sweep'), el('button', {type: 'button', id: 'save-csv', disabled: ''}, 'Save CSV'), el('button', {type: 'button', id: 'save-svg', disabled: ''}, 'Save SVG'), el('button', {type: 'button', id: 'save-study', disabled: ''}, 'Save study'))),
    el('datalist', {id: 'numbers'}), el('p', {role: 'status', id: 'sweep-state', class: 'help'}, 'Values and ranges: 0.5,1,2 or 100..160 step 10 or 1..64 times 2. Times from here are within 1 %.'),
    el('div', {id: 'plot'}), el('code', {class: 'command', id: 'sweep-command', tabindex: 0}));
  const form = section.querySelector('form');
  form.addEventListener('submit', (event) => { event.preventDefault(); sweep(); });
  form.addEventListener('focusin', () => section.querySelector('datalist').replaceChildren(...[...new Set(numericFields)].map((path) => el('option', {value: path}))));
  section.querySelector('#save-csv').addEventListener('click', () => save('sweep.csv', sweepText));
  section.querySelector('#save-svg').addEventListener('click', () => save('sweep.svg', svgText(document.querySelector('#plot > svg'))));
  section.querySelector('#save-study').addEventListener('click', () => save('sweep.textproto', studyText()));
  return section;
}

const axesAsked = () => [0, 1].map((n) => ({path: document.getElementById(`axis-${n}`).value.trim(), values: document.getElementById(`values-${n}`).value.trim()}))
  .filter(({path}) => path !== '');
const policiesAsked = () => document.getElementById('sweep-policies').value.toUpperCase().split(/[\s,]+/).filter(Boolean);

async function sweep() {
  const state = document.getElementById('sweep-state');
  const axes = axesAsked();
  if (axes.length === 0 || axes.some(({values}) => values === '')) { state.textContent = 'Name a field or a parameter, and its values.'; return; }
  sweeping?.abort();
  sweeping = new AbortController();
  state.textContent = 'Sweeping ...';
  const policies = policiesAsked();
  try {
    const answer = await askServer(lines('study', ...axes.map(({path, values}) => `axis ${path}=${values}`), ...(policies.length > 0 ? [`policies ${policies.join(',')}`] : [])), sweeping.signal);
    document.getElementById('sweep-command').textContent = answer.command ?? '';
    if (answer.failed) { state.textContent = answer.message; return; }
    sweepText = answer.result;
    const rows = rowsOf(sweepText).filter(({estimator}) => estimator === 'simulation');
    state.textContent = `${rows.length} simulations in ${decimals(1)(answer.seconds)} s`;
    document.getElementById('plot').replaceChildren(axes.length === 1 ? curves(rows, axes[0].path) : map(rows, axes), table(rows, axes));
    for (const id of ['save-csv', 'save-study']) document.getElementById(id).disabled = false;
    document.getElementById('save-svg').disabled = axes.length !== 1;  // a map of two axes is a table
  } catch (error) {
    if (error.name !== 'AbortError') state.textContent = `No answer: ${error.message}`;
  }
}

const kernelsOf = ([row]) => Object.keys(row ?? {}).flatMap((column) => column.match(/^(.*)_bound_by$/)?.slice(1) ?? []);

function table(rows, axes) {
  return details('Figures of the sweep', dataTable('The sweep', [...axes.map(({path}) => ({name: path, text: true})), {name: 'policy', text: true}, {name: 'total', unit: 'us'},
    ...kernelsOf(rows).map((kernel) => ({name: `${kernel} bound by`, text: true}))],
    rows.map((row) => [...axes.map(({path}) => row[path]), row.policy, decimals(2)(Number(row.total_time_us)), ...kernelsOf(rows).map((kernel) => row[`${kernel}_bound_by`])])));
}

// Draws the total time over one axis, with a line for each policy.
function curves(rows, path) {
  const [width, height, left, bottom] = [640, 260, 62, 34];
  const xs = [...new Set(rows.map((row) => row[path]))];
  const most = Math.max(...rows.map((row) => Number(row.total_time_us)));
  const numbers = xs.map(Number);
  const even = numbers.some((x) => Number.isNaN(x)) || numbers.length < 2;
  const log = !even && Math.min(...numbers) > 0 && Math.max(...numbers) / Math.min(...numbers) >= 8;
  const scaled = numbers.map((x) => (log ? Math.log(x) : x));
  const across = (x) => left + 12 + (width - left - 90) * (even ? xs.indexOf(x) / Math.max(1, xs.length - 1) : (scaled[xs.indexOf(x)] - Math.min(...scaled)) / (Math.max(...scaled) - Math.min(...scaled)));
  const upward = (us) => height - bottom - (height - bottom - 12) * us / most;
  const policies = [...new Set(rows.map((row) => row.policy))];
  const svg = svgElement('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Total time over ${path}: ${rows.map((row) => `${row[path]} ${row.policy} ${timeText(Number(row.total_time_us))}`).join(', ')}`});
  for (let t = 0; t <= 4; ++t) {
    svg.append(svgElement('line', {class: t === 0 ? 'axis' : 'grid', x1: left, x2: width - 70, y1: upward(most * t / 4), y2: upward(most * t / 4)}),
      svgElement('text', {x: left - 6, y: upward(most * t / 4) + 4, 'text-anchor': 'end'}, timeText(most * t / 4)));
  }
  for (const x of xs) svg.append(svgElement('text', {x: across(x), y: height - bottom + 15, 'text-anchor': 'middle'}, x));
  svg.append(svgElement('text', {x: (left + width - 70) / 2, y: height - 4, 'text-anchor': 'middle'}, path));
  policies.forEach((policy, p) => {
    const points = rows.filter((row) => row.policy === policy).map((row) => [across(row[path]), upward(Number(row.total_time_us)), row]);
    const colour = `var(--${kernelColours[p % kernelColours.length]})`;
    svg.append(svgElement('polyline', {points: points.map(([x, y]) => `${x},${y}`).join(' '), fill: 'none', stroke: colour, 'stroke-width': 2, 'stroke-dasharray': p === 0 ? '' : `${2 + 3 * p} 3`}));
    for (const [x, y, row] of points) svg.append(svgElement('circle', {cx: x, cy: y, r: 3.5, fill: colour}, svgElement('title', {}, `${path} ${row[path]}, ${policy}: ${timeText(Number(row.total_time_us))}`)));
    if (points.length > 0) svg.append(svgElement('text', {x: Math.min(points.at(-1)[0] + 7, width - 66), y: points.at(-1)[1] + 4 + 12 * p}, policy.toLowerCase()));
  });
  return svg;
}

// Draws the shortest time of all policies over two axes.
function map(rows, [across, down]) {
  const of = (x, y) => rows.filter((row) => row[across.path] === x && row[down.path] === y).sort((a, b) => a.total_time_us - b.total_time_us)[0];
  const [xs, ys] = [across, down].map(({path}) => [...new Set(rows.map((row) => row[path]))]);
  const most = Math.max(...rows.map((row) => Number(row.total_time_us)));
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Map'}, el('table', {class: 'matrix'}, el('caption', {}, `us by the fastest policy; across: ${across.path}, down: ${down.path}`),
    el('thead', {}, el('tr', {}, el('th', {}, ''), ...xs.map((x) => el('th', {scope: 'col'}, x)))),
    el('tbody', {}, ...ys.map((y) => el('tr', {}, el('th', {scope: 'row'}, y), ...xs.map((x) => {
      const row = of(x, y);
      const cell = el('button', {type: 'button', title: row?.policy ?? ''}, row ? rounded(Number(row.total_time_us)) : '-');
      cell.style.setProperty('--depth', row ? 70 * row.total_time_us / most : 0);
      return el('td', {}, cell);
    }))))));
}

function studyText() {
  const quoted = (words) => JSON.stringify(words);
  const base = [`scenario_file: ${quoted(question.scenario)}`];
  const fixed = question.changes.filter(({value}) => value !== undefined).map(({path, value}) => `axis { name: ${quoted(path)} value: ${quoted(value)} }`);
  const gpu = question.gpu ? [`axis { name: "gpu" value: ${quoted(question.gpu)} }`] : [];
  const policies = policiesAsked().length > 0 ? policiesAsked() : question.policy ? [question.policy] : [shown.run.result.policy];
  return [`# ${document.getElementById('sweep-command').textContent}`, 'name: "sweep"', ...base, ...gpu, ...fixed,
    ...axesAsked().map(({path, values}) => `axis { name: ${quoted(path)} ${values.split(',').map((value) => `value: ${quoted(value.trim())}`).join(' ')} }`),
    ...policies.map((policy) => `policy: ${policy}`), ''].join('\n');
}

// Returns a drawing as a file of its own: colours and fonts come from the page's style sheet, so they become attributes.
function svgText(drawn) {
  const copy = drawn.cloneNode(true);
  const made = [copy, ...copy.querySelectorAll('*')];
  [drawn, ...drawn.querySelectorAll('*')].forEach((element, e) => {
    const style = getComputedStyle(element);
    for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size']) made[e].setAttribute(name, style.getPropertyValue(name));
  });
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

function save(name, words) {
  const link = el('a', {download: name, href: URL.createObjectURL(new Blob([words], {type: 'text/plain'}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
