// The two-feature map: the rows as points, the shown clauses as moving boxes, and their votes as shading.

const MAP = { left: 66, right: 10, top: 8, bottom: 34, tall: 330 };
const NOWHERE = 65535;

function mapColumns(S) {
  const { view, pair } = S.data;
  return [view.mapX >= 0 ? view.mapX : pair[0], view.mapY >= 0 ? view.mapY : pair[1]].map((i) => S.facts.columns[i]);
}

function mapPoints(column) {
  column.places ??= column.points === undefined ? null : unpack(column.points, true);
  return column.places;
}

// Where a clause lets values of a column through, as parts of the axis from 0 to 1.
function reach(S, row, column) {
  const ks = column.features.map((f) => S.local.get(f.i));
  if (ks.some((k) => k === undefined)) return null;
  if (column.kind !== "category") {
    const [k] = ks;
    const from = row.lower[k] * row.onLower[k];
    const to = 1 - (1 - row.upper[k]) * row.onUpper[k];
    return to > from ? [[from, to]] : [];
  }
  const n = ks.length;
  const is = ks.findIndex((k) => row.inc[k] & 1 && row.lo[k] === 1);
  if (is >= 0) return [[is / n, (is + 1) / n]];
  const parts = [];
  ks.forEach((k, i) => {
    if (row.inc[k] & 2 && row.hi[k] === 0) return;
    if (parts.length && parts.at(-1)[1] === i / n) parts.at(-1)[1] = (i + 1) / n; else parts.push([i / n, (i + 1) / n]);
  });
  return parts;
}

const tests = (S, row, column) => column.features.some((f) => row.inc[S.local.get(f.i)]);

function drawMap(S) {
  const { P } = S;
  const canvas = S.mapChart;
  const width = canvas.parentElement.clientWidth;
  const g = fit(canvas, width, MAP.tall, P.bg);
  const [cx, cy] = mapColumns(S);
  const area = { x: MAP.left, y: MAP.top, w: width - MAP.left - MAP.right, h: MAP.tall - MAP.top - MAP.bottom };
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const X = (p) => area.x + p * area.w;
  const Y = (p) => area.y + (1 - p) * area.h;
  const rows = S.rows.filter((row) => row.literals && !row.impossible)
    .map((row) => ({ row, xs: reach(S, row, cx), ys: cx === cy ? [[0, 1]] : reach(S, row, cy) })).filter((r) => r.xs?.length && r.ys?.length);
  g.fillStyle = P.bg;
  shadeVotes(S, g, rows, area);
  drawMapAxes(S, g, cx, cy, area, X, Y, font);
  drawPoints(S, g, cx, cy, area);
  const selected = S.data.view.clause;
  for (const { row, xs, ys } of rows) {
    if (row.id === selected || (!tests(S, row, cx) && !tests(S, row, cy))) continue;
    drawBoxes(g, xs, ys, X, Y, sideColour(S, row.side), 1.1, 0.9);
  }
  labelBoxes(S, g, rows.filter(({ row }) => row.id !== selected && (tests(S, row, cx) || tests(S, row, cy))), X, Y, font);
  const chosen = rows.find(({ row }) => row.id === selected);
  if (chosen) drawBoxes(g, chosen.xs, chosen.ys, X, Y, P.accent, 2.2, 1);
  sayMap(S, cx, cy, rows.length);
}

function drawBoxes(g, xs, ys, X, Y, colour, width, alpha) {
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.globalAlpha = alpha;
  for (const [a, b] of xs) for (const [c, d] of ys) g.strokeRect(X(a), Y(d), X(b) - X(a), Y(c) - Y(d));
  g.globalAlpha = 1;
}

// Votes summed over a fine grid by differences at the boxes' corners; opposite votes cancel to paper.
function shadeVotes(S, g, rows, area) {
  const [nx, ny] = [Math.max(8, Math.round(area.w / 2)), Math.round(area.h / 2)];
  const sums = new Float32Array((nx + 1) * (ny + 1));
  for (const { row, xs, ys } of rows) {
    const vote = row.side ? -row.weight : row.weight;
    for (const [a, b] of xs) for (const [c, d] of ys) {
      const [l, r, t, u] = [a * nx, b * nx, (1 - d) * ny, (1 - c) * ny].map(Math.round);
      sums[t * (nx + 1) + l] += vote;
      sums[t * (nx + 1) + r] -= vote;
      sums[u * (nx + 1) + l] -= vote;
      sums[u * (nx + 1) + r] += vote;
    }
  }
  const image = new ImageData(nx, ny);
  const [f, a] = [sideColour(S, 0), sideColour(S, 1)].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  const above = new Float32Array(nx + 1);
  for (let y = 0; y < ny; y++) {
    let run = 0;
    for (let x = 0; x < nx; x++) {
      above[x] += sums[y * (nx + 1) + x];
      run += above[x];
      const colour = run > 0 ? f : a;
      const at = 4 * (y * nx + x);
      image.data[at] = colour[0];
      image.data[at + 1] = colour[1];
      image.data[at + 2] = colour[2];
      image.data[at + 3] = 255 * Math.min(0.42, 0.085 * Math.abs(run));
    }
  }
  S.shade ??= document.createElement("canvas");
  if (S.shade.width !== nx || S.shade.height !== ny) Object.assign(S.shade, { width: nx, height: ny });
  S.shade.getContext("2d").putImageData(image, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(S.shade, area.x, area.y, area.w, area.h);
}

function mapTicks(column) {
  if (column.kind === "numeric") {
    return niceTicks(column.min, column.max, 5).map((v) => [(v - column.min) / column.span, number(v)]);
  }
  const f = column.features[0];
  if (column.kind === "few" && f.cuts.length) return f.cuts.map((cut, i) => [(i + 1) / f.n, number(cut)]);
  return column.names.slice(0, 12).map((name, i, all) => [(i + 0.5) / all.length, name]);
}

function drawMapAxes(S, g, cx, cy, area, X, Y, font) {
  const { P } = S;
  g.strokeStyle = P.line;
  g.lineWidth = 1;
  g.globalAlpha = 0.6;
  g.strokeRect(area.x + 0.5, area.y + 0.5, area.w - 1, area.h - 1);
  g.globalAlpha = 1;
  g.font = font(11);
  g.fillStyle = P.ink3;
  g.textAlign = "center";
  for (const [p, words] of mapTicks(cx)) g.fillText(clip(g, words, 60), Math.max(area.x + 8, Math.min(X(p), area.x + area.w - 12)), area.y + area.h + 10);
  g.textAlign = "right";
  if (cx !== cy) for (const [p, words] of mapTicks(cy)) g.fillText(clip(g, words, 46), area.x - 5, Y(p));
  g.textAlign = "right";
  g.fillText(clip(g, axisName(cx), area.w), area.x + area.w, area.y + area.h + 25);
  g.save();
  g.translate(7, area.y);
  g.rotate(-Math.PI / 2);
  g.textAlign = "right";
  g.fillText(cx === cy ? "rows, spread at random" : clip(g, axisName(cy), area.h), 0, 0);
  g.restore();
}

const axisName = (column) => column.label + (column.unit ? `, ${column.unit}` : "");

// The points change only with the columns and the size: painted once, then copied.
function drawPoints(S, g, cx, cy, area) {
  const key = [S.data.facts, cx.features[0].i, cy.features[0].i, area.w, S.P.dark, S.P.bg, devicePixelRatio, everyHue(S) || S.focus].join();
  if (S.pointsKey !== key) { S.pointsKey = key; S.points = paintPoints(S, cx, cy, area); }
  if (S.points) g.drawImage(S.points, area.x - 6, area.y - 6, area.w + 12, area.h + 12);
}

function scatter(i) {
  const mixed = Math.imul(Math.imul(i, 2654435761) ^ (Math.imul(i, 2654435761) >>> 15), 2246822519);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
}

function paintPoints(S, cx, cy, area) {
  const [xs, ys] = [mapPoints(cx), mapPoints(cy)];
  if (!xs || !ys) return null;
  const canvas = document.createElement("canvas");
  const g = fit(canvas, area.w + 12, area.h + 12);
  const { labels, train } = S.facts.points;
  // Twelve shapes need more room than four to be told apart.
  const size = (labels.length > 400 ? 2.1 : 2.8) * (everyHue(S) && S.facts.classes.length > 4 ? 1.4 : 1);
  // Where many rows share a value, a small shift that is the same every time keeps them apart.
  const jitter = (column, i, salt) => (column.kind === "numeric" ? 0 : (scatter(i + salt) - 0.5) * 0.6 / Math.max(2, column.names.length || column.features[0].n));
  labels.forEach((label, i) => {
    if (label < 0 || xs[i] === NOWHERE || ys[i] === NOWHERE) return;
    const x = 6 + (xs[i] / 65534 + jitter(cx, i, 1)) * area.w;
    const y = 6 + (cx === cy ? scatter(i + 7919) : 1 - ys[i] / 65534 - jitter(cy, i, 7919)) * area.h;
    g.fillStyle = g.strokeStyle = answers(S).pointColour(S, i);
    classShape(g, answers(S).pointShape(S, i), x, y, i < train ? size : size + 0.6);
    if (i < train) { g.globalAlpha = labels.length > 400 ? 0.6 : 0.8; g.fill(); g.globalAlpha = 1; return; }
    g.fillStyle = S.P.bg;
    g.lineWidth = 1.2;
    g.fill();
    g.stroke();
  });
  return canvas;
}

function labelBoxes(S, g, rows, X, Y, font) {
  if (rows.length > 24) return;
  g.font = font(10.5, 600);
  g.textAlign = "left";
  const taken = [];
  for (const { row, xs, ys } of rows) {
    const [x, y] = [X(xs[0][0]) + 3, Y(ys.at(-1)[1]) + 8];
    const wide = g.measureText(row.id + 1).width;
    let at = y;
    while (taken.some(([a, b]) => Math.abs(a - x) < 20 && Math.abs(b - at) < 11) && at < y + 44) at += 11;
    taken.push([x, at]);
    g.globalAlpha = 0.85;
    g.fillStyle = S.P.bg;
    g.fillRect(x - 1.5, at - 5.5, wide + 3, 11);
    g.globalAlpha = 1;
    g.fillStyle = sideColour(S, row.side);
    g.fillText(row.id + 1, x, at);
  }
}

function sayMap(S, cx, cy, n) {
  setText(S.mapTitle, `Where ${n === 1 ? "one clause holds" : `${n} clauses hold`}, by ${cx === cy ? cx.label : `${cx.label} and ${cy.label}`}`);
  const some = S.facts.points.labels.length < S.facts.rows + S.facts.testRows ? " Only a part of the rows is drawn." : "";
  setText(S.mapNote, `A box is where one of the clauses above lets ${cx === cy ? "this feature" : "these two features"} through; what it asks of others is left aside. Shade: the votes of the boxes added up. ${answers(S).pointWords}${some}`);
  if (S.mapClasses.dataset.mark === `${S.facts.key}${S.focus}${S.P.dark}`) return;
  S.mapClasses.dataset.mark = `${S.facts.key}${S.focus}${S.P.dark}`;
  S.mapClasses.replaceChildren(...answers(S).pointKey(S));
}

// What the points stand for. With more classes than there are colours: the one in focus, and the others.
function classKey(S) {
  const named = (mark, colour, text) => {
    return el("span", { title: text }, el("b", { style: `color: ${colour}`, text: mark }), text);
  };
  if (everyHue(S)) return S.facts.classes.map((name, k) => named(S.facts.marks[k], classColour(S, k), name));
  return [named("●", S.P.c1, S.facts.classes[S.focus]), named("·", S.P.axis, `the ${S.facts.classes.length - 1} other classes`)];
}

function syncMap(S) {
  const { facts, data } = S;
  if (S.mapX.dataset.facts !== facts.key) {
    for (const select of [S.mapX, S.mapY]) {
      select.dataset.facts = facts.key;
      const options = facts.columns.flatMap((c, i) => (c.points === undefined ? [] : [el("option", { value: i, text: c.label })]));
      select.replaceChildren(el("option", { value: -1, text: "Most used pair" }), ...options);
    }
  }
  S.mapX.value = String(data.view.mapX);
  S.mapY.value = String(data.view.mapY);
}
