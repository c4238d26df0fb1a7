const gutter = 104;
const lastEnd = tries.begin.reduce((most, begin, row) => Math.max(most, begin + tries.time[row]), 0);
const whole = Math.max(lastEnd, run.ended - run.began, 1);
const view = { from: 0, to: whole };
const leastSpan = Math.min(50, whole);
let drawers = [];
let isDue = false;

function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    for (const draw of drawers) draw();
  });
}

function show(from, to) {
  const span = Math.min(whole, Math.max(leastSpan, to - from));
  view.from = Math.min(Math.max(0, from), whole - span);
  view.to = view.from + span;
  find("span").textContent =
    span >= whole ? `all ${duration(whole)}` : `${stamp(view.from)} to ${stamp(view.to)} of ${duration(whole)}`;
  find("zoom-out").disabled = find("zoom-all").disabled = span >= whole;
  find("zoom-in").disabled = span <= leastSpan;
  redraw();
}

/// - Parameter at: the fixed point, from 0 at the left to 1.
function zoom(factor, at = 0.5) {
  const fixed = view.from + (view.to - view.from) * at;
  const span = Math.min(whole, Math.max(leastSpan, (view.to - view.from) * factor));
  show(fixed - span * at, fixed + span * (1 - at));
}

const move = (share) => show(view.from + (view.to - view.from) * share, view.to + (view.to - view.from) * share);
const stamp = (time) => (view.to - view.from < 10000 && time > 0 ? `${(time / 1000).toFixed(2)}s` : duration(time));

/// Fits a canvas to the width of its parent and to the pixels of the screen.
function surface(canvas, height) {
  const width = canvas.parentElement.clientWidth;
  const density = Math.min(window.devicePixelRatio || 1, height > 2000 ? 1 : 2);
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return { pen, width, height, scale: (width - gutter) / (view.to - view.from) };
}

function inks() {
  const style = getComputedStyle(document.documentElement);
  const ink = {};
  for (const name of ["paper", "ink", "dim", "line", "shade", "good", "bad", "odd", "live", "rest", "wait"]) {
    ink[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return ink;
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000, 300000, 600000, 1800000,
  3600000, 7200000, 21600000, 43200000, 86400000, 172800000, 604800000,
];

function ticks(width) {
  const most = Math.max(2, Math.floor((width - gutter) / 90));
  const span = view.to - view.from;
  const step = steps.find((step) => span / step <= most) || span / most;
  const all = [];
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const places = step < 10 ? 3 : step < 100 ? 2 : 1;
    const text = step < 1000 ? `${(time / 1000).toFixed(places)}s` : duration(time).replace(/\.0s$/, "s");
    all.push([time, time === 0 ? "0" : text]);
  }
  return all;
}

function drawTicks(place, ink, hasText) {
  const { pen, width, height, scale } = place;
  pen.strokeStyle = ink.line;
  pen.fillStyle = ink.dim;
  pen.lineWidth = 1;
  for (const [time, text] of ticks(width)) {
    const x = Math.round(gutter + (time - view.from) * scale) + 0.5;
    pen.beginPath();
    pen.moveTo(x, hasText ? height - 6 : 0);
    pen.lineTo(x, height);
    pen.stroke();
    if (hasText) {
      pen.textAlign = x + 30 > width ? "right" : "center";
      pen.fillText(text, Math.min(x, width), height / 2 - 3);
    }
  }
  pen.textAlign = "left";
}

function drawAxis() {
  drawTicks(surface(find("axis"), 24), inks(), true);
}

function timeAt(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return view.from + ((event.clientX - box.left - gutter) / (box.width - gutter)) * (view.to - view.from);
}

/// Zoom and move by pointer and by keys.
function steer(canvas) {
  let start = null;
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.004), (timeAt(event) - view.from) / (view.to - view.from));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => {
    zoom(0.4, (timeAt(event) - view.from) / (view.to - view.from));
  });
  canvas.addEventListener("pointerdown", (event) => {
    start = { x: event.clientX, from: view.from, to: view.to, isMoved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (start === null || event.buttons !== 1) return;
    const way = event.clientX - start.x;
    if (Math.abs(way) > 3 && !start.isMoved) {
      start.isMoved = true;
      canvas.setPointerCapture(event.pointerId);
    }
    if (!start.isMoved) return;
    const share = (way / (canvas.clientWidth - gutter)) * (start.to - start.from);
    show(start.from - share, start.to - share);
  });
  canvas.wasMoved = () => start !== null && start.isMoved;
  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
      "-": () => zoom(2), 0: () => show(0, whole), Home: () => show(0, whole),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

function showTime() {
  drawers = [drawAxis, drawLanes, drawUse];
  find("zoom-in").addEventListener("click", () => zoom(0.5));
  find("zoom-out").addEventListener("click", () => zoom(2));
  find("zoom-all").addEventListener("click", () => show(0, whole));
  find("zoom-drive").hidden = run.drive < 2;
  find("zoom-drive").addEventListener("click", () => show(run.driveBegan - run.began, whole));
  for (const id of ["lanes", "use"]) steer(find(id));
  new ResizeObserver(redraw).observe(find("time"));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    // Printing does not wait for the next frame.
    matchMedia(query).addEventListener("change", () => drawers.forEach((draw) => draw()));
  }
  onSelect.push(redraw);
  showLanes();
  showUse();
  show(0, whole);
}
