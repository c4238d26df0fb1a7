const chartHeight = 46;
let charts = null;

function sorted(times) {
  const order = Uint32Array.from(times, (_, row) => row);
  return order.sort((one, other) => times[one] - times[other]);
}

/// The sum over time of amounts that each row adds from its start to its end.
function series(starts, startOrder, ends, endOrder, amount) {
  const rowCount = starts.length;
  const times = new Float64Array(2 * rowCount + 1);
  const values = new Float64Array(2 * rowCount + 1);
  let [first, second, size, sum] = [0, 0, 0, 0];
  while (second < rowCount) {
    const isStart = first < rowCount && starts[startOrder[first]] <= ends[endOrder[second]];
    const row = isStart ? startOrder[first++] : endOrder[second++];
    const change = amount(row);
    if (change === 0) continue;
    sum += isStart ? change : -change;
    if (Math.abs(sum) < 1e-6) sum = 0;
    times[++size] = isStart ? starts[row] : ends[row];
    values[size] = sum;
  }
  return { times: times.subarray(0, size + 1), values: values.subarray(0, size + 1) };
}

/// The times in which tasks were ready and waited for a slot, including tasks that still wait.
function allWaits() {
  const [starts, ends] = [[], []];
  for (let row = 0; row < tries.task.length; row++) {
    if (tries.wait[row] === 0) continue;
    starts.push(tries.begin[row] - tries.wait[row]);
    ends.push(tries.begin[row]);
  }
  for (let task = 0; task < needsKnown; task++) {
    if ((states[task] & 15) > 1) continue;
    let ready = Math.max(0, run.driveBegan - run.began, lastTry[task] < 0 ? 0 : endOf(lastTry[task]));
    for (let edge = needStart[task]; edge < needStart[task + 1] && ready < whole; edge++) {
      const need = needs[edge];
      if ((states[need] & 15) < 5) ready = whole;
      else if (lastTry[need] >= 0) ready = Math.max(ready, endOf(lastTry[need]));
    }
    if (ready >= whole) continue;
    starts.push(ready);
    ends.push(whole);
  }
  return { starts, ends };
}

function amountText(value) {
  const rounded = value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
  return rounded % 1 ? rounded.toFixed(1) : count(rounded);
}

function makeCharts() {
  const begins = tries.begin;
  const inOrder = Uint32Array.from(begins, (_, row) => row);
  const ends = Float64Array.from(begins, (begin, row) => begin + tries.time[row]);
  const endOrder = sorted(ends);
  const over = (amount) => series(begins, inOrder, ends, endOrder, amount);
  const runs = (row) => !isApproval(tries.task[row]) && tries.time[row] > 0;
  const running = over((row) => (runs(row) ? 1 : 0));
  const waits = allWaits();
  const waiting = series(waits.starts, sorted(waits.starts), waits.ends, sorted(waits.ends), () => 1);
  const all = [
    { title: "running", text: amountText, lines: [{ name: "running tasks", shade: "live", isFilled: true, ...running }] },
    { title: "waiting", text: amountText, lines: [{ name: "ready tasks", shade: "wait", isFilled: true, ...waiting }] },
  ];
  for (const [number, [name, capacity]] of run.resources.entries()) {
    const amounts = run.demands.map((demand) => demand.reduce((sum, [resource, amount]) => sum + (resource === number ? amount : 0), 0));
    const most = capacity === null ? Infinity : capacity;
    const held = over((row) => (runs(row) ? Math.min(most, amounts[demands[tries.task[row]]]) : 0));
    const lines = held.times.length > 1 ? [{ name: "reserved", shade: "live", isFilled: true, ...held }] : [];
    if (number === 0 && tries.processor.some((time) => time > 0)) {
      lines.push({ name: "busy (measured)", shade: "ink", ...over((row) => (runs(row) ? tries.processor[row] / tries.time[row] : 0)) });
    }
    if (number === 1 && tries.peak.some((bytes) => bytes > 0)) {
      lines.push({ name: "largest process of each task, summed", shade: "ink", ...over((row) => (runs(row) ? tries.peak[row] : 0)) });
    }
    if (lines.length === 0) continue;
    all.push({ title: number === 0 ? "CPUs" : name, capacity, text: number === 1 ? size : amountText, lines });
  }
  return all;
}

function placeAt(line, time) {
  let low = 0;
  let high = line.times.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (line.times[middle] <= time) low = middle;
    else high = middle;
  }
  return low;
}

/// The average in the time of each pixel.
function averages(line, pixels) {
  const means = new Float64Array(pixels);
  const span = (view.to - view.from) / pixels;
  let at = placeAt(line, view.from);
  for (let pixel = 0; pixel < pixels; pixel++) {
    let now = view.from + pixel * span;
    const end = now + span;
    let sum = 0;
    while (at + 1 < line.times.length && line.times[at + 1] < end) {
      const next = Math.max(now, line.times[at + 1]);
      sum += line.values[at] * (next - now);
      now = next;
      at += 1;
    }
    means[pixel] = (sum + line.values[at] * (end - now)) / span;
  }
  return means;
}

function drawUse() {
  if (charts === null) charts = makeCharts();
  const place = surface(find("use"), charts.length * (chartHeight + 14));
  const { pen, width } = place;
  const ink = inks();
  drawTicks(place, ink, false);
  const pixels = Math.max(1, Math.floor(width - gutter));
  for (const [number, chart] of charts.entries()) {
    const bottom = (number + 1) * (chartHeight + 14) - 6;
    const means = chart.lines.map((line) => averages(line, pixels));
    let most = 1e-9;
    for (const line of means) for (const value of line) if (value > most) most = value;
    // A limit far above the use would make the curve flat.
    const hasCapacity = typeof chart.capacity === "number" && chart.capacity > 0 && chart.capacity <= most * 4;
    if (hasCapacity) most = Math.max(most, chart.capacity);
    const y = (value) => bottom - (value / most) * (chartHeight - 4);
    for (const [index, line] of chart.lines.entries()) drawLine(pen, ink, line, means[index], y, bottom);
    pen.lineWidth = 1;
    pen.strokeStyle = ink.dim;
    pen.beginPath();
    pen.moveTo(gutter, bottom + 0.5);
    pen.lineTo(width, bottom + 0.5);
    if (hasCapacity) {
      pen.moveTo(gutter, Math.round(y(chart.capacity)) + 0.5);
      pen.lineTo(width, Math.round(y(chart.capacity)) + 0.5);
    }
    pen.stroke();
    pen.fillStyle = ink.ink;
    pen.fillText(chart.title, 0, bottom - chartHeight + 10, gutter - 8);
    pen.fillStyle = ink.dim;
    pen.fillText(`max ${chart.text(most)}`, 0, bottom - chartHeight + 26, gutter - 8);
  }
}

function drawLine(pen, ink, line, means, y, bottom) {
  pen.beginPath();
  if (line.isFilled) {
    pen.fillStyle = ink[line.shade];
    pen.globalAlpha = 0.55;
    pen.moveTo(gutter, bottom);
    for (let pixel = 0; pixel < means.length; pixel++) {
      pen.lineTo(gutter + pixel, y(means[pixel]));
      pen.lineTo(gutter + pixel + 1, y(means[pixel]));
    }
    pen.lineTo(gutter + means.length, bottom);
    pen.fill();
    pen.globalAlpha = 1;
    return;
  }
  pen.strokeStyle = ink[line.shade];
  pen.lineWidth = 1.5;
  for (let pixel = 0; pixel < means.length; pixel++) {
    if (pixel === 0) pen.moveTo(gutter, y(means[0]));
    pen.lineTo(gutter + pixel + 0.5, y(means[pixel]));
  }
  pen.stroke();
}

function showUse() {
  find("use").addEventListener("pointermove", (event) => {
    const time = timeAt(event);
    if (charts === null || time < view.from) return;
    const chart = charts[Math.floor((event.clientY - event.currentTarget.getBoundingClientRect().top) / (chartHeight + 14))];
    if (!chart) return;
    const parts = chart.lines.map((line) => `${chart.text(line.values[placeAt(line, time)])} ${line.name}`);
    if (typeof chart.capacity === "number") parts.push(`limit ${chart.text(chart.capacity)}`);
    find("under").textContent = `${stamp(time)} into the run · ${chart.title}: ${parts.join(", ")}`;
  });
}
