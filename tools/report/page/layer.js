// The results of `warpfold layer`: the operators of a transformer's layer.
function layerHead(layer) {
  const last = layer.versions.length - 1;
  const {model} = layer;
  const at = (path, words) => atLayer(`versions[${last}].${path}`, words);
  const version = layer.versions[last];
  return [el('p', {class: 'kind'}, 'Warpfold report'), el('h1', {}, `${model.name} on ${layer.gpu}`),
    el('p', {class: 'kind'}, `one layer of ${count(model.layers)}, batch ${count(model.batch)} of ${count(model.sequence)} tokens, ${version.name}`),
    el('dl', {class: 'facts'}, fact('time', at('time_us', rounded(version.time_us)), 'us'), fact('operations', at('flops', rounded(version.flops / 1e9)), 'GFLOP'),
      fact('words moved', at('words', rounded(version.words / 1e6)), 'millions'), fact('launches', {text: count(version.kernels.length)}),
      fact('simulated', at('simulated_percent', decimals(0)(version.simulated_percent)), '% of the time'))];
}

// Returns the table of the kernels `shown` of a version.
function layerKernelTable(version, v, shown, caption) {
  return dataTable(caption, [
    {name: 'kernel', text: true}, {name: 'class', text: true}, {name: 'operations', unit: 'GFLOP'}, {name: 'words', unit: 'millions'}, {name: 'intensity', unit: 'FLOP/B'},
    {name: 'bound', text: true}, {name: 'roofline', unit: 'us'}, {name: 'limiter', unit: 'us'}, {name: 'simulated', unit: 'us'}, {name: 'of peak', unit: '%'},
    {name: 'rate', unit: 'GB/s'}, {name: 'MUE', unit: '%'}, {name: 'kernel simulated', text: true},
  ], shown.map((k) => {
    const kernel = version.kernels[k];
    const at = (field, words) => atLayer(`versions[${v}].kernels[${k}].${field}`, words);
    const there = (field, format) => (kernel[field] === undefined ? '-' : at(field, format(kernel[field])));
    const base = `layer.versions[${v}].kernels[${k}]`;
    return [at('name', kernel.name), at('kind', kernel.kind), at('flops', decimals(3)(kernel.flops / 1e9)),
      {text: decimals(1)((kernel.input_words + kernel.output_words) / 1e6), field: `${base}.input_words + ${base}.output_words`},
      at('intensity', decimals(2)(kernel.intensity)), at('bound', kernel.bound), at('roofline_us', decimals(1)(kernel.roofline_us)), there('limiter_us', decimals(1)),
      there('simulated_us', decimals(1)), at('percent_of_peak', decimals(1)(kernel.percent_of_peak)), at('gb_per_s', count(kernel.gb_per_s)), at('mue', decimals(0)(kernel.mue)),
      kernel.simulated_us === undefined ? at('not_simulated', `not simulated: ${kernel.not_simulated}`) : at('kernel', kernel.kernel)];
  }));
}

// The picture is SVG with escaped names, parsed as XML, so that scripts in it would not run.
function layerGraph(version, v) {
  const picture = new DOMParser().parseFromString(report.layer_graph[v], 'image/svg+xml').documentElement;
  return el('div', {class: 'graph', id: `layer-graph-${v}`},
    paragraph('The forward pass runs down on the left, the backward pass up on the right; dashed lines are tensors of the forward pass that the backward pass reads. A dashed box is a fused ' +
      'kernel with its operators. The tensors that a kernel stores stand beside its box; a tensor with a thick end leaves the layer. Boxes and edges have tooltips.'),
    legend(version.classes.map(({kind}) => ({name: kind, fill: fill(layerClass(kind).fill[0])}))),
    el('div', {class: 'graph-scroll', tabindex: 0, role: 'region', 'aria-label': 'Dataflow graph'}, document.importNode(picture, true)));
}

function layerVersion(layer, v) {
  const version = layer.versions[v];
  const id = `version-${v}`;
  contents.push({id, title: version.name, level: 1});
  const passes = ['forward', 'backward', 'update'].map((pass) => ({pass, shown: version.kernels.map((_, k) => k).filter((k) => version.kernels[k].pass === pass)}))
    .filter(({shown}) => shown.length > 0);
  const details = el('details', {class: 'run', id}, el('summary', {}, `${version.name}: ${version.kernels.length} launches, ${rounded(version.time_us)} us`),
    section(`${id}-shares`, 'Where the time goes', 2, layerSharesChart(version, v)),
    section(`${id}-graph`, 'Dataflow graph', 2, layerGraph(version, v)),
    section(`${id}-roofline`, 'Roofline', 2, ...layerRooflineChart(layer, version, v)),
    section(`${id}-kernels`, 'Launches', 2, ...passes.map(({pass, shown}) => layerKernelTable(version, v, shown, `${version.name}, ${pass}`))));
  details.open = v === layer.versions.length - 1;
  details.addEventListener('toggle', () => drawCharts());
  return details;
}

function layerOverlap(layer) {
  const v = layer.versions.length - 1;
  const {overlap} = layer.versions[v];
  const all = (field, words) => atLayer(`versions[${v}].overlap.${field}`, words);
  return [
    el('dl', {class: 'facts'}, fact('kernels', all('kernels_us', rounded(overlap.kernels_us)), 'us'), fact('exposed', all('exposed_us', rounded(overlap.exposed_us)), 'us'),
      fact('kernels slowed', all('slowed_us', rounded(overlap.slowed_us)), 'us'), fact('layer', all('layer_us', rounded(overlap.layer_us)), 'us')),
    dataTable(`Transfers of ${layer.versions[v].name} for a layer inside of the model`, [
      {name: 'transfer', text: true}, {name: 'pass', text: true}, {name: 'over', text: true}, {name: 'GPUs'}, {name: 'sent', unit: 'MB'}, {name: 'time', unit: 'us'},
      {name: 'exposed', unit: 'us'}, {name: 'kernels slowed', unit: 'us'}, {name: 'beside', text: true},
    ], overlap.transfers.map((each, t) => {
      const at = (field, words) => all(`transfers[${t}].${field}`, words);
      return [at('name', each.name), at('pass', each.pass), at('data_parallel', each.data_parallel ? 'data link' : 'link'), at('gpus', count(each.gpus)),
        at('sent_bytes', decimals(1)(each.sent_bytes / 1e6)), at('us', decimals(1)(each.us)), at('exposed_us', decimals(1)(each.exposed_us)),
        at('slowed_us', decimals(1)(each.slowed_us)), at('beside', each.beside.join(', '))];
    })),
  ];
}

function layerFusionTable(layer) {
  return dataTable('Fused kernels, against their operators one by one', [
    {name: 'kernel', text: true}, {name: 'pass', text: true}, {name: 'operators', text: true}, {name: 'words saved', unit: 'millions'}, {name: 'saved by bytes', unit: 'us'},
    {name: 'simulated saved', unit: 'us'},
  ], layer.fusions.map((each, f) => {
    const at = (field, words) => atLayer(`fusions[${f}].${field}`, words);
    return [at('kernel', each.kernel), at('pass', each.pass), at('operators', each.operators.join(', ')), at('words_saved', decimals(1)(each.words_saved / 1e6)),
      at('bytes_saved_us', decimals(1)(each.bytes_saved_us)),
      each.simulated_us_saved === undefined ? '-' : at('simulated_us_saved', decimals(1)(each.simulated_us_saved))];
  }));
}

function layerLayoutTable(layouts) {
  return dataTable(`The shortest path takes ${rounded(layouts.path_us)} us, each kernel in its best layout ${rounded(layouts.best_us)}`, [
    {name: 'kernel', text: true}, {name: 'features innermost', unit: 'us'}, {name: 'tokens innermost', unit: 'us'}, {name: 'reads', text: true}, {name: 'stores', text: true},
    {name: 'turned', text: true}, {name: 'turning', unit: 'us'},
  ], layouts.kernels.map((each, k) => {
    const at = (field, words) => atLayer(`layouts.kernels[${k}].${field}`, words);
    const there = (field) => (each[field] === undefined ? '-' : at(field, decimals(1)(each[field])));
    return [at('kernel', each.kernel), there('features_us'), there('tokens_us'), at('reads', each.reads), at('stores', each.stores),
      at('transposed', each.transposed.join(', ')), at('transposes_us', decimals(1)(each.transposes_us))];
  }));
}

function layerMemoryTable(memory) {
  return dataTable(`Activations for the backward pass: ${rounded(memory.kept_mb)} of ${rounded(memory.all_mb)} MB are kept`, [
    {name: 'kernel', text: true}, {name: 'tensors', text: true}, {name: 'size', unit: 'MB'}, {name: 'recompute', unit: 'us'}, {name: 'recompute', unit: 'us a MB'}, {name: 'what', text: true},
  ], memory.activations.map((each, a) => {
    const at = (field, words) => atLayer(`memory.activations[${a}].${field}`, words);
    return [at('kernel', each.kernel === '' ? 'the layer’s input' : each.kernel), at('tensors', each.tensors.join(', ')), at('bytes', decimals(1)(each.bytes / 1e6)),
      at('recompute_us', decimals(1)(each.recompute_us)), at('us_per_mb', decimals(2)(each.us_per_mb)), at('kept', each.kept ? 'kept' : each.offloaded ? 'offloaded' : 'recomputed')];
  }));
}

function layerTraining(training) {
  const at = (field, words) => atLayer(`training.${field}`, words);
  return el('dl', {class: 'facts'}, fact('parameters', at('parameters', rounded(training.parameters / 1e9)), 'billions'),
    fact('tokens', at('tokens', rounded(training.tokens / 1e9)), 'billions'), fact('GPUs', at('gpus', count(training.gpus))),
    fact('MFU', at('mfu_percent', decimals(1)(training.mfu_percent)), '%'), fact('rate', at('tokens_per_second', count(training.tokens_per_second)), 'tokens a second'),
    fact('time', at('seconds', rounded(training.seconds / 86400)), 'days'));
}

function layerSections(layer) {
  const order = layer.versions.map((_, v) => layer.versions.length - 1 - v);
  return [
    findingsSection(report.finding, 'findings', 1),
    ...order.map((v) => layerVersion(layer, v)),
    ...(layer.fusions.length > 0 ? [section('fusions', 'Savings by fusion', 1, layerFusionTable(layer))] : []),
    ...(layer.versions[layer.versions.length - 1].overlap ? [section('transfers', 'Transfers beside kernels', 1, ...layerOverlap(layer))] : []),
    ...(layer.layouts ? [section('layouts', 'Layouts of the forward pass', 1, layerLayoutTable(layer.layouts))] : []),
    ...(layer.memory ? [section('memory', 'Activations', 1, layerMemoryTable(layer.memory))] : []),
    ...(layer.training ? [section('training', 'Training', 1, layerTraining(layer.training))] : []),
    section('provenance', 'Provenance', 1, el('dl', {class: 'provenance'},
      ...[['version', layer.version, 'layer.version'], ['command line', layer.command_line, 'layer.command_line'], ['model', layer.model.description ?? layer.model.name, 'layer.model.name'],
        ['GPU', layer.gpu, 'layer.gpu'], ['simulations', count(layer.simulations), 'layer.simulations']]
        .flatMap(([name, words, field]) => [el('dt', {}, name), el('dd', {'data-field': field}, el('code', {}, words))]))),
  ];
}
