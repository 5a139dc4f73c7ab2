// The colours of Okabe and Ito, which people with any common colour vision can distinguish; the style sheet has their values for
// light, dark and paper. Each colour has a pattern, so that no meaning depends on colour alone.
const patterns = ['solid', 'rising', 'falling', 'dots', 'lines', 'bars', 'grid', 'waves'];

// Fills by colour name and pattern; each is defined at its first use.
const fills = new Map();

function svgElement(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function patternShapes(pattern) {
  const path = (d) => svgElement('path', {d, class: 'pattern-ink', fill: 'none', 'stroke-width': 1.4});
  switch (pattern) {
    case 'rising': return [path('M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4')];
    case 'falling': return [path('M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4')];
    case 'dots': return [svgElement('circle', {cx: 4, cy: 4, r: 1.5, class: 'pattern-dot'})];
    case 'lines': return [path('M0,4 h8')];
    case 'bars': return [path('M4,0 v8')];
    case 'grid': return [path('M0,4 h8 M4,0 v8')];
    case 'waves': return [path('M0,4 q2,-4 4,0 t4,0')];
    default: return [];
  }
}

function fill(colour, pattern = 'solid') {
  if (pattern === 'solid') return `var(--${colour})`;
  const id = `fill-${colour}-${pattern}`;
  if (!fills.has(id)) {
    let defs = document.getElementById('fills');
    if (defs === null) {
      defs = svgElement('svg', {id: 'fills', width: 0, height: 0, 'aria-hidden': 'true', style: 'position:absolute'});
      document.body.append(defs);
    }
    defs.append(svgElement('pattern', {id, width: 8, height: 8, patternUnits: 'userSpaceOnUse'},
      svgElement('rect', {width: 8, height: 8, fill: `var(--${colour})`}), ...patternShapes(pattern)));
    fills.set(id, `url(#${id})`);
  }
  return fills.get(id);
}

// Colours of kernels, in the order of the result.
const kernelColours = ['blue', 'orange', 'green', 'purple', 'sky', 'vermillion', 'yellow', 'grey'];

function kernelFill(index) {
  const round = Math.floor(index / kernelColours.length) + (index % kernelColours.length === 0 ? 0 : 1);
  return fill(kernelColours[index % kernelColours.length], patterns[round % patterns.length]);
}

// Fills of warp states; related states share a colour.
const stateFills = {
  __proto__: null,  // look-ups of names from the data find only the entries of this object
  selected: ['green', 'solid'],
  wait: ['sky', 'solid'],
  not_selected: ['yellow', 'dots'],
  dispatch_stall: ['orange', 'solid'],
  math_pipe_throttle: ['orange', 'rising'],
  mio_throttle: ['vermillion', 'solid'],
  lg_throttle: ['vermillion', 'falling'],
  short_scoreboard: ['blue', 'rising'],
  long_scoreboard: ['blue', 'solid'],
  barrier: ['purple', 'dots'],
  gmma: ['purple', 'solid'],
  no_instruction: ['grey', 'grid'],
  branch_resolving: ['grey', 'falling'],
  sleeping: ['grey', 'lines'],
  drain: ['grey', 'solid'],
};

function stateFill(state) {
  return fill(...(stateFills[state] ?? ['grey', 'waves']));
}
