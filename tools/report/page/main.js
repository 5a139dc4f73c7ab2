// The page from top to bottom.

function headOf(runs) {
  const fastest = runs.reduce((best, run) => (run.result.total_time_us < best.result.total_time_us ? run : best));
  const {result} = fastest;
  const facts = runs.length > 1 ? [fact('runs', {text: String(runs.length)}), fact('fastest', {text: fastest.label})] : [];
  facts.push(fact('total time', figure(fastest, 'total_time_us', rounded), 'us'), fact('cycles', figure(fastest, 'total_cycles', count)));
  if (isSimulation(fastest)) facts.push(fact('warp instructions', figure(fastest, 'instructions_issued', count)));
  const scenarios = [...new Set(runs.map((run) => `${run.result.scenario} on ${run.result.gpu}`))];
  return [el('p', {class: 'kind'}, 'Warpfold report'), el('h1', {}, scenarios.join('; ')),
    ...(runs.length > 1 ? [] : [el('p', {class: 'kind'}, isSimulation(fastest) ? `policy ${result.policy}` : 'limiter model')]),
    el('dl', {class: 'facts'}, ...facts)];
}

// `findings` have full paths.
function findingsSection(findings, id, level) {
  return section(id, 'In short', level, el('ul', {class: 'findings'}, ...findings.map((finding) => {
    const fields = finding.field.length > 0 ? finding.field.join(', ') : undefined;
    return el('li', {'data-field': fields, title: fields}, finding.text);
  })));
}

function findingsOf(run) {
  return run.finding.map((finding) => ({text: finding.text, field: finding.field.map((field) => fieldOf(run, field))}));
}

function runSections(run, prefix) {
  if (!isSimulation(run)) return [limitersSection(run, prefix), provenanceSection(run, prefix)];
  // If the command asked for more than a simulation, the answer to its question comes first.
  return [...whatIfSection(run, prefix), ...occupancySection(run, prefix), kernelsSection(run, prefix), resourcesSection(run, prefix), ...memorySection(run, prefix), statesSection(run, prefix), ledgerSection(run, prefix),
    ...slowdownSection(run, prefix), ...powerSection(run, prefix), ...timelineSection(run, prefix), ...rooflineSection(run, prefix),
    ...mixSection(run, prefix), provenanceSection(run, prefix)];
}

// Runs of a comparison are collapsed except the first; their charts are drawn when they are opened or printed.
function runDetails(run, index) {
  const id = `run-${index}`;
  contents.push({id, title: run.label, level: 1});
  const details = el('details', {class: 'run', id}, el('summary', {}, run.label),
    findingsSection(findingsOf(run), `${id}-findings`, 2),
    ...runSections(run, `${id}-`));
  details.open = index === 0;
  details.addEventListener('toggle', () => drawCharts());
  return details;
}

function buildContent() {
  if (report.validation) {
    document.getElementById('content').append(...validationSections(report.validation));
    return;
  }
  if (report.profile) {
    document.getElementById('content').append(...profileSections(report.profile));
    return;
  }
  if (report.layer) {
    document.getElementById('content').append(...layerSections(report.layer));
    return;
  }
  const simulated = report.run.filter(isSimulation);
  const modelled = report.run.filter((run) => !isSimulation(run));
  const main = document.getElementById('content');
  const single = report.run.length === 1;
  const findings = single ? findingsOf(report.run[0]) : report.finding;
  if (findings.length > 0) main.append(findingsSection(findings, 'findings', 1));
  if (simulated.length > 1) main.append(policiesSection(simulated));
  if (report.difference) main.append(differenceSection(report.difference));
  modelled.forEach((model, m) => {
    const match = simulated.find((run) => run.result.scenario === model.result.scenario && run.result.policy === model.result.policy);
    if (match) main.append(estimatorsSection(match, model, m));
  });
  if (single) main.append(...runSections(report.run[0], ''));
  else report.run.forEach((run, index) => main.append(runDetails(run, index)));
}

function buildContents() {
  const entries = contents.filter((entry) => (report.run.length <= 1 && !report.layer) || entry.level === 1);
  document.getElementById('contents').append(el('ul', {}, ...entries.map(({id, title}) =>
    el('li', {}, el('a', {href: `#${id}`}, title)))));
}

function openAll() {
  for (const details of document.querySelectorAll('details.run')) details.open = true;
  return drawCharts();
}

const simulatedRuns = report.run.filter(isSimulation);
function head() {
  if (report.validation) return validationHead(report.validation);
  if (report.profile) return profileHead(report.profile);
  if (report.layer) return layerHead(report.layer);
  return headOf(simulatedRuns.length > 0 ? simulatedRuns : report.run);
}
document.getElementById('head').append(...head());
buildContent();
buildContents();
document.getElementById('made-by').append(`Written by Warpfold ${report.version}.`);
window.addEventListener('beforeprint', openAll);
let pending = 0;
window.addEventListener('resize', () => {
  clearTimeout(pending);
  pending = setTimeout(fitCharts, 150);
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') document.getElementById('tip').hidden = true;
});
drawCharts();
