// Measured against simulated values on equal logarithmic axes: on the line both are equal, in the band they differ by up to 10 %.
const scatterBand = 0.1;

// Paths within -1 and 1, a shape for each colour.
const scatterStyles = [
  {colour: 'blue', shape: 'M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z'},
  {colour: 'vermillion', shape: 'M-0.9,-0.9H0.9V0.9H-0.9Z'},
  {colour: 'green', shape: 'M0,-1L1,0.85H-1Z'},
  {colour: 'purple', shape: 'M0,-1.1L1.1,0L0,1.1L-1.1,0Z'},
  {colour: 'orange', shape: 'M-0.35,-1H0.35V-0.35H1V0.35H0.35V1H-0.35V0.35H-1V-0.35H-0.35Z'},
  {colour: 'sky', shape: 'M0,1L1,-0.85H-1Z'},
  {colour: 'yellow', shape: 'M1,0L-0.85,1V-1Z'},
  {colour: 'grey', shape: 'M-1,0L0.85,1V-1Z'},
];

function scatterStyle(index) {
  return scatterStyles[index % scatterStyles.length];
}

// Returns round numbers within the domain of a logarithmic axis; they are closer together if it covers less than a decade.
function logarithmicTicks([low, high]) {
  const steps = high / low < 10 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : high / low < 1000 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade < high; decade *= 10)
    ticks.push(...steps.map((step) => step * decade).filter((tick) => tick >= low && tick <= high));
  return ticks;
}

// `points`: {measured, simulated, style, faint, tip, field}
function scatterSpec({points, unit, what}) {
  const values = points.flatMap(({measured, simulated}) => [measured, simulated]).filter((value) => value > 0);
  const domain = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
  const along = domain.map((at) => ({at, low: at * (1 - scatterBand), high: at * (1 + scatterBand),
    tip: `within ${percent(scatterBand, 0)}: simulated ${what} over measured, less 1`}));
  const axis = {grid: true, labelOverlap: true, values: logarithmicTicks(domain), format: ',.6~g'};
  return {
    description: `A point for each measured row: measured ${what} to the right, simulated ${what} upward`, height: 460,
    data: [{name: 'points', values: points}, {name: 'along', values: along},
      {name: 'line', values: [{from: domain[0], to: domain[1], tip: `simulated ${what} as measured`}]}],
    scales: [{name: 'x', type: 'log', domain, range: 'width'}, {name: 'y', type: 'log', domain, range: 'height'}],
    axes: [
      {orient: 'bottom', scale: 'x', title: `measured ${what} (${unit})`, ...axis},
      {orient: 'left', scale: 'y', title: `simulated ${what} (${unit})`, ...axis},
    ],
    marks: [
      marksOf('area', 'along', {
        x: {scale: 'x', field: 'at'}, y: {scale: 'y', field: 'low'}, y2: {scale: 'y', field: 'high'}, fill: {value: 'var(--grey)'},
        fillOpacity: {value: 0.25},
      }, {clip: true}),
      marksOf('rule', 'line', {
        x: {scale: 'x', field: 'from'}, y: {scale: 'y', field: 'from'}, x2: {scale: 'x', field: 'to'}, y2: {scale: 'y', field: 'to'},
        stroke: {value: 'var(--ink)'}, strokeWidth: {value: 1.5},
      }),
      marksOf('symbol', 'points', {
        x: {scale: 'x', field: 'measured'}, y: {scale: 'y', field: 'simulated'}, shape: {field: 'style.shape'}, size: {value: 70},
        fill: {signal: "'var(--' + datum.style.colour + ')'"}, fillOpacity: {signal: 'datum.faint ? 0.25 : 0.85'},
        stroke: {value: 'var(--ink)'}, strokeWidth: {value: 0.75},
      }),
    ],
  };
}
