// Elements of the page.

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Returns a table. `columns`: {name, unit, text: true for words, sentence: true for sentences, long: true for names that may break
// anywhere}. A row has a cell {text, field} or a plain string for each column. A column in which no row has a value ('' or '-') is left
// out, as in the tables of a terminal. On a narrow page, each row of a wide table becomes a
// list of its cells, each after the name of its column; the ARIA roles stay those of a table.
const wideTable = 4;

function dataTable(caption, allColumns, allRows) {
  const hasValue = (cell) => !['', '-'].includes(typeof cell === 'string' ? cell : cell.text);
  const shown = allColumns.map((_, c) => allRows.length === 0 || allRows.some((row) => hasValue(row[c])));
  const columns = allColumns.filter((_, c) => shown[c]);
  const rows = allRows.map((row) => row.filter((_, c) => shown[c]));
  const head = el('tr', {role: 'row'}, ...columns.map((column) =>
    el('th', {scope: 'col', role: 'columnheader', class: column.text ? 'words' : 'number'}, column.name,
      ...(column.unit ? [el('span', {class: 'unit'}, column.unit)] : []))));
  const body = rows.map((row) => el('tr', {role: 'row'}, ...row.map((cell, c) => {
    const {text: words, field, sentence} = typeof cell === 'string' ? {text: cell} : cell;
    const kind = (columns[c].text || sentence ? 'words' : 'number') + (columns[c].sentence || sentence ? ' sentence' : '') + (columns[c].long ? ' long' : '');
    const label = columns[c].unit ? `${columns[c].name} (${columns[c].unit})` : columns[c].name;
    const attributes = {class: kind, 'data-label': label, 'data-field': field, title: field};
    if (c === 0) return el('th', {scope: 'row', role: 'rowheader', ...attributes}, words);
    return el('td', {role: 'cell', ...attributes}, words);
  })));
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', {role: 'table', class: columns.length >= wideTable ? 'wide' : undefined}, el('caption', {}, caption),
      el('thead', {role: 'rowgroup'}, head), el('tbody', {role: 'rowgroup'}, ...body)));
}

// A titled section of the report with an entry in the table of contents.
const contents = [];

function section(id, title, level, ...children) {
  contents.push({id, title, level});
  return el('section', {id, 'aria-labelledby': `${id}-title`},
    el(level === 1 ? 'h2' : 'h3', {id: `${id}-title`}, title), ...children);
}

function paragraph(...children) {
  return el('p', {}, ...children);
}

// Returns one of the figures at the head of the page.
function fact(name, {text: words, field}, unit) {
  return el('div', {}, el('dt', {}, name),
    el('dd', {'data-field': field, title: field}, words, ...(unit ? [el('span', {class: 'unit'}, unit)] : [])));
}

// Returns a legend of colours, patterns and shapes (paths within -1 and 1) with their names.
function legend(entries) {
  return el('ul', {class: 'legend', 'aria-label': 'Legend'}, ...entries.map(({name, fill: paint, shape}) => {
    const key = svgElement('svg', {width: 18, height: 12, 'aria-hidden': 'true'}, shape === undefined
      ? svgElement('rect', {width: 18, height: 12, rx: 2, fill: paint, class: 'key'})
      : svgElement('path', {d: shape, transform: 'translate(9,6) scale(5.5)', fill: paint}));
    return el('li', {}, key, name);
  }));
}
