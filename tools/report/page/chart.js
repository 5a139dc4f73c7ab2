// Charts: Vega specifications drawn as SVG. Each chart has a title, labelled axes, a description of every mark for screen readers,
// and a table of its data.
const {View} = vegaRequire('vega-view');
const {parse} = vegaRequire('vega-parser');
Object.assign(vegaRequire('vega-dataflow').transforms, vegaRequire('vega-transforms'), vegaRequire('vega-view-transforms'),
  vegaRequire('vega-encode'));

const chartFont = getComputedStyle(document.body).fontFamily;

const chartStyle = {
  background: null,
  axis: {
    labelColor: 'var(--ink-soft)', titleColor: 'var(--ink)', gridColor: 'var(--line)', domainColor: 'var(--line-strong)',
    tickColor: 'var(--line-strong)', labelFont: chartFont, titleFont: chartFont, labelFontSize: 12, titleFontSize: 12,
    titleFontWeight: 600, labelLimit: 220, maxExtent: 260, titlePadding: 10,
  },
  text: {font: chartFont, fontSize: 12, fill: 'var(--ink)'},
};

// Returns the marks of the data. `encode` gives their look; every mark gets its description and a tooltip.
function marksOf(type, data, encode, more = {}) {
  return {
    type, from: {data}, aria: true,
    encode: {
      enter: {
        description: {field: 'tip'}, tooltip: {signal: 'datum'}, ariaRoleDescription: {value: 'figure'},
        ...encode,
      },
    },
    ...more,
  };
}

// Returns labels beside marks, hidden from screen readers because the marks' descriptions contain the same words.
function labelsOf(data, encode) {
  return {type: 'text', from: {data}, aria: false, interactive: false, encode: {enter: encode}};
}

// Returns the specification of a chart of horizontal lanes, one for each name in `lanes`. `x` and `y` have the title and other
// properties of the axes, `across` those of the horizontal scale. `scales` and `data` come in addition.
function lanesSpec({description, height, rows, lanes, padding, domain, across, x, y, marks, scales = [], data = []}) {
  return {
    description, height, marks, data: [{name: 'rows', values: rows}, ...data],
    scales: [{name: 'x', type: 'linear', domain, range: 'width', ...across}, {name: 'y', type: 'band', domain: lanes, range: 'height', padding}, ...scales],
    axes: [{orient: 'bottom', scale: 'x', grid: true, tickCount: 6, ...x}, {orient: 'left', scale: 'y', ticks: false, domain: false, ...y}],
  };
}

// Returns bars in the lanes that the field `lane` of the rows names, from the field `from` to the field `to`.
function laneBars(lane, encode, data = 'rows') {
  return marksOf('rect', data, {
    x: {scale: 'x', field: 'from'}, x2: {scale: 'x', field: 'to'}, y: {scale: 'y', field: lane}, height: {scale: 'y', band: 1}, fill: {field: 'fill'}, ...encode,
  });
}

// Returns the specification of a chart with two bars in each lane, one for each of `kinds`.
function pairsSpec({kinds, gap, encode, label, ...more}) {
  const y = "scale('y', datum.name) + scale('inner', datum.kind)";
  return lanesSpec({
    ...more, padding: 0.2, scales: [{name: 'inner', type: 'band', domain: kinds, range: [0, {signal: "bandwidth('y')"}], padding: gap}],
    marks: [
      laneBars('name', {x: {scale: 'x', value: 0}, x2: {scale: 'x', field: 'value'}, y: {signal: y}, height: {scale: 'inner', band: 1}, ...encode}),
      labelsOf('rows', {baseline: {value: 'middle'}, y: {signal: `${y} + bandwidth('inner') / 2`}, ...label}),
    ],
  });
}

function showTip(_, event, __, datum) {
  const tip = document.getElementById('tip');
  tip.hidden = !datum;
  if (!datum) return;
  tip.replaceChildren(el('strong', {}, datum.tip), ...(datum.field ? [el('code', {}, datum.field)] : []));
  const {clientWidth, clientHeight} = document.documentElement;
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, clientWidth - tip.offsetWidth - 8))}px`;
  const below = event.clientY + 16;
  tip.style.top = `${below + tip.offsetHeight > clientHeight ? event.clientY - tip.offsetHeight - 10 : below}px`;
}

const drawings = [];

// Charts narrower than this drop the labels of their marks; tables and tooltips have the same words.
const roomyWidth = 520;

// Draws a chart. `roomy` is a signal of every chart. Labels of marks get at most a third of a chart's width; overlapping numbers
// along the bottom are dropped.
function drawSpec(host, spec) {
  const width = Math.max(host.clientWidth, 320);
  const style = {...chartStyle, axis: {...chartStyle.axis, labelLimit: Math.min(220, Math.round(width / 3))}};
  const axes = spec.axes.map((axis) => (axis.orient === 'bottom' ? {labelOverlap: true, labelSeparation: 4, ...axis} : axis));
  const view = new View(parse({autosize: {type: 'fit-x', contains: 'padding'}, padding: 4, ...spec, axes, width,
    signals: [{name: 'roomy', value: width >= roomyWidth}]}, style), {renderer: 'svg', container: host, hover: false});
  view.tooltip(showTip);
  return view.runAsync().then(() => {
    host.dataset.drawn = host.querySelectorAll('[aria-roledescription="figure"]').length;
    return view;
  });
}

// Returns the fields behind a chart's marks, for the attribute of its host.
function fieldsOf(spec) {
  const fields = spec.data.flatMap(({values}) => values.map((datum) => datum.field ?? ''));
  return [...new Set(fields)].filter((field) => field !== '').join('; ');
}

// Returns a chart: {id, title, note, spec, legend, table}. `spec.description` describes the chart in words.
function chart({id, title, note, spec, keys, table}) {
  const host = el('div', {class: 'chart', id: `${id}-chart`, 'data-fields': fieldsOf(spec)});
  const parts = [el('figcaption', {}, el('span', {class: 'title'}, title), ...(note ? [el('span', {class: 'note'}, note)] : []))];
  if (keys) parts.push(legend(keys));
  parts.push(host);
  if (table) parts.push(el('details', {class: 'data'}, el('summary', {}, 'The figures as a table'), table));
  drawings.push({host, spec});
  return el('figure', {id}, ...parts);
}

// Draws charts that have not been drawn yet, except in collapsed runs.
async function drawCharts() {
  for (const drawing of drawings) {
    if (drawing.view || drawing.host.closest('details.run:not([open])') !== null) continue;
    drawing.view = drawSpec(drawing.host, drawing.spec);
  }
  await Promise.all(drawings.map((drawing) => drawing.view));
}

function fitCharts() {
  return Promise.all(drawings.filter(({view, host}) => view && host.clientWidth > 0)
    .map((drawing) => {
      drawing.view = drawing.view.then((drawn) => {
        drawn.finalize();
        drawing.host.replaceChildren();
        return drawSpec(drawing.host, drawing.spec);
      });
      return drawing.view;
    })).then(() => undefined);
}
