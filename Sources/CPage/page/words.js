const stateWords = [
  "pending", "pending", "pending", "running", "suspended", "succeeded", "up to date", "failed (allowed)",
  "failed", "skipped", "cancelled",
];
const stateShades = ["rest", "rest", "rest", "live", "odd", "good", "good", "odd", "bad", "rest", "odd"];
const signs = { good: "✔", bad: "✘", odd: "!", live: "▶", rest: "–" };
const endWords = [
  "running", "succeeded", "failed", "failed (allowed)", "failed and was retried", "cancelled", "interrupted",
  "lost",
];
const endShades = ["live", "good", "bad", "odd", "bad", "odd", "odd", "odd"];
const isReused = (task) => (states[task] & 16) !== 0;
const isApproval = (task) => (states[task] & 32) !== 0;
/// Cuts a name to a number of letters, but keeps the values of a matrix task, which identify it.
function fitted(name, letters) {
  if (name.length <= letters) return name;
  const bracket = name.indexOf("[");
  if (bracket < 0) {
    const tail = Math.floor(letters / 2);
    return `${name.slice(0, letters - tail - 1)}…${name.slice(name.length - tail)}`;
  }
  const values = name.slice(bracket).replace(/[^[,=]+=/g, "");
  const head = letters - values.length;
  if (head >= bracket) return name.slice(0, bracket) + values;
  return head > 1 ? `${name.slice(0, head - 1)}…${values}` : `…${values.slice(1 - letters)}`;
}

const isFinally = (task) => (states[task] & 128) !== 0;
const isCutShort = (task) => (states[task] & 64) !== 0 && (states[task] & 15) < 3;
const stateWord = (task) => (isCutShort(task) ? "interrupted" : stateWords[states[task] & 15]);
const stateShade = (task) => (isCutShort(task) ? "odd" : stateShades[states[task] & 15]);
const note = (task) => run.notes[notes[task]];

const two = (value) => String(value).padStart(2, "0");
const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

function duration(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (milliseconds < 1000) return `0.${two(Math.floor(Math.max(0, milliseconds) / 10))}s`;
  if (seconds < 60) return `${seconds}.${Math.floor((milliseconds % 1000) / 100)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
  return `${Math.floor(seconds / 86400)}d${two(Math.floor(seconds / 3600) % 24)}h`;
}

/// A duration, in milliseconds if it is short.
function took(milliseconds) {
  if (milliseconds >= 100) return duration(milliseconds);
  return milliseconds < 1 ? "<1ms" : `${Math.round(milliseconds)}ms`;
}

function size(bytes) {
  let unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    unit += 1;
  }
  const shown = unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1);
  return `${shown} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit]}`;
}

const find = (id) => document.getElementById(id);

function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function button(text, className, action) {
  const element = make("button", className, text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

function sign(shade) {
  const element = make("i", `sign ${shade}`, signs[shade]);
  element.setAttribute("aria-hidden", "true");
  return element;
}

const stateOf = (task) => make("span", "word", sign(stateShade(task)), stateWord(task));
const link = (task) => button(names[task], "link mono", () => showDetail(task));
