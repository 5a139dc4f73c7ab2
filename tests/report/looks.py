"""The look of a page on small and large screens, light and dark: elements outside the page, overlapping labels, faint words."""

import itertools

SCREENS = tuple(itertools.product((420, 1400), (False, True)))  # width, dark
LEAST_CONTRAST = 4.5  # of words, WCAG 2.1 AA

LOOK = """((scope) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const shade = (colour) => channels(colour).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const alpha = (colour) => Number(colour.match(/[\\d.]+/g)[3] ?? 1);
  // A colour through which another one shows: a mark's over the card, a label's halo over the mark.
  const mix = (one, other, share) => `rgb(${channels(one).map((c, i) => share * c + (1 - share) * channels(other)[i]).join(' ')})`;
  const contrast = (one, other) => {
    const [a, b] = [shade(one), shade(other)].sort((a, b) => b - a);
    return (a + 0.05) / (b + 0.05);
  };
  const shown = (element) => {
    const {width, height} = element.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(element).opacity !== '0' && getComputedStyle(element).visibility === 'visible';
  };
  const paint = (mark) => {  // of a pattern its ground
    const {fill} = getComputedStyle(mark);
    const pattern = fill.match(/#([^")]+)/);
    return pattern ? getComputedStyle(document.getElementById(pattern[1]).querySelector('rect')).fill : fill;
  };
  // The mark that a label of a chart lies on, the last one drawn.
  const under = (label) => {
    if (!label.closest('.role-mark')) return undefined;
    const {left, right, top, bottom} = label.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return [...label.closest('svg').querySelectorAll('[aria-roledescription="figure"]')].filter((mark) => {
      const box = mark.getBoundingClientRect();
      return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom && /^rgb\\(|url/.test(getComputedStyle(mark).fill);
    }).at(-1);
  };
  const words = [...document.querySelectorAll(scope)].filter((element) => element.innerText && shown(element))
    .map((element) => [contrast(getComputedStyle(element).color, ground(element)), element.innerText.slice(0, 30)]);
  const labels = [...document.querySelectorAll('svg.marks text')].filter((label) => label.textContent !== '' && shown(label));
  const drawn = labels.map((label) => {
    const mark = under(label);
    const {fill, stroke, strokeOpacity} = getComputedStyle(label);
    const card = ground(label.closest('.chart'));
    const behind = mark ? mix(paint(mark), card, Number(getComputedStyle(mark).fillOpacity)) : card;
    return [contrast(fill, stroke === 'none' ? behind : mix(stroke, behind, Number(strokeOpacity) * alpha(stroke))), label.textContent];
  });
  // Labels at the same angle are compared along it.
  const along = (label, angle) => {
    const {x, y, width, height} = label.getBBox();
    const matrix = label.getScreenCTM();
    const corners = [[x, y], [x + width, y], [x, y + height], [x + width, y + height]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix))
      .map(({x, y}) => [x * Math.cos(angle) + y * Math.sin(angle), y * Math.cos(angle) - x * Math.sin(angle)]);
    const [xs, ys] = [corners.map((c) => c[0]), corners.map((c) => c[1])];
    return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
  };
  const boxes = labels.map((label) => {
    const {a, b} = label.getScreenCTM();
    const angle = Math.atan2(b, a);
    return {svg: label.closest('svg'), says: label.textContent, angle, flat: along(label, 0), along: along(label, angle)};
  });
  const meet = (one, other) => {
    const tilted = Math.abs(one.angle - other.angle) < 0.01;
    return overlap(tilted ? one.along : one.flat, tilted ? other.along : other.flat);
  };
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const over = [];
  for (let i = 0; i < boxes.length; ++i) {
    for (let j = i + 1; j < boxes.length && boxes[j].svg === boxes[i].svg; ++j) {
      if (meet(boxes[i], boxes[j])) over.push(`${boxes[i].svg.closest('figure')?.id}: ${boxes[i].says} / ${boxes[j].says}`);
    }
  }
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    scrolled: [...document.querySelectorAll('.scroll')].filter((each) => shown(each) && each.scrollWidth > each.clientWidth + 1)
      .map((each) => `${each.scrollWidth} in ${each.clientWidth}: ${each.getAttribute('aria-label')}`),
    cut: labels.filter((label) => label.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((label) => label.textContent),
    ground: shade(ground(document.querySelector('article, main section'))), over,
    words: words.length + drawn.length, faint: [...words, ...drawn].filter(([c]) => c < %g).map(([c, says]) => `${c.toFixed(2)} ${says}`),
  };
})""" % LEAST_CONTRAST

WORDS_OF_REPORT = "p, li, a, td, th, dt, dd, h1, h2, h3, summary, caption, figcaption span, .legend li"


def screen(page, width, dark):
    page.size(width, 900)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("globalThis.fitCharts?.()")


def faults(page, width, dark, scope=WORDS_OF_REPORT):
    """Returns the faults of a page on one screen, a line for each."""
    screen(page, width, dark)
    look = page.evaluate(f"{LOOK}({scope!r})")
    found = [f"{look['overflow']} pixels too wide"] if look["overflow"] > 0 else []
    found += [f"its ground's brightness is {look['ground']:.2f}"] if (look["ground"] < 0.2) != dark else []
    found += ["no words"] if look["words"] == 0 else []
    for what, name in (("faint", "faint words"), ("over", "labels on labels"), ("cut", "labels cut off"), ("scrolled", "tables wider than the page")):
        found += [f"{len(look[what])} {name}: {look[what][:3]}"] if look[what] else []
    return found
