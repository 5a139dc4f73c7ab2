// Charts: Vega specifications drawn as SVG, each with a title, labelled axes, a description of every mark for screen readers, and
// its data as a table behind it.
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

// Marks of the data: `encode` says how each looks; every mark gets its description and what is shown when it is pointed at.
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

// Words beside marks: what they say is in the marks' descriptions already.
function labelsOf(data, encode) {
  return {type: 'text', from: {data}, aria: false, interactive: false, encode: {enter: encode}};
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

// Narrower charts than this drop the words beside their marks, which tables and tips have too.
const roomyWidth = 520;

// `roomy` is a signal of every chart. Names of marks get at most a third of a chart, numbers along the bottom as many as fit.
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

// The fields behind a chart's marks, as its host names them.
function fieldsOf(spec) {
  const fields = spec.data.flatMap(({values}) => values.map((datum) => datum.field ?? ''));
  return [...new Set(fields)].filter((field) => field !== '').join('; ');
}

// A chart: {id, title, note, spec, legend, table}. `spec.description` says in words what the chart shows.
function chart({id, title, note, spec, keys, table}) {
  const host = el('div', {class: 'chart', id: `${id}-chart`, 'data-fields': fieldsOf(spec)});
  const parts = [el('figcaption', {}, el('span', {class: 'title'}, title), ...(note ? [el('span', {class: 'note'}, note)] : []))];
  if (keys) parts.push(legend(keys));
  parts.push(host);
  if (table) parts.push(el('details', {class: 'data'}, el('summary', {}, 'The figures as a table'), table));
  drawings.push({host, spec});
  return el('figure', {id}, ...parts);
}

// Draws what is not drawn yet; runs that are folded away wait until they are opened.
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
