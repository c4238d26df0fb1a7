const mostNodes = 60;
const root = { name: "", parent: null, groups: [], tasks: [], size: taskCount };
const groupOf = new Map([["", root]]);
const unfolded = new Set([root]);

/// Returns the group with that name; makes it and its parents if necessary.
function groupNamed(name) {
  const known = groupOf.get(name);
  if (known) return known;
  const slash = name.lastIndexOf("/");
  const parent = groupNamed(slash < 0 ? "" : name.slice(0, slash));
  const group = { name, parent, groups: [], tasks: [], size: 0 };
  parent.groups.push(group);
  groupOf.set(name, group);
  return group;
}

/// Groups matrix tasks by matrix, and other tasks by included file.
function makeGroups() {
  for (let task = 0; task < taskCount; task++) {
    const name = names[task];
    const bracket = name.indexOf("[");
    const end = bracket > 0 ? bracket : Math.max(0, name.lastIndexOf("/"));
    const group = groupNamed(name.slice(0, end));
    group.tasks.push(task);
    for (let above = group; above !== root; above = above.parent) above.size += 1;
  }
  // A single group around all others is of no use.
  let top = root;
  while (top.groups.length === 1 && top.tasks.length === 0) unfolded.add((top = top.groups[0]));
}

function tasksOf(group, all = []) {
  for (const task of group.tasks) all.push(task);
  for (const inner of group.groups) tasksOf(inner, all);
  return all;
}

/// A rank: tasks with a lower one get a node of their own if there are too many.
const interest = (task) => ({ bad: 0, odd: 1, live: 2 }[stateShade(task)] ?? (onPath[task] ? 3 : 4));

/// The nodes to show: collapsed groups, and the tasks of expanded ones.
function visibleNodes() {
  const nodes = [];
  const visit = (group) => {
    for (const inner of group.groups) {
      if (unfolded.has(inner)) visit(inner);
      else if (inner.size === 1) nodes.push({ tasks: tasksOf(inner), name: names[tasksOf(inner)[0]], isTask: true });
      else nodes.push({ tasks: tasksOf(inner), name: inner.name, group: inner });
    }
    let own = group.tasks;
    if (own.length > mostNodes) own = own.slice().sort((one, other) => interest(one) - interest(other) || one - other);
    for (const task of own.slice(0, mostNodes)) nodes.push({ tasks: [task], name: names[task], isTask: true });
    const rest = own.slice(mostNodes);
    if (rest.length > 0) nodes.push({ tasks: rest, name: `… and ${count(rest.length)} more`, isRest: true });
  };
  visit(root);
  if (nodes.length <= 4 * mostNodes) return nodes;
  const kept = nodes.slice(0, 4 * mostNodes - 1);
  const rest = nodes.slice(4 * mostNodes - 1).flatMap((node) => node.tasks);
  return [...kept, { tasks: rest, name: `… and ${count(rest.length)} more`, isRest: true }];
}

/// The dependencies between nodes; marks those on the critical path.
function edgesOf(nodes) {
  const owner = new Int32Array(taskCount).fill(-1);
  for (const [number, node] of nodes.entries()) for (const task of node.tasks) owner[task] = number;
  const edges = new Map();
  for (let task = 0; task < needsKnown; task++) {
    const to = owner[task];
    for (let edge = needStart[task]; edge < needStart[task + 1]; edge++) {
      const from = owner[needs[edge]];
      if (from === to || from < 0 || to < 0) continue;
      const key = from * nodes.length + to;
      const known = edges.get(key);
      if (known) known.count += 1;
      else edges.set(key, { from, to, count: 1, isPath: false });
    }
  }
  for (const [place, task] of run.path.entries()) {
    if (place === 0) continue;
    const [from, to] = [owner[run.path[place - 1]], owner[task]];
    const edge = edges.get(from * nodes.length + to);
    if (edge) edge.isPath = true;
    // It has no dependencies, and runs after all others.
    else if (isFinally(task) && from !== to) edges.set(from * nodes.length + to, { from, to, count: 1, isPath: true, isAfter: true });
  }
  return [...edges.values()];
}
