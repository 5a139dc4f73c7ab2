// The report's data and its figures. A figure knows the field of the result that it comes from. Vega keeps marks in plain objects
// by their names, where the name __proto__ would set the prototype; that name gets a blank.
const report = JSON.parse(document.getElementById('report-data').textContent,
  (_, value) => (value === '__proto__' ? '__proto__ ' : value));

// Returns the value at a path such as kernels[0].states[2].warp_cycles below a run's result.
function valueAt(run, path) {
  return path.split('.').reduce((value, step) => {
    const [name, ...indexes] = step.split(/[[\]]+/).filter((part) => part !== '');
    return indexes.reduce((list, index) => list[Number(index)], value[name]);
  }, run.result);
}

function fieldOf(run, path) {
  return `${run.path}.${path}`;
}

// Returns a table of a list, a row for each element. A column is one of dataTable with a `field` of the elements and the
// `format` of its value, which also gets the element. A missing field leaves a dash. `base`: the list's path.
function listTable(caption, base, list, columns) {
  return dataTable(caption, columns, list.map((each, e) => columns.map(({field, format = text}) => {
    const value = field.split('.').reduce((at, name) => at[name], each);
    const words = value === undefined ? '-' : format(value, each);
    return words === '-' ? '-' : {text: words, field: `${base}[${e}].${field}`};
  })));
}

const inPercent = (digits) => (share) => decimals(digits)(100 * share);
const inMillions = (digits) => (number) => decimals(digits)(number / 1e6);
const listed = (names) => names.join(', ');

// Returns a cell of a table: its text, and the field or the formula of fields behind it.
function figure(run, path, format) {
  return {text: format(valueAt(run, path)), field: fieldOf(run, path)};
}

// `formula` contains paths in braces: "{kernels[0].cycles} / {total_cycles}".
function derived(run, formula, text) {
  return {text, field: formula.replace(/\{([^}]+)\}/g, (_, path) => fieldOf(run, path))};
}

const isSimulation = (run) => run.result.estimator !== 'limiter_model';

function count(number) {
  return Math.round(number).toLocaleString('en-US');
}

function decimals(digits) {
  return (number) => number.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

function percent(share, digits = 1) {
  return `${decimals(digits)(100 * share)} %`;
}

// Returns three significant digits, or all digits before the point.
function rounded(number) {
  if (number === 0) return '0';
  const before = Math.floor(Math.log10(Math.abs(number))) + 1;
  return decimals(Math.min(6, Math.max(0, 3 - before)))(number);
}

// Returns a time in the unit that people would use.
function timeText(us) {
  if (us >= 1e6) return `${rounded(us / 1e6)} s`;
  return us >= 1e3 ? `${rounded(us / 1e3)} ms` : `${rounded(us)} us`;
}

// Returns the error bound of bounded folding, as a share of the run's time.
const openShare = (run) => run.result.fold?.error_bound ?? 0;

// Returns the error bound of the difference of two total times, in us. An estimated run that both contain has a single error
// (tools/report/ranking.h).
function errorOfDifference(a, b) {
  if (a === b) return 0;
  const bounds = new Map();
  const times = (result) => {
    const cycle = ratio(result.total_time_us, result.total_cycles);
    const us = new Map();
    for (const each of result.fold?.estimated ?? []) {
      bounds.set(each.run, each.error_bound);
      us.set(each.run, (us.get(each.run) ?? 0) + each.cycles * cycle);
    }
    return us;
  };
  const whole = (result) => (result.fold?.total_error_bound === undefined ? result.total_time_us * (result.fold?.error_bound ?? 0) : 0);
  const [inA, inB] = [times(a), times(b)];
  return [...bounds].reduce((error, [run, bound]) => error + bound * Math.abs((inA.get(run) ?? 0) - (inB.get(run) ?? 0)), whole(a) + whole(b));
}

// True if no run is certainly faster than another: the rule of the runs' ranks.
function tied(runs) {
  const results = runs.map(({result}) => result);
  return results.every((a) => results.every((b) => a.total_time_us - b.total_time_us <= errorOfDifference(a, b)));
}

const text = (value) => String(value);
const ratio = (part, whole) => (whole > 0 ? part / whole : 0);
