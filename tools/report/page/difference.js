// The changes from run A to run B, largest first.
const shownMovers = 20;

function moverLabel(mover) {
  const sign = mover.change > 0 ? '+' : '';
  if (mover.relative === undefined) return `${sign}${rounded(mover.change)} ${mover.unit}, only in B`;
  return `${sign}${rounded(mover.change)} ${mover.unit}, ${sign}${decimals(1)(100 * mover.relative)} %`;
}

function differenceSection(difference) {
  const shown = difference.mover.slice(0, shownMovers);
  const rows = shown.map((mover) => {
    const value = 100 * mover.share_of_total * Math.sign(mover.change);
    return {
      name: mover.what, value, label: moverLabel(mover), align: value >= 0 ? 'right' : 'left', offset: value >= 0 ? -6 : 6,
      tip: `${mover.what}: ${rounded(mover.a)} to ${rounded(mover.b)} ${mover.unit}`,
      field: [mover.field_a, mover.field_b].filter((field) => field !== '').join(', '),
      fill: value >= 0 ? fill('vermillion', 'rising') : fill('blue'),
    };
  });
  const most = Math.max(...rows.map((row) => Math.abs(row.value)), 0.01);
  const bars = barsSpec({description: 'Bars of the change of each figure, the largest first', rows, height: 26,
    xTitle: 'change (% of the run)', yTitle: 'figure', xFormat: '~f'});
  // Labels stand on the opposite side of the axis from their bars: at the bars' ends they would overlap the names.
  bars.scales[0] = {name: 'x', type: 'linear', domain: [-1.05 * most, 1.05 * most], range: 'width', zero: true};
  bars.marks[1].encode.enter = {...bars.marks[1].encode.enter,
    align: {field: 'align'}, x: {scale: 'x', value: 0, offset: {field: 'offset'}}, text: {signal: "roomy ? datum.label : ''"}};
  const cell = (value, field, mover) => ({text: mover.unit === 'warp-cycles' ? count(value) : decimals(2)(value), field: field || undefined});
  const table = dataTable('Differing figures, the largest change first', [
    {name: 'figure', text: true}, {name: 'unit', text: true}, {name: 'A'}, {name: 'B'}, {name: 'change'}, {name: 'relative', unit: '%'},
  ], difference.mover.map((mover) => [
    mover.what, mover.unit, cell(mover.a, mover.field_a, mover), cell(mover.b, mover.field_b, mover),
    mover.unit === 'warp-cycles' ? count(mover.change) : decimals(2)(mover.change),
    mover.relative === undefined ? 'only in B' : decimals(1)(100 * mover.relative),
  ]));
  const open = report.run.slice(0, 2).reduce((sum, run) => sum + openShare(run), 0);
  const noise = rows.length > 0 && difference.mover.every((mover) => mover.share_of_total <= open);
  return section('difference', 'From A to B', 1,
    paragraph(`A is ${difference.a}; B is ${difference.b}.`),
    ...(rows.length === 0 ? [paragraph('All figures are equal.')] :
      noise ? [paragraph(`No figure changes by more than folding’s error bounds leave open, ${percent(open, 2)}.`), table] : [chart({
      id: 'difference-movers', title: 'Changes from A to B, the largest first',
      note: 'Striped bars to the right: more in B. Plain bars to the left: less in B. Changes are shares of the total time, of the kernel’s warp-cycles or of capacity.', spec: bars, table,
    })]));
}
