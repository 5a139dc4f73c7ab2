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
    listTable(`Transfers of ${layer.versions[v].name} for a layer inside of the model`, `layer.versions[${v}].overlap.transfers`, overlap.transfers, [
      {name: 'transfer', text: true, field: 'name'}, {name: 'pass', text: true, field: 'pass'},
      {name: 'over', text: true, field: 'data_parallel', format: (data) => (data ? 'data link' : 'link')}, {name: 'GPUs', field: 'gpus', format: count},
      {name: 'sent', unit: 'MB', field: 'sent_bytes', format: inMillions(1)}, {name: 'time', unit: 'us', field: 'us', format: decimals(1)},
      {name: 'exposed', unit: 'us', field: 'exposed_us', format: decimals(1)}, {name: 'kernels slowed', unit: 'us', field: 'slowed_us', format: decimals(1)},
      {name: 'beside', text: true, field: 'beside', format: listed},
    ]),
  ];
}

function layerFusionTable(layer) {
  return listTable('Fused kernels, against their operators one by one', 'layer.fusions', layer.fusions, [
    {name: 'kernel', text: true, field: 'kernel'}, {name: 'pass', text: true, field: 'pass'}, {name: 'operators', text: true, field: 'operators', format: listed},
    {name: 'words saved', unit: 'millions', field: 'words_saved', format: inMillions(1)}, {name: 'saved by bytes', unit: 'us', field: 'bytes_saved_us', format: decimals(1)},
    {name: 'simulated saved', unit: 'us', field: 'simulated_us_saved', format: decimals(1)},
  ]);
}

function layerLayoutTable(layouts) {
  const caption = `The shortest path takes ${rounded(layouts.path_us)} us, each kernel in its best layout ${rounded(layouts.best_us)}`;
  return listTable(caption, 'layer.layouts.kernels', layouts.kernels, [
    {name: 'kernel', text: true, field: 'kernel'}, {name: 'features innermost', unit: 'us', field: 'features_us', format: decimals(1)},
    {name: 'tokens innermost', unit: 'us', field: 'tokens_us', format: decimals(1)}, {name: 'reads', text: true, field: 'reads'}, {name: 'stores', text: true, field: 'stores'},
    {name: 'turned', text: true, field: 'transposed', format: listed}, {name: 'turning', unit: 'us', field: 'transposes_us', format: decimals(1)},
  ]);
}

function layerMemoryTable(memory) {
  const caption = `Activations for the backward pass: ${rounded(memory.kept_mb)} of ${rounded(memory.all_mb)} MB are kept`;
  return listTable(caption, 'layer.memory.activations', memory.activations, [
    {name: 'kernel', text: true, field: 'kernel', format: (kernel) => (kernel === '' ? 'the layer’s input' : kernel)},
    {name: 'tensors', text: true, field: 'tensors', format: listed}, {name: 'size', unit: 'MB', field: 'bytes', format: inMillions(1)},
    {name: 'recompute', unit: 'us', field: 'recompute_us', format: decimals(1)}, {name: 'recompute', unit: 'us a MB', field: 'us_per_mb', format: decimals(2)},
    {name: 'what', text: true, field: 'kept', format: (kept, {offloaded}) => (kept ? 'kept' : offloaded ? 'offloaded' : 'recomputed')},
  ]);
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
