// Speed of light: the use of each pipe, port and memory over the whole run, as a share of its capacity.
const resourceGroups = [
  {name: 'issue and math pipes', colour: 'blue', pattern: 'solid', has: []},  // resources of no other group, so that a new pipe is
                                                                              // here
  {name: 'memory of the SM', colour: 'orange', pattern: 'rising', has: ['memory_issue', 'memory_queue', 'shared_memory', 'l1', 'bulk_copy', 'sm_ingress', 'sm_egress']},
  {name: 'memory of the chip', colour: 'purple', pattern: 'dots', has: ['l2_read', 'l2_write', 'dram']},
];

function groupOf(resource) {
  return resourceGroups.find((group) => group.has.includes(resource)) ?? resourceGroups[0];
}

function resourcesSection(run, prefix) {
  const used = run.result.resources.map((resource, r) => ({resource, r})).filter(({resource}) => resource.busy > 0)
    .sort((a, b) => b.resource.utilization - a.resource.utilization);
  const rows = used.map(({resource, r}) => {
    const group = groupOf(resource.name);
    return {
      name: resource.name, value: 100 * resource.utilization, label: percent(resource.utilization),
      tip: `${resource.name}: ${percent(resource.utilization)} of capacity, ${count(resource.busy)} of ${count(resource.capacity)}`,
      field: fieldOf(run, `resources[${r}].utilization`), fill: fill(group.colour, group.pattern),
    };
  });
  const table = dataTable('Resources over the whole run and the whole chip; busy and capacity in the resource’s unit: cycles, wavefronts, bytes', [
    {name: 'resource', text: true}, {name: 'used', unit: '% of capacity'}, {name: 'busy'}, {name: 'capacity'},
  ], used.map(({r}) => [
    figure(run, `resources[${r}].name`, text), figure(run, `resources[${r}].utilization`, (share) => decimals(1)(100 * share)),
    figure(run, `resources[${r}].busy`, count), figure(run, `resources[${r}].capacity`, count),
  ]));
  return section(`${prefix}resources`, 'Speed of light', 2, chart({
    id: `${prefix}resources-use`, title: 'Use of each resource, of its capacity over the whole run',
    note: 'A resource near 100 % bounds the run. Without one, warps wait for latency or for each other.',
    keys: resourceGroups.map((group) => ({name: group.name, fill: fill(group.colour, group.pattern)})),
    spec: barsSpec({description: 'Bars of the use of each resource, the most used first', rows, xTitle: 'used (% of capacity)',
      yTitle: 'resource', xFormat: '~f', height: 24, domainMax: 108}), table,
  }));
}
