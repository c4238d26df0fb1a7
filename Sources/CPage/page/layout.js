const box = { width: 196, height: 44, across: 56, down: 12, bend: 8 };
const mostBends = 2000;

/// The column of each node. Groups may form cycles; edges that lead back are ignored.
function columnsOf(nodes, edges) {
  const next = nodes.map(() => []);
  for (const edge of edges) next[edge.from].push(edge);
  const mark = new Uint8Array(nodes.length);
  const order = [];
  for (let start = 0; start < nodes.length; start++) {
    if (mark[start]) continue;
    const path = [[start, 0]];
    mark[start] = 1;
    while (path.length > 0) {
      const top = path[path.length - 1];
      const edge = next[top[0]][top[1]++];
      if (edge === undefined) {
        mark[top[0]] = 2;
        order.push(path.pop()[0]);
      } else if (mark[edge.to] === 0) {
        mark[edge.to] = 1;
        path.push([edge.to, 0]);
      } else {
        edge.isBack = mark[edge.to] === 1;
      }
    }
  }
  const column = new Int32Array(nodes.length);
  const spread = () => {
    for (const node of order) {
      for (const edge of next[node]) {
        if (!edge.isBack) column[edge.to] = Math.max(column[edge.to], column[node] + 1);
      }
    }
  };
  order.reverse();
  spread();
  // `finally` tasks are to the right of all others.
  const isLast = (node) => node.tasks.every(isFinally);
  const others = nodes.flatMap((node, number) => (isLast(node) ? [] : [column[number]]));
  const behind = others.length > 0 ? Math.max(...others) + 1 : 0;
  for (const [number, node] of nodes.entries()) if (isLast(node)) column[number] = Math.max(column[number], behind);
  spread();
  return column;
}

/// Sets `x` and `y` of each node, and the `way` of each edge.
function arrangeGraph(nodes, edges) {
  const column = columnsOf(nodes, edges);
  const columns = [];
  const put = (item, place) => {
    (columns[place] ||= []).push(item);
    return item;
  };
  const items = nodes.map((node, number) => put({ node, before: [], after: [], height: box.height }, column[number]));
  const bends = edges.reduce((sum, edge) => sum + Math.max(0, Math.abs(column[edge.to] - column[edge.from]) - 1), 0);
  for (const edge of edges) {
    const way = [items[edge.from]];
    if (!edge.isBack && bends <= mostBends) {
      for (let at = column[edge.from] + 1; at < column[edge.to]; at++) {
        way.push(put({ before: [], after: [], height: box.bend }, at));
      }
    }
    way.push(items[edge.to]);
    edge.way = way;
    if (edge.isBack) continue;
    for (let at = 1; at < way.length; at++) {
      way[at].before.push(way[at - 1]);
      way[at - 1].after.push(way[at]);
    }
  }
  for (const list of columns) list.forEach((item, place) => { item.place = place; });
  const pull = (list, side) => {
    for (const item of list) {
      const others = item[side];
      item.pull = others.length === 0 ? item.place : others.reduce((sum, other) => sum + other.place, 0) / others.length;
    }
    list.sort((one, other) => one.pull - other.pull || one.place - other.place);
    list.forEach((item, place) => { item.place = place; });
  };
  for (let round = 0; round < 4; round++) {
    for (const list of columns) pull(list, "before");
    for (const list of columns.slice().reverse()) pull(list, "after");
  }
  const heights = columns.map((list) => list.reduce((sum, item) => sum + item.height + box.down, -box.down));
  const height = Math.max(0, ...heights);
  for (const [number, list] of columns.entries()) {
    // In a graph that is higher than a screen, all columns start at the top.
    let y = height > 700 ? 0 : (height - heights[number]) / 2;
    for (const item of list) {
      item.x = number * (box.width + box.across);
      item.y = y;
      y += item.height + box.down;
      if (item.node) Object.assign(item.node, { x: item.x, y: item.y });
    }
  }
  return { width: columns.length * (box.width + box.across) - box.across, height };
}

/// A line from the right side of a dependency to the left side of its dependent.
function lineOf(edge) {
  const middle = (item) => item.y + item.height / 2;
  const [first, ...rest] = edge.way;
  let [x, y] = [first.x + box.width, middle(first)];
  let line = `M${x},${y}`;
  for (const [place, item] of rest.entries()) {
    const isLast = place === rest.length - 1;
    const reach = edge.isBack ? box.across : Math.max(20, (item.x - x) / 2);
    line += `C${x + reach},${y} ${item.x - reach},${middle(item)} ${item.x},${middle(item)}`;
    [x, y] = [item.x, middle(item)];
    if (!isLast) {
      x += box.width;
      line += `L${x},${y}`;
    }
  }
  return line;
}
