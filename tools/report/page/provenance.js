// The inputs from which each run can be reproduced.

// Returns the result of --self-check.
function selfCheckText(check) {
  const share = check.instructions > 0 ? check.instructions_checked / check.instructions : 0;
  const off = check.cycles_error > 0 ? `, bounded cycles off by at most ${percent(check.cycles_error, 3)}` : '';
  const skips = check.skips > 0 ? `, and ${check.skips_checked} of ${check.skips} skips` : '';
  return `${check.kernels_checked} of ${check.kernels} kernels, ${percent(share, 2)} of the instructions${skips} ` +
    `simulated again unfolded: the same${off}`;
}

function provenanceSection(run, prefix) {
  const {provenance, fold} = run.result;
  const entries = [
    ['version', {text: provenance.version, field: fieldOf(run, 'provenance.version')}],
    ['command line', {text: provenance.command_line, field: fieldOf(run, 'provenance.command_line')}],
    ...(run.file ? [['read from', {text: run.file}]] : []),
    ['estimator', {text: run.result.estimator, field: fieldOf(run, 'estimator')}],
  ];
  if (fold) {
    const bound = fold.error_bound > 0 ? `; cycles within ${percent(fold.error_bound, 2)} of a simulation of every instruction` : '';
    entries.push(['folding', {text: `${fold.mode}${bound}`, field: fieldOf(run, 'fold.mode')}],
      ...(fold.self_check ? [['self-check', {text: selfCheckText(fold.self_check), field: fieldOf(run, 'fold.self_check')}]] : []),
      ['instructions issued', figure(run, 'instructions_issued', count)],
      ['instructions replayed', figure(run, 'instructions_replayed', count)],
      ['SMs simulated', {text: `${run.result.sms_simulated}, ${run.result.whole_chip ? 'the whole chip' : 'one of each class'}`,
        field: fieldOf(run, 'sms_simulated')}]);
  }
  provenance.trace_hash.forEach((_, h) => entries.push([`program ${h + 1}, hash`, figure(run, `provenance.trace_hash[${h}]`, text)]));
  const list = el('dl', {class: 'provenance'}, ...entries.flatMap(([name, {text: words, field}]) =>
    [el('dt', {}, name), el('dd', {'data-field': field, title: field}, el('code', {}, words))]));
  return section(`${prefix}provenance`, 'Provenance of this run', 2, list,
    el('details', {}, el('summary', {}, 'The scenario with every value resolved'),
      el('pre', {'data-field': fieldOf(run, 'provenance.scenario')}, JSON.stringify(provenance.scenario, null, 2))));
}
