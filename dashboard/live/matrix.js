// The interval matrix: one line a clause, one glyph a column (LOOK: the interval glyph).

function drawMatrix(S) {
  const { P, G } = S;
  if (G.by) { drawByFeature(S); return; }
  const g = fit(S.matrix, G.width, G.height - HEAD, P.bg);
  const dx = S.scroller.scrollLeft;
  const dy = S.scroller.scrollTop;
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const first = HEAD + dy - G.rowHeight;
  const last = dy + G.height;
  const visible = G.lines.filter((line) => line.y > first && line.y < last);
  const selected = S.data.view.clause;
  g.save();
  g.translate(0, -dy - HEAD);
  for (const line of visible) {
    if (!line.row) { drawGroup(S, g, line, font); continue; }
    const on = line.row.id === selected;
    const lit = stageLight(S, line.row);
    if (lit) {
      g.globalAlpha = lit;
      g.fillStyle = P["accent-soft"];
      g.fillRect(0, line.y, G.width, G.rowHeight);
      g.globalAlpha = 1;
    }
    if (on || S.hover?.row === line.row) {
      g.globalAlpha = on ? 0.55 : 1;
      g.fillStyle = on ? P["accent-soft"] : P.surface;
      g.fillRect(0, line.y, G.width, G.rowHeight);
      g.globalAlpha = 1;
    }
    drawRowHead(S, g, line, font);
  }
  g.beginPath();
  g.rect(G.label - 8, 0, G.width, G.total);
  g.clip();
  g.translate(-dx, 0);
  for (const line of visible) if (line.row) drawCells(S, g, line, dx);
  drawSelection(S, g, visible);
  g.restore();
  drawHeads(S);
}

function drawGroup(S, g, line, font) {
  const { P, G } = S;
  const y = line.y + 12;
  g.font = font(11.5, 650);
  const words = clip(g, answers(S).sideTitle(S, line.side), G.width - 160);
  const colour = sideColour(S, line.side);
  g.fillStyle = S.multi && line.side ? hatch(g, colour) : colour;
  if (S.multi) g.fillRect(14.5, y - 4.5, 9, 9);
  else { classShape(g, sideClass(S, line.side), 19, y, 4.5); g.fill(); }
  g.textAlign = "left";
  g.fillStyle = colour;
  g.fillText(words, 31, y + 0.5);
  const after = 31 + g.measureText(words).width + 10;
  g.fillStyle = P.ink3;
  g.font = font(11);
  const all = S.data.sides[line.side];
  g.fillText(line.shown < all ? `${line.shown} of ${all} shown` : `all ${all} shown`, after, y + 0.5);
}

function drawRowHead(S, g, { row, y }, font) {
  const { P, G } = S;
  const m = y + G.rowHeight / 2;
  const colour = sideColour(S, row.side);
  g.font = font(row.id > 998 ? 11 : 12, 600);
  g.fillStyle = P.ink;
  g.textAlign = "right";
  g.fillText(row.id + 1, 36, m + 0.5);
  g.globalAlpha = row.literals ? 1 : 0.35;
  const broad = row.literals > 99 ? 30 : 24;
  g.strokeStyle = row.impossible ? P.ii : row.literals ? colour : P.axis;
  if (row.impossible) g.setLineDash([3, 2]);
  g.lineWidth = 1;
  roundRect(g, 62.5 - broad / 2, m - 7.5, broad - 1, 15, 4);
  g.fillStyle = P.bg;
  g.fill();
  g.stroke();
  g.setLineDash([]);
  g.fillStyle = P.ink;
  g.font = font(11, 600);
  g.textAlign = "center";
  g.fillText(row.literals, 62, m + 0.5);
  g.globalAlpha = 1;
  if (!G.narrow) {
    g.fillStyle = P.line;
    g.fillRect(88, m - 2, 30, 4);
    g.fillStyle = colour;
    g.fillRect(88, m - 2, Math.min(30, row.weight * 15), 4);
    g.fillStyle = P.ink3;
    g.fillRect(103, m - 4.5, 1, 9);
  }
  const x = G.narrow ? 92 : 131;
  for (let t = 0; t < 3; t++) feedbackMark(g, t, x + t * 13, m, 3.8, P[FEEDBACK[t]], 0.12 + 0.88 * row.glow[t]);
}

function drawCells(S, g, line, dx) {
  for (const cell of S.G.columns) {
    if (cell.x + cell.w < dx || cell.x > dx + S.G.width) continue;
    if (isAxis(cell.column)) drawInterval(S, g, cell, line);
    else drawCategories(S, g, cell, line);
    for (const mark of line.row.marks) if (cell.ks.includes(mark.k)) drawMoveMark(S, g, cell, line, mark);
  }
}

function drawMoveMark(S, g, cell, { row, y }, { k, upper, type, left }) {
  const m = y + S.G.rowHeight / 2;
  const slot = isAxis(cell.column) ? null : slots(cell).find((s) => s.k === k);
  const x = slot ? slot.x + slot.w / 2 : cell.x + cell.w * (upper ? row.upper[k] : row.lower[k]);
  const alpha = markStrength(S, left);
  g.globalAlpha = alpha * 0.85;
  g.fillStyle = S.P.bg;
  g.beginPath();
  g.arc(x, m, 7.5, 0, 7);
  g.fill();
  feedbackMark(g, type, x, m, 4.5, S.P[FEEDBACK[type]], alpha);
}

function drawSelection(S, g, visible) {
  const { view } = S.data;
  const line = visible.find((l) => l.row && l.row.id === view.clause);
  const cell = S.G.columns.find((c) => c.column.features.some((f) => f.i === view.feature));
  if (!line || !cell) return;
  g.strokeStyle = S.P.accent;
  g.lineWidth = 1.5;
  roundRect(g, cell.x - 5, line.y + 1.5, cell.w + 10, S.G.rowHeight - 3, 5);
  g.stroke();
}

// Rows of the class in focus upwards, all others downwards, painted once a column and size.
function dataSprite(S, column, w, h) {
  const key = [S.data.facts, column.features[0].i, w.toFixed(1), h, S.focus, S.P.dark, devicePixelRatio].join();
  if (S.sprites.has(key)) return S.sprites.get(key);
  if (S.sprites.size > 400) S.sprites.clear();
  const sprite = document.createElement("canvas");
  const g = fit(sprite, Math.ceil(w), 2 * h);
  const n = column.counts[0].length;
  const bin = w / n;
  for (let i = 0; i < n; i++) {
    let down = h;
    for (let k = 0; k < column.counts.length; k++) {
      const tall = (column.counts[k][i] / column.most) * h;
      g.fillStyle = groupColour(S, k);
      if (k === S.focus) g.fillRect(i * bin, h - tall, bin - 0.7, tall);
      else {
        const clipped = Math.min(tall, 2 * h - down);
        g.fillRect(i * bin, down, bin - 0.7, clipped);
        down += clipped;
      }
    }
  }
  S.sprites.set(key, sprite);
  return sprite;
}

// The data behind a glyph: strong inside from..to (shares of the width), faint outside.
function drawData(S, g, column, x, w, y, h, alpha, from = 0, to = 1) {
  const sprite = dataSprite(S, column, w, h);
  const part = (a, b, strength) => {
    if (b - a < 0.002) return;
    g.globalAlpha = strength;
    const r = sprite.ratio;
    g.drawImage(sprite, a * w * r, 0, (b - a) * w * r, 2 * h * r, x + a * w, y - h, (b - a) * w, 2 * h);
  };
  const a = Math.max(0, Math.min(1, from));
  const b = Math.max(a, Math.min(1, to));
  part(0, a, alpha * 0.42);
  part(a, b, alpha);
  part(b, 1, alpha * 0.42);
  g.globalAlpha = 1;
}

// The shortest beginning of each name that no other name has, its whole where another begins with it.
function nameStarts(names) {
  return names.map((name, i) => {
    const letters = [...name];
    const alone = letters.findIndex((letter, n) => letter.trim() && names.every((other, j) => j === i || [...other].slice(0, n + 1).join("").toLowerCase() !== letters.slice(0, n + 1).join("").toLowerCase()));
    const start = letters.slice(0, alone < 0 ? letters.length : alone + 1).join("");
    return start.slice(0, 1).toUpperCase() + start.slice(1);
  });
}

// The heads stay as they are while bounds move, on a canvas of their own.
function drawHeads(S) {
  const { P, G } = S;
  const dx = S.scroller.scrollLeft;
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const mark = [G.at, G.width, dx, S.data.facts, S.focus, P.dark, P.bg].join();
  if (G.by) { S.headMark = ""; return; }
  if (S.headMark === mark) return;
  S.headMark = mark;
  const g = fit(S.headCanvas, G.width, HEAD);
  g.strokeStyle = P.line;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(0, HEAD - 0.5);
  g.lineTo(G.width, HEAD - 0.5);
  g.stroke();
  g.save();
  g.beginPath();
  g.rect(G.label - 8, 0, G.width, HEAD);
  g.clip();
  g.translate(-dx, 0);
  const y = 64;
  g.font = font(10);
  for (const { column, x, w, ks } of G.columns) {
    if (x + w < dx || x > dx + G.width) continue;
    drawData(S, g, column, x, w, y, 12, isAxis(column) ? 0.8 : 0.75);
    g.fillStyle = P.ink3;
    if (isAxis(column) && column.min !== null) {
      // Never a part of a number: what does not fit is left out.
      const fits = (text) => (g.measureText(text).width < w / 2 + 2 ? text : "");
      const ends = [column.min, column.max].map((v) => fits(Math.abs(v) >= 1e4 ? minus((v < 0 ? "-" : "") + short(Math.abs(v))) : number(v)));
      g.textAlign = "left";
      g.fillText(ends[0], x, y + 20);
      g.textAlign = "right";
      g.fillText(ends[1], x + w, y + 20);
      continue;
    }
    g.textAlign = "center";
    const starts = nameStarts(column.names.map(String));
    slots({ column, x, w, ks }).forEach((s, i) => { if (starts[i] && g.measureText(starts[i]).width <= s.w - 1) g.fillText(starts[i], s.x + s.w / 2, y + 20); });
  }
  g.restore();
}

// A name cut to the room there is; measured once for each.
const clipped = new Map();
function clip(g, text, room) {
  const key = `${g.font}|${Math.floor(room)}|${text}`;
  if (!clipped.has(key)) {
    if (clipped.size > 2000) clipped.clear();
    const letters = [...String(text)];
    const fits = (n) => g.measureText(letters.slice(0, n).join("").trimEnd() + (n < letters.length ? "…" : "")).width <= room;
    let n = letters.length;
    while (n > 1 && !fits(n)) n -= 1;
    clipped.set(key, letters.slice(0, n).join("").trimEnd() + (n < letters.length ? "…" : ""));
  }
  return clipped.get(key);
}

function drawInterval(S, g, cell, { row, y }) {
  const { P } = S;
  const [k] = cell.ks;
  const m = y + S.G.rowHeight / 2;
  const { x, w, column } = cell;
  const l = row.lower[k];
  const u = row.upper[k];
  const a = row.onLower[k];
  const b = row.onUpper[k];
  const on = Math.max(a, b);
  const looked = S.hover?.row === row || (S.data.view.clause === row.id && S.data.view.feature === S.features[k].i);
  const start = l * a;
  const end = u * b + 1 - b;
  if (on > 0.02 || looked) drawData(S, g, column, x, w, m, 12, Math.max(on, looked ? 0.6 : 0) * (P.dark ? 0.8 : 0.62), start, end);
  g.fillStyle = P.line;
  g.fillRect(x, m - 0.5, w, 1);
  if (column.kind === "few") for (let i = 1; i < S.features[k].n; i++) g.fillRect(x + (w * i) / S.features[k].n - 0.5, m - 2, 1, 4);
  if (on > 0.02) drawSpan(S, g, x, w, m, start, end, a, b, on, row.side);
  for (const [at, from, alpha] of [[l, row.tailLower[k], a], [u, row.tailUpper[k], b]]) drawBound(P, g, x + w * at, x + w * from, m, alpha);
}

function drawSpan(S, g, x, w, m, start, end, a, b, on, side) {
  const { P } = S;
  const colour = sideColour(S, side);
  const s = x + w * start;
  const e = x + w * end;
  if (e <= s) {
    g.globalAlpha = on;
    g.strokeStyle = P.ii;
    g.lineWidth = 1.5;
    g.setLineDash([2, 2]);
    g.beginPath();
    g.moveTo(e, m);
    g.lineTo(s, m);
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
    return;
  }
  if (a > 0.5 && b > 0.5) {
    g.globalAlpha = on * 0.8;
    g.fillStyle = P.bg;
    g.fillRect(s, m - 4, e - s, 8);
  }
  g.globalAlpha = on;
  g.fillStyle = S.multi && side ? hatch(g, colour) : a > 0.5 && b > 0.5 ? colour : openSpan(g, x, w, start, end, a, b, colour);
  g.fillRect(s, m - 3, e - s, 6);
  g.globalAlpha = 1;
}

// An open end fades out towards the end of the axis.
function openSpan(g, x, w, start, end, a, b, colour) {
  const fade = g.createLinearGradient(x, 0, x + w, 0);
  const clear = colour + "00";
  fade.addColorStop(0, a < 0.5 ? clear : colour);
  if (a < 0.5) fade.addColorStop(Math.max(0.02, Math.min(0.45, end * 0.8)), colour);
  if (b < 0.5) fade.addColorStop(Math.min(0.98, Math.max(0.55, 1 - (1 - start) * 0.8)), colour);
  fade.addColorStop(1, b < 0.5 ? clear : colour);
  return fade;
}

function drawBound(P, g, at, from, m, alpha) {
  const included = alpha > 0.5;
  if (Math.abs(at - from) > (included ? 1 : 2.5)) {
    const colour = included ? P.accent : P.axis;
    const y = included ? m + 8 : m;
    // Four steps instead of a gradient: there can be hundreds of trails at once.
    const tall = included ? 2.5 : 2;
    g.fillStyle = colour;
    for (let i = 0; i < 4; i++) {
      g.globalAlpha = (included ? 1 : 0.55) * (0.2 + 0.25 * i);
      g.fillRect(from + ((at - from) * i) / 4, y - tall / 2, (at - from) / 4, tall);
    }
  }
  if (alpha < 0.98) {
    g.globalAlpha = (1 - alpha) * 0.8;
    g.fillStyle = P.axis;
    g.fillRect(at - 0.5, m - 4, 1, 8);
  }
  if (alpha > 0.02) {
    g.globalAlpha = alpha;
    g.fillStyle = P.ink;
    g.fillRect(at - 1, m - 9, 2, 18);
  }
  g.globalAlpha = 1;
}

// What a value's place shows: how strongly "is", "is not", and an included bound without effect.
function slotMarks(S, row, slot, boolean) {
  const { k } = slot;
  const lower = row.inc[k] & 1;
  const upper = row.inc[k] & 2;
  const one = lower && row.lo[k] === 1 ? row.onLower[k] : 0;
  const zero = upper && row.hi[k] === 0 ? row.onUpper[k] : 0;
  const idle = (lower && row.lo[k] === 0) || (upper && row.hi[k] === 1);
  if (boolean) return { is: slot.value ? one : zero, not: 0, idle: idle && slot.value === 1 && !one && !zero };
  return { is: one, not: zero, idle: idle && !one && !zero };
}

function drawCategories(S, g, cell, { row, y }) {
  const { P } = S;
  const m = y + S.G.rowHeight / 2;
  const colour = sideColour(S, row.side);
  for (const slot of slots(cell)) {
    const x = slot.x + slot.w / 2;
    const d = Math.min(5.5, slot.w / 2 - 1);
    const { is, not, idle } = slotMarks(S, row, slot, cell.column.kind === "boolean");
    if (idle) {
      g.strokeStyle = colour;
      g.lineWidth = 1.2;
      g.beginPath();
      g.arc(x, m, 2.8, 0, 7);
      g.stroke();
    }
    const on = Math.max(is, not, idle ? 1 : 0);
    if (on < 0.98) {
      g.globalAlpha = 1 - on;
      g.fillStyle = P.line;
      g.beginPath();
      g.arc(x, m, 1.8, 0, 7);
      g.fill();
    }
    if (is > 0.02) {
      g.globalAlpha = is;
      g.fillStyle = colour;
      roundRect(g, x - d, m - d, 2 * d, 2 * d, 2.5);
      g.fill();
    }
    if (not > 0.02) {
      g.globalAlpha = not;
      g.strokeStyle = is > 0.02 ? P.bg : colour;
      g.lineWidth = 1.5;
      roundRect(g, x - d + 0.75, m - d + 0.75, 2 * d - 1.5, 2 * d - 1.5, 2.5);
      g.stroke();
      g.beginPath();
      g.moveTo(x - d + 1, m + d - 1);
      g.lineTo(x + d - 1, m - d + 1);
      g.stroke();
    }
    g.globalAlpha = 1;
  }
}
