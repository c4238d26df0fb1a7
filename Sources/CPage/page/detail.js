const mostLinks = 12;
let opener = null;
const onSelect = [];
let selected = -1;

function list(title, tasks, total) {
  if (total === 0) return [];
  const items = tasks.map((task) => make("li", "", sign(stateShade(task)), link(task)));
  if (total > tasks.length) items.push(make("li", "", `… and ${count(total - tasks.length)} more`));
  return [make("h3", "", title), make("ul", "", ...items)];
}

function triesOf(task) {
  const rows = [];
  for (let row = 0; row < tries.task.length; row++) {
    if (tries.task[row] === task) rows.push(row);
  }
  return rows;
}

function describe(row) {
  const outcome = run.outcomes[tries.outcome[row]];
  const parts = [
    `attempt ${tries.number[row]} ${endWords[tries.end[row]]}${outcome ? `: ${outcome}` : ""}`, `started ${duration(tries.begin[row])} into the run`,
    `took ${took(tries.wall[row])}`,
  ];
  if (tries.wait[row] > 0) parts.push(`waited ${took(tries.wait[row])} before`);
  if (tries.stood[row] > 0) parts.push(`suspended for ${took(tries.stood[row])}`);
  if (tries.processor[row] > 0) parts.push(`${took(tries.processor[row])} of CPU time`);
  if (tries.peak[row] > 0) parts.push(`peak memory ${size(tries.peak[row])}`);
  parts.push(laneName(tries.lane[row]));
  return parts.join(" · ");
}

function laneName(lane) {
  const [host, worker, place] = run.lanes[lane];
  const name = worker < 0 ? "no worker" : `worker ${worker}`;
  return (host ? `${host} ` : "") + name + (place > 0 ? ` (${place + 1})` : "");
}

/// - Parameter takesFocus: false if the reader steps from task to task.
function showDetail(task, takesFocus = true) {
  const panel = find("detail");
  if (panel.hidden) opener = document.activeElement;
  selected = task;
  const close = button("Close", "close", closeDetail);
  const state = make("p", "", stateOf(task));
  if (note(task)) state.append(` · ${note(task)}`);
  if (isReused(task)) state.append(" · already done in an earlier session");
  if (onPath[task]) state.append(" · on the critical path");
  const rows = triesOf(task);
  const lines = rows.slice(-mostLinks).map((row) => make("li", "", describe(row)));
  const needed = needs.subarray(needStart[task], needStart[task + 1]);
  const behind = dependents.subarray(dependentStart[task], dependentStart[task + 1]);
  const failure = find(`failure-${task}`);
  const jump = make("p", "");
  if (failure) {
    const anchor = make("a", "", "output");
    anchor.href = `#failure-${task}`;
    anchor.addEventListener("click", () => {
      const output = failure.querySelector("details");
      if (output) output.open = true;
    });
    jump.append(anchor);
  }
  if (lastTry[task] >= 0) {
    const [begin, end] = [tries.begin[lastTry[task]], endOf(lastTry[task])];
    const space = Math.max(end - begin, 100);
    if (failure) jump.append(" · ");
    jump.append(button("show in the timeline", "link", () => {
      show(begin - space, end + space);
      find("lanes").scrollIntoView({ block: "nearest" });
    }));
  }
  panel.replaceChildren(
    close, make("h2", "mono", names[task]), ...(words[task] ? [make("p", "", words[task])] : []), state, jump,
    ...(actions[task] ? [make("h3", "", isApproval(task) ? "Question" : "Command"), make("pre", "", actions[task])] : []),
    ...(lines.length > 0 ? [make("h3", "", "Attempts"), make("ul", "", ...lines)] : []),
    ...list("Dependencies", [...needed.subarray(0, mostLinks)], needed.length),
    ...list("Dependents", [...behind.subarray(0, mostLinks)], behind.length));
  panel.hidden = false;
  panel.scrollTop = 0;
  if (takesFocus) close.focus({ preventScroll: true });
  for (const listener of onSelect) listener(task);
}

function closeDetail() {
  find("detail").hidden = true;
  selected = -1;
  if (opener && opener.isConnected) opener.focus({ preventScroll: true });
  for (const listener of onSelect) listener(-1);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !find("detail").hidden) closeDetail();
});
