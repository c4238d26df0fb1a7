const rowsOf = run.lanes.map(() => []);
for (let row = 0; row < tries.task.length; row++) rowsOf[tries.lane[row]].push(row);
const laneHeight = Math.max(
  1, Math.min(run.lanes.length > 200 ? 4 : run.lanes.length > 32 ? 8 : 20, Math.floor(8000 / run.lanes.length)));
const endOf = (row) => tries.begin[row] + tries.time[row];
const pathRows = run.path.map((task) => lastTry[task]).filter((row) => row >= 0);
const pathPlace = new Map(pathRows.map((row, place) => [row, place]));

/// The position of the first of these rows that ends at `time` or later.
function firstFrom(rows, time) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(rows[middle]) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Failures are drawn last, so that they are visible where many attempts share a pixel.
const layers = ["good", "live", "odd", "bad"];
const layerOf = (row) => layers.indexOf(endShades[tries.end[row]]);

function drawLanes() {
  const canvas = find("lanes");
  const place = surface(canvas, Math.max(laneHeight, run.lanes.length * laneHeight));
  const { pen, width, scale } = place;
  const ink = inks();
  const x = (time) => gutter + (time - view.from) * scale;
  const inset = laneHeight > 6 ? 2 : laneHeight > 3 ? 1 : 0;
  const onlyPath = find("path-only").checked;
  drawTicks(place, ink, false);
  pen.save();
  pen.beginPath();
  pen.rect(gutter, 0, width - gutter, place.height);
  pen.clip();
  for (const [layer, shade] of layers.entries()) {
    pen.fillStyle = ink[shade];
    pen.strokeStyle = ink.dim;
    for (const [lane, rows] of rowsOf.entries()) {
      let right = -1;
      for (let at = firstFrom(rows, view.from); at < rows.length; at++) {
        const row = rows[at];
        if (tries.begin[row] > view.to) break;
        if (layerOf(row) !== layer) continue;
        const left = x(tries.begin[row]);
        const end = Math.max(left + 1, x(endOf(row)) - (scale > 0.05 ? 0.5 : 0));
        if (end <= right) continue;
        right = Math.ceil(end);
        const top = lane * laneHeight + (shade === "bad" ? 0 : inset);
        const high = laneHeight - (shade === "bad" ? 1 : 2 * inset) || 1;
        pen.globalAlpha = onlyPath && !onPath[tries.task[row]] ? 0.2 : 1;
        if (isApproval(tries.task[row])) {
          // An approval does not run anything: it waits for an answer.
          pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, end - left - 1), Math.max(1, high - 1));
        } else {
          pen.fillRect(left, top, end - left, high);
          if (shade === "odd") stripe(pen, ink.paper, left, top, end - left, high);
        }
      }
    }
  }
  pen.globalAlpha = 1;
  drawPath(pen, ink, x);
  if (selected >= 0 && lastTry[selected] >= 0) drawSelected(pen, ink, x, lastTry[selected]);
  drawNames(pen, ink, x, width, inset);
  pen.restore();
  drawLabels(pen, ink);
}

/// Stripes mark interrupted, cancelled and allowed failures for readers who do not see the color.
function stripe(pen, color, left, top, wide, high) {
  if (wide < 6) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, high);
  pen.clip();
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (let at = Math.max(gutter, left) - high; at < left + wide && at < 8000; at += 7) {
    pen.moveTo(at, top + high);
    pen.lineTo(at + high, top);
  }
  pen.stroke();
  pen.restore();
}

/// Lines for waiting times are at the lower edge of a lane, where there are no names.
const edgeOf = (row) => tries.lane[row] * laneHeight + (laneHeight > 6 ? laneHeight - 1 : laneHeight / 2);

/// Frames the tasks of the critical path and connects them; a line is dashed while a task waited.
function drawPath(pen, ink, x) {
  pen.strokeStyle = ink.ink;
  let before = null;
  for (const row of pathRows) {
    if (endOf(row) >= view.from && tries.begin[row] <= view.to) {
      const left = Math.max(-10, x(tries.begin[row]));
      const wide = Math.min(20000, x(endOf(row))) - left;
      pen.lineWidth = laneHeight > 6 ? 2 : 1;
      if (wide > 2) {
        pen.strokeRect(left + 1, tries.lane[row] * laneHeight + 1, wide - 2, Math.max(1, laneHeight - 2));
      } else {
        pen.fillStyle = ink.ink;
        pen.fillRect(left, tries.lane[row] * laneHeight, Math.max(1, wide), laneHeight);
      }
    }
    if (before !== null && tries.begin[row] >= view.from && endOf(before) <= view.to) {
      const [from, to] = [x(endOf(before)), x(tries.begin[row])];
      if (to - from > 1 || tries.lane[before] !== tries.lane[row]) {
        pen.lineWidth = 1;
        pen.setLineDash(to - from > 3 ? [3, 3] : []);
        pen.beginPath();
        pen.moveTo(from, edgeOf(before));
        pen.lineTo(from, edgeOf(row));
        pen.lineTo(to, edgeOf(row));
        pen.stroke();
        pen.setLineDash([]);
      }
    }
    before = row;
  }
}

function drawSelected(pen, ink, x, row) {
  const top = tries.lane[row] * laneHeight;
  const left = x(tries.begin[row]);
  pen.strokeStyle = ink.ink;
  pen.lineWidth = 1.5;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(Math.max(-10, x(tries.begin[row] - tries.wait[row])), edgeOf(row));
  pen.lineTo(left, edgeOf(row));
  pen.stroke();
  pen.setLineDash([]);
  pen.fillStyle = ink.ink;
  pen.beginPath();
  pen.moveTo(left - 5, top);
  pen.lineTo(left + 5, top);
  pen.lineTo(left, top + 7);
  pen.fill();
  pen.lineWidth = 3;
  pen.strokeRect(left, top, Math.max(2, x(endOf(row)) - left), laneHeight);
}

/// Draws names where there is room for a few letters.
function drawNames(pen, ink, x, width, inset) {
  if (laneHeight < 12) return;
  pen.font = "11px system-ui, sans-serif";
  for (const [lane, rows] of rowsOf.entries()) {
    for (let at = firstFrom(rows, view.from); at < rows.length; at++) {
      const row = rows[at];
      if (tries.begin[row] > view.to) break;
      const left = Math.max(gutter, x(tries.begin[row])) + 5;
      const room = Math.min(width, x(endOf(row))) - left - 4;
      if (room < 36) continue;
      const name = names[tries.task[row]];
      const letters = Math.floor(room / 6.2);
      const text = fitted(name, letters);
      const high = lane * laneHeight + laneHeight / 2 + 0.5;
      if (endShades[tries.end[row]] === "odd") {
        pen.fillStyle = ink.odd;
        pen.fillRect(left - 3, lane * laneHeight + inset + 1, Math.min(room, pen.measureText(text).width) + 6, laneHeight - 2 * inset - 2);
      }
      const shade = endShades[tries.end[row]];
      pen.fillStyle = isApproval(tries.task[row]) || shade === "good" ? ink.ink : shade === "odd" ? "#000" : ink.paper;
      pen.fillText(text, left, high, room);
    }
  }
  pen.font = "12px system-ui, sans-serif";
}

/// Draws as many labels as fit; the first lane of a node has its name.
function drawLabels(pen, ink) {
  const each = Math.ceil(14 / laneHeight);
  for (const [lane, [host, worker, place]] of run.lanes.entries()) {
    const isFirst = lane === 0 || run.lanes[lane - 1][0] !== host;
    if (!isFirst && lane % each !== 0) continue;
    pen.fillStyle = isFirst && host ? ink.ink : ink.dim;
    const name = worker < 0 ? "no worker" : place > 0 ? `(${place + 1})` : `worker ${worker}`;
    pen.fillText(isFirst && host ? host : name, 0, lane * laneHeight + Math.max(7, laneHeight / 2), gutter - 8);
  }
}

function rowAt(event) {
  const box = find("lanes").getBoundingClientRect();
  const rows = rowsOf[Math.floor((event.clientY - box.top) / laneHeight)];
  if (!rows || event.clientX - box.left < gutter) return -1;
  const time = timeAt(event);
  const slack = ((view.to - view.from) / (box.width - gutter)) * 2;
  const row = rows[firstFrom(rows, time - slack)];
  return row !== undefined && tries.begin[row] <= time + slack ? row : -1;
}

function step(way) {
  const now = selected >= 0 ? lastTry[selected] : -1;
  for (let row = now < 0 ? (way > 0 ? 0 : tries.task.length - 1) : now + way; row >= 0 && row < tries.task.length; row += way) {
    if (lastTry[tries.task[row]] !== row) continue;
    if (endOf(row) < view.from || tries.begin[row] > view.to) show(tries.begin[row] - (view.to - view.from) / 2, tries.begin[row] + (view.to - view.from) / 2);
    showDetail(tries.task[row], false);
    return;
  }
}

function showLanes() {
  const canvas = find("lanes");
  canvas.addEventListener("pointermove", (event) => {
    const row = rowAt(event);
    canvas.style.cursor = row < 0 ? "" : "pointer";
    find("under").textContent = row < 0 ? "" : `${names[tries.task[row]]} · ${describe(row)}`;
  });
  canvas.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row >= 0 && !canvas.wasMoved()) showDetail(tries.task[row], false);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    }
    if (event.key === "Enter" && selected >= 0) find("detail").focus();
  });
  find("path-only").addEventListener("change", redraw);
  find("path-only").parentElement.hidden = pathRows.length === 0;
}
