const shape = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

/// A bar with the shares of states among tasks.
function sharesOf(tasks) {
  const counts = { bad: 0, odd: 0, live: 0, good: 0, rest: 0 };
  for (const task of tasks) counts[stateShade(task)] += 1;
  const bar = shape("svg", { class: "shares", viewBox: `0 0 100 4`, preserveAspectRatio: "none" });
  const present = Object.entries(counts).filter(([, number]) => number > 0);
  // Even a small share must be visible.
  const widths = present.map(([, number]) => Math.max(2, (number / tasks.length) * 100));
  const sum = widths.reduce((one, other) => one + other, 0);
  let x = 0;
  for (const [place, [shade]] of present.entries()) {
    const width = (widths[place] / sum) * 100;
    bar.append(shape("rect", { class: shade, x, y: 0, width, height: 4 }));
    x += width;
  }
  return { bar, counts };
}

function nodeView(node) {
  const { bar, counts } = sharesOf(node.tasks);
  const isPath = node.tasks.some((task) => onPath[task]);
  const place = button("", `node${isPath ? " path" : ""}${node.isTask ? "" : " group"}`, () => {
    if (node.isTask) showDetail(node.tasks[0]);
    else if (node.group) unfold(node.group);
    else showRest(node.tasks);
  });
  const words = Object.entries({ bad: "failed", odd: "stopped or failed (allowed)", live: "running", rest: "not run" })
    .filter(([shade]) => counts[shade] > 0).map(([shade, word]) => `${count(counts[shade])} ${word}`);
  const label = make("span", "mono name", fitted(node.name, 22));
  if (node.isTask) {
    const task = node.tasks[0];
    const time = lastTry[task] < 0 ? "" : ` ${took(tries.wall[lastTry[task]])}`;
    place.append(label, make("span", "", sign(stateShade(task)), stateWord(task) + time));
  } else {
    const total = count(node.tasks.length);
    place.append(label, make("span", "", words.length > 0 ? `${total} tasks, ${words.join(", ")}` : `${total} tasks`), bar);
  }
  place.title = node.isTask ? node.name : node.group ? `expand ${node.name}` : "show them in the table";
  Object.assign(place.style, {
    left: `${node.x}px`, top: `${node.y}px`, width: `${box.width}px`, height: `${box.height}px`,
  });
  return place;
}

function drawGraph() {
  const nodes = visibleNodes();
  const edges = edgesOf(nodes);
  const { width, height } = arrangeGraph(nodes, edges);
  const lines = shape("svg", { width: width + 8, height: height + 8, class: "lines", "aria-hidden": "true" });
  for (const edge of edges.sort((one, other) => one.isPath - other.isPath)) {
    lines.append(shape("path", { d: lineOf(edge), class: `${edge.isPath ? "path" : ""}${edge.isBack || edge.isAfter ? " back" : ""}` }));
  }
  const plane = find("plane");
  plane.replaceChildren(lines, ...nodes.map(nodeView));
  Object.assign(plane.style, { width: `${width + 8}px`, height: `${height + 8}px` });
  const chips = [...unfolded].filter((group) => group !== root).map((group) => {
    const chip = button(`collapse ${group.name}`, "mono", () => fold(group));
    return chip;
  });
  find("folds").replaceChildren(...chips);
}

function unfold(group) {
  unfolded.add(group);
  drawGraph();
  const chip = find("folds").lastElementChild;
  if (chip) chip.focus({ preventScroll: true });
}

/// Collapses a group and all groups in it.
function fold(group) {
  for (const other of [...unfolded]) {
    for (let above = other; above !== null; above = above.parent) if (above === group) unfolded.delete(other);
  }
  drawGraph();
  find("graph").focus({ preventScroll: true });
}

function showRest(tasks) {
  const group = names[tasks[0]].split(/[[/]/)[0];
  find("find").value = tasks.every((task) => names[task].startsWith(group)) ? group : "";
  arrange();
  find("tasks").scrollIntoView();
  find("find").focus({ preventScroll: true });
}

function showGraph() {
  makeGroups();
  if (needsKnown < taskCount) {
    find("graph-note").textContent = needsKnown === 0
      ? "This page has no room for the dependencies."
      : `This page has no room for the dependencies of ${count(taskCount - needsKnown)} tasks.`;
  }
  drawGraph();
}
