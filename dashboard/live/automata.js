// The automata's memory: one clause as bars around the border between "left out" and "in", all clauses as a heat map.

const STRIP = 116;

const memoryColumns = (S) => S.data.memory.columns.map((i) => S.facts.columns[i]);
const memoryFeatures = (S) => memoryColumns(S).flatMap((c) => c.features);

// One place a literal: with intervals, lower bounds then upper bounds of the features come interleaved on screen.
function memoryOrder(S) {
  const { width } = S.data.memory;
  const n = memoryFeatures(S).length;
  if (width !== 2 * n) return Array.from({ length: width }, (_, i) => i);
  return Array.from({ length: width }, (_, i) => (i % 2 ? n : 0) + (i >> 1));
}

function drawAutomata(S) {
  const { memory, view } = S.data;
  if (!memory) return;
  const order = memoryOrder(S);
  drawStripOf(S, memory, order, view);
  drawHeat(S, memory, order);
  const inside = memory.strip.filter((state) => state > memory.n).length;
  setText(S.stripTitle, `Clause ${view.clause + 1} remembers ${inside} of ${whole(memory.width)} literals strongly enough to include them`);
}

const memoryLeft = 42;

function drawStripOf(S, memory, order, view) {
  const { P } = S;
  const width = S.stripChart.parentElement.clientWidth;
  const g = fit(S.stripChart, width, STRIP, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const [top, bottom] = [6, STRIP - 22];
  const middle = (top + bottom) / 2;
  const cell = (width - memoryLeft) / order.length;
  const colour = sideColour(S, S.clauseSide(view.clause));
  const features = memoryFeatures(S);
  const named = memory.width === 2 * features.length;
  const chosen = features.findIndex((f) => f.i === view.feature);
  order.forEach((literal, i) => {
    const state = memory.strip[literal];
    if (state === undefined) return;
    const x = memoryLeft + i * cell;
    if (named && i >> 1 === chosen) { g.fillStyle = P["accent-soft"]; g.fillRect(x, top, cell, bottom - top); }
    const included = state > memory.n;
    const tall = ((included ? state - memory.n : memory.n + 1 - state) / memory.n) * (middle - top - 2);
    g.fillStyle = included ? colour : P.axis;
    g.globalAlpha = included ? 1 : 0.45;
    const wide = Math.max(0.7, cell - (cell > 4 ? 2 : 0.3));
    g.fillRect(x + (cell > 4 ? 1 : 0), included ? middle - 1 - tall : middle + 1, wide, tall);
    g.globalAlpha = 1;
  });
  g.fillStyle = P.ink3;
  g.fillRect(memoryLeft, middle - 0.5, width - memoryLeft, 1);
  g.font = font(11);
  g.textAlign = "right";
  g.fillText(2 * memory.n, memoryLeft - 7, top + 5);
  g.fillText(memory.n, memoryLeft - 7, middle);
  g.fillText("1", memoryLeft - 7, bottom - 4);
  if (named) nameColumns(S, g, cell, bottom + 10, font);
}

function nameColumns(S, g, cell, y, font) {
  g.font = font(10.5);
  g.fillStyle = S.P.ink3;
  g.textAlign = "left";
  let k = 0;
  for (const column of memoryColumns(S)) {
    const wide = 2 * cell * column.features.length;
    const x = memoryLeft + 2 * cell * k;
    if (k) { g.fillStyle = S.P.line; g.fillRect(Math.round(x) - 0.5, 6, 1, y - 12); g.fillStyle = S.P.ink3; }
    if (wide > 22) g.fillText(clip(g, column.label, wide - 4), x + 2, y);
    k += column.features.length;
  }
}

function drawHeat(S, memory, order) {
  const { P, data } = S;
  const width = S.heatChart.parentElement.clientWidth;
  const line = Math.max(1, Math.min(4, Math.floor(340 / memory.rows)));
  const tall = memory.rows * line;
  const g = fit(S.heatChart, width, tall + 2, P.bg);
  const states = unpack(memory.states, false);
  const image = new ImageData(order.length, memory.rows);
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const [sides, axis] = [[rgb(sideColour(S, 0)), rgb(sideColour(S, 1))], rgb(P.axis)];
  const half = Math.ceil(data.sides[0]);
  for (let r = 0; r < memory.rows; r++) {
    const side = r < half ? 0 : 1;
    order.forEach((literal, i) => {
      const state = states[r * memory.width + literal];
      const included = state > memory.n;
      const share = included ? (state - memory.n) / memory.n : state / memory.n;
      const colour = included ? sides[side] : axis;
      const at = 4 * (r * order.length + i);
      image.data.set(colour, at);
      image.data[at + 3] = 255 * (included ? 0.45 + 0.55 * share : 0.3 * share * share);
    });
  }
  S.heatImage ??= document.createElement("canvas");
  Object.assign(S.heatImage, { width: order.length, height: memory.rows });
  S.heatImage.getContext("2d").putImageData(image, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(S.heatImage, memoryLeft, 0, width - memoryLeft, tall);
  const ids = heatOrder(S);
  const at = ids.indexOf(data.view.clause);
  if (at >= 0) {
    g.strokeStyle = P.accent;
    g.lineWidth = 1.5;
    g.strokeRect(memoryLeft - 1, at * line - 0.5, width - memoryLeft, line + 1);
    g.fillStyle = P.accent;
    g.font = `600 11px ${P.family}`;
    g.textAlign = "right";
    g.fillText(data.view.clause + 1, memoryLeft - 6, Math.max(6, Math.min(tall - 6, at * line + line / 2)));
  }
  const shown = memory.rows < memory.all ? ` The first ${whole(memory.rows)} of ${whole(memory.all)} clauses are drawn.` : "";
  setText(S.heatNote, `Every clause a line${answers(S).heatFirst(S)}. Coloured: in the clause; grey: left out, darker the nearer to joining.${shown}`);
}

// The server sends one side's clauses after the other's.
function heatOrder(S) {
  const [a, b] = S.data.sides;
  const apart = b ? 2 : 1;
  return [...Array.from({ length: a }, (_, i) => apart * i), ...Array.from({ length: b }, (_, i) => apart * i + 1)];
}

function pickInHeat(S, event) {
  const { memory } = S.data;
  if (!memory) return;
  const box = S.heatChart.getBoundingClientRect();
  const row = Math.floor(((event.clientY - box.top) / (box.height - 2)) * memory.rows);
  const order = memoryOrder(S);
  const place = Math.floor(((event.clientX - box.left - memoryLeft) / (box.width - memoryLeft)) * order.length);
  const id = heatOrder(S)[row];
  if (id === undefined) return;
  const feature = memory.width === 2 * memoryFeatures(S).length ? memoryFeatures(S)[place >> 1]?.i : undefined;
  look(S, { clause: id, ...(feature === undefined ? {} : { feature }) });
}
