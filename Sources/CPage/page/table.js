const rowsShown = 100;
/// A printed page shows more rows, because nobody can turn its pages.
const rowsPrinted = 2000;
const natural = new Intl.Collator("en", { numeric: true });
const last = (column) => (task) => (lastTry[task] < 0 ? -1 : tries[column][lastTry[task]]);
const byState = [8, 7, 10, 4, 3, 0, 1, 2, 9, 5, 6];
/// The change of a task's duration since the previous run.
const change = (task) =>
  (before[task] < 0 || lastTry[task] < 0 ? -Infinity : tries.wall[lastTry[task]] - before[task]);

function changeText(task) {
  const value = change(task);
  if (value === -Infinity || Math.abs(value) < 5) return "";
  return `${value < 0 ? "−" : "+"}${took(Math.abs(value))}`;
}

/// The node of a task's last attempt; lanes are sorted by node.
function machineOf(task) {
  if (lastTry[task] < 0) return "";
  const [host, worker] = run.lanes[tries.lane[lastTry[task]]];
  return host || (worker < 0 ? "" : "this machine");
}

const columns = [
  { title: "task", key: null, cell: link },
  { title: "state", key: (task) => byState.indexOf(states[task] & 15), cell: stateOf },
  { title: "started", key: last("begin"), show: (value) => `+${duration(value)}`, isNumber: true },
  { title: "duration", key: last("wall"), show: took, isNumber: true, isDown: true },
  ...(before.length === 0 ? [] : [
    { title: "change", key: change, cell: (task) => changeText(task), isNumber: true, isDown: true },
  ]),
  { title: "waited", key: last("wait"), show: took, isNumber: true, isDown: true, hidesNone: true },
  { title: "CPU time", key: last("processor"), show: took, isNumber: true, isDown: true, hidesNone: true },
  { title: "memory", key: last("peak"), show: size, isNumber: true, isDown: true, hidesNone: true },
  ...(run.lanes.every(([host]) => !host) ? [] : [
    { title: "node", key: last("lane"), cell: machineOf },
  ]),
  { title: "attempts", key: (task) => tryCounts[task] || -1, show: count, isNumber: true, isDown: true },
  { title: "why", key: null, cell: (task) => note(task), className: "why" },
];
const filters = [
  ["all tasks", () => true],
  ["failures", (task) => (states[task] & 15) === 8],
  ["not succeeded", (task) => stateShade(task) !== "good"],
  ["retried", (task) => tryCounts[task] > 1],
  ["on the critical path", (task) => onPath[task] === 1],
  ["already done", isReused],
  ...[...new Set(stateWords), "interrupted"]
    .filter((word) => word !== "failed")
    .map((word) => [word, (task) => stateWord(task) === word]),
];
const shown = { order: [], page: 0, column: -1, isDown: false };

function arrange() {
  const words = find("find").value.toLowerCase().split(/\s+/).filter((word) => word);
  const keeps = filters[find("which").value][1];
  shown.order = [];
  for (let task = 0; task < taskCount; task++) {
    if (!keeps(task)) continue;
    if (words.length > 0) {
      const name = names[task].toLowerCase();
      if (!words.every((word) => name.includes(word))) continue;
    }
    shown.order.push(task);
  }
  if (shown.column >= 0) {
    const { key } = columns[shown.column];
    const way = shown.isDown ? -1 : 1;
    if (key === null) {
      shown.order.sort((one, other) => way * natural.compare(names[one], names[other]));
    } else {
      const keys = Float64Array.from({ length: taskCount }, () => 0);
      for (const task of shown.order) keys[task] = key(task);
      shown.order.sort((one, other) => way * (keys[one] === keys[other] ? 0 : keys[one] - keys[other]) || one - other);
    }
  }
  shown.page = 0;
  fillTable();
}

function fillTable(first = shown.page * rowsShown, most = rowsShown) {
  const rows = shown.order.slice(first, first + most).map((task) =>
    make("tr", "", ...columns.map((column) => {
      const cell = make("td", column.isNumber ? "n" : column.className);
      if (column.cell) {
        cell.append(column.cell(task));
      } else {
        const value = column.key(task);
        if (value > 0 || (value === 0 && !column.hidesNone)) cell.append(column.show(value));
      }
      return cell;
    })));
  find("table").tBodies[0].replaceChildren(...rows);
  const total = shown.order.length;
  const end = Math.min(first + most, total);
  find("shown").textContent =
    total === 0 ? "no tasks" : `${count(first + 1)} to ${count(end)} of ${count(total)}`;
  find("printed").textContent =
    end - first < total ? `This table shows ${count(end - first)} of ${count(total)} tasks.` : "";
  find("before").disabled = first === 0;
  find("after").disabled = end === total;
  for (const [place, head] of [...find("table").tHead.rows[0].cells].entries()) {
    if (place === shown.column) {
      head.setAttribute("aria-sort", shown.isDown ? "descending" : "ascending");
    } else {
      head.removeAttribute("aria-sort");
    }
    const arrow = head.querySelector("i");
    if (arrow) arrow.textContent = place === shown.column ? (shown.isDown ? " ▼" : " ▲") : "";
  }
}

function sortBy(place) {
  if (shown.column === place) {
    shown.isDown = !shown.isDown;
  } else {
    shown.column = place;
    shown.isDown = columns[place].isDown === true;
  }
  arrange();
}

function showTable() {
  const head = find("table").tHead.rows[0];
  for (const [place, column] of columns.entries()) {
    const cell = make("th", column.isNumber ? "n" : "");
    cell.scope = "col";
    if (column.title === "why") {
      cell.append(column.title);
    } else {
      const arrow = make("i", "");
      arrow.setAttribute("aria-hidden", "true");
      const press = button(column.title, "", () => sortBy(place));
      press.append(arrow);
      cell.append(press);
    }
    head.append(cell);
  }
  for (const [place, [title, keeps]] of filters.entries()) {
    let number = 0;
    for (let task = 0; task < taskCount; task++) if (keeps(task)) number += 1;
    if (place > 0 && number === 0) continue;
    const option = make("option", "", `${title} (${count(number)})`);
    option.value = place;
    find("which").append(option);
  }
  find("which").addEventListener("change", arrange);
  find("find").addEventListener("input", arrange);
  const turn = (pages) => () => {
    shown.page += pages;
    fillTable();
  };
  window.addEventListener("beforeprint", () => fillTable(0, rowsPrinted));
  window.addEventListener("afterprint", () => fillTable());
  find("before").addEventListener("click", turn(-1));
  find("after").addEventListener("click", turn(1));
  arrange();
}
