const places = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].forEach((letter, value) => {
  places[letter.charCodeAt(0)] = value;
});

function* numbersOf(text) {
  let value = 0;
  let scale = 1;
  for (let at = 0; at < text.length; at++) {
    const digit = places[text.charCodeAt(at)];
    value += (digit & 31) * scale;
    if (digit & 32) {
      scale *= 32;
    } else {
      yield value;
      value = 0;
      scale = 1;
    }
  }
}

const halves = (value) => [Math.floor(value / 2), value % 2 === 1];
const signed = (value) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);

const blocks = [...document.querySelectorAll("script.data")].map((block) => JSON.parse(block.textContent));
const run = blocks.shift();
const taskCount = run.tasks;
const names = [];
const states = [];
const notes = [];
const demands = [];
/// The command of each task, cut, and its description; empty where the page had no room for it.
const actions = [];
const words = [];
/// By task: the duration of its last attempt in the previous run; -1 if unknown.
const before = [];
const tries = {
  task: [], begin: [], time: [], wait: [], lane: [], end: [], number: [], wall: [], processor: [],
  peak: [], stood: [], outcome: [],
};
/// By task: its last attempt; -1 for none.
const lastTry = new Int32Array(taskCount).fill(-1);
const tryCounts = new Int32Array(taskCount);
/// The dependencies of a task are `needs[needStart[task] ..< needStart[task + 1]]`.
let needs = new Int32Array(0);
const needStart = new Int32Array(taskCount + 1);
/// The number of tasks whose dependencies are known; the page omits the rest.
let needsKnown = 0;

/// Reads lines that are stored as differences from the line before.
function readLines(lines, text, heads, tailsText) {
  const own = text.split("\n");
  let last = lines.length > 0 ? lines[lines.length - 1] : "";
  let row = 0;
  const tails = numbersOf(tailsText);
  for (const head of numbersOf(heads)) {
    const tail = tails.next().value;
    last = last.slice(0, head) + own[row++] + last.slice(last.length - tail);
    lines.push(last);
  }
}

function readTasks(block) {
  readLines(names, block.names, block.heads, block.tails);
  if (block.actions !== undefined) readLines(actions, block.actions, block.actionHeads, block.actionTails);
  if (block.words !== undefined) readLines(words, block.words, block.wordHeads, block.wordTails);
  while (actions.length < names.length) actions.push("");
  while (words.length < names.length) words.push("");
  for (const state of numbersOf(block.states)) states.push(state);
  for (const note of numbersOf(block.why)) notes.push(note);
  for (const demand of numbersOf(block.demands)) demands.push(demand);
  if (block.before !== undefined) for (const wall of numbersOf(block.before)) before.push(wall - 1);
}

function readTries(block) {
  const first = tries.task.length;
  let task = first > 0 ? tries.task[first - 1] : 0;
  let begin = first > 0 ? tries.begin[first - 1] : 0;
  for (const change of numbersOf(block.tries)) tries.task.push((task += signed(change)));
  for (const change of numbersOf(block.begins)) tries.begin.push((begin += change));
  for (const value of numbersOf(block.times)) tries.time.push(value);
  for (const value of numbersOf(block.waits)) tries.wait.push(value);
  for (const value of numbersOf(block.lanes)) tries.lane.push(value);
  for (const value of numbersOf(block.ends)) tries.end.push(value);
  for (const value of numbersOf(block.numbers)) tries.number.push(value);
  let row = first;
  for (const value of numbersOf(block.walls)) tries.wall.push(tries.time[row++] + signed(value));
  for (const value of numbersOf(block.processors)) tries.processor.push(value / 10);
  for (const value of numbersOf(block.peaks)) tries.peak.push(value * 65536);
  for (const value of numbersOf(block.stood)) tries.stood.push(value);
  for (const value of numbersOf(block.outcomes || "")) tries.outcome.push(value);
  while (tries.outcome.length < tries.task.length) tries.outcome.push(0);
  for (row = first; row < tries.task.length; row++) {
    lastTry[tries.task[row]] = row;
    tryCounts[tries.task[row]] += 1;
  }
}

function readNeeds(all) {
  const list = [];
  for (const block of all) {
    const numbers = numbersOf(block.needs);
    const next = () => numbers.next();
    for (let step = next(); !step.done; step = next()) {
      let before = 0;
      for (let count = step.value, place = 0; place < count; place++) {
        const [gap, hasMore] = halves(next().value);
        let need = place === 0 ? needsKnown - signed(gap) : before + gap;
        for (let more = hasMore ? next().value : 0; more >= 0; more--) list.push(need++);
        before = need - 1;
      }
      needStart[++needsKnown] = list.length;
    }
  }
  needs = Int32Array.from(list);
  needStart.fill(needs.length, needsKnown + 1);
}

for (const block of blocks) {
  if (block.names !== undefined) readTasks(block);
  if (block.tries !== undefined) readTries(block);
}
readNeeds(blocks.filter((block) => block.needs !== undefined));
const onPath = new Uint8Array(taskCount);
for (const task of run.path) onPath[task] = 1;
/// The dependents of a task, in the same form.
const dependentStart = new Int32Array(taskCount + 1);
for (const need of needs) dependentStart[need + 1] += 1;
for (let task = 0; task < taskCount; task++) dependentStart[task + 1] += dependentStart[task];
const dependents = new Int32Array(needs.length);
{
  const cursor = dependentStart.slice();
  for (let task = 0; task < needsKnown; task++) {
    for (let edge = needStart[task]; edge < needStart[task + 1]; edge++) dependents[cursor[needs[edge]]++] = task;
  }
}
