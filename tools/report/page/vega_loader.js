// Debian ships the chart library as CommonJS modules. Each module is wrapped in a call of vegaModule; vegaRequire runs a module at
// its first use.
const vegaDefinitions = new Map();
const vegaExports = new Map();

function vegaModule(name, define) {
  vegaDefinitions.set(name, define);
}

function vegaRequire(wanted) {
  const name = wanted === 'vega-selections' ? 'vega-selection' : wanted;  // the file has the older name
  if (!vegaExports.has(name)) {
    const module = {exports: {}};
    vegaExports.set(name, module.exports);
    vegaDefinitions.get(name)(module, module.exports, vegaRequire);
  }
  return vegaExports.get(name);
}
