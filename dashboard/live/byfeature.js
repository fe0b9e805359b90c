// By feature: one feature, every clause's part in it, one side of the clauses beside the other.

const BY_ROW = 14;
const BY_HEAD = 96;

function layOutByFeature(S, width, now) {
  const column = S.facts.features.get(S.data.view.feature).column;
  const ks = column.features.map((f) => S.local.get(f.i));
  if (ks.some((k) => k === undefined)) return null;
  const sides = [0, 1].map((side) => S.rows.filter((row) => row.side === side)).map((rows) => [...rows].sort((a, b) => place(a, ks) - place(b, ks)));
  const shown = [0, 1].filter((side) => sides[side].length);
  const gap = 26;
  const half = (width - 20 - gap * Math.max(0, shown.length - 1)) / Math.max(1, shown.length);
  const lines = [];
  shown.forEach((side, i) => {
    const x0 = 10 + i * (half + gap);
    const cell = { column, x: x0 + 44, w: half - 56, ks };
    lines.push({ side, y: 4, x0, cell, shown: sides[side].length });
    sides[side].forEach((row, r) => lines.push({ row, y: BY_HEAD + r * BY_ROW, x0, half, cell }));
  });
  const total = BY_HEAD + BY_ROW * Math.max(...sides.map((rows) => rows.length), 1) + 12;
  const G = { by: true, width, narrow: width < NARROW, label: 0, columns: [], lines, rowHeight: BY_ROW, at: now, total,
    full: width, folded: 0, height: Math.min(total, MOST_HEIGHT) };
  S.G = G;
  S.headsDirty = true;
  return G;
}

// Those that test the feature first, in the order of their intervals; the order stays until the rows are chosen anew.
function place(row, ks) {
  const k = ks.find((at) => row.inc[at]);
  if (k === undefined) return 1e9;
  const low = row.inc[k] & 1 ? row.lo[k] : 0;
  return 1e6 * ks.indexOf(k) + 1e3 * low + (row.inc[k] & 2 ? row.hi[k] : 999);
}

const uses = (row, ks) => (ks.some((k) => row.inc[k]) ? 1 : 0);

function drawByFeature(S) {
  const { P, G } = S;
  const g = fit(S.matrix, G.width, G.height, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const dy = S.scroller.scrollTop;
  g.save();
  g.beginPath();
  g.rect(0, BY_HEAD - 4, G.width, G.height);
  g.clip();
  g.translate(0, -dy);
  for (const line of G.lines) {
    if (!line.row || line.y < dy + BY_HEAD - BY_ROW * 2 || line.y > dy + G.height) continue;
    drawByLine(S, g, line, font);
  }
  g.restore();
  for (const line of G.lines) if (!line.row) drawByHead(S, g, line, font);
}

function drawByHead(S, g, { side, x0, cell, shown }, font) {
  const { P } = S;
  const colour = sideColour(S, side);
  g.font = font(11.5, 650);
  const words = clip(g, answers(S).sideTitle(S, side), cell.w - 60);
  g.fillStyle = S.multi && side ? hatch(g, colour) : colour;
  if (S.multi) g.fillRect(x0 + 1, 7, 9, 9);
  else { classShape(g, sideClass(S, side), x0 + 6, 12, 4.5); g.fill(); }
  g.textAlign = "left";
  g.fillStyle = colour;
  g.fillText(words, x0 + 18, 12.5);
  const after = x0 + 28 + g.measureText(words).width;
  const using = S.rows.filter((row) => row.side === side && uses(row, cell.ks)).length;
  g.font = font(11);
  g.fillStyle = P.ink3;
  g.fillText(`${using} of ${shown} test it`, after, 12.5);
  drawData(S, g, cell.column, cell.x, cell.w, 52, 24, P.dark ? 0.8 : 0.62);
  g.fillStyle = P.line;
  g.fillRect(cell.x, 51.5, cell.w, 1);
  g.font = font(10);
  g.fillStyle = P.ink3;
  const ticks = mapTicks(cell.column);
  g.textAlign = "center";
  for (const [p, text] of ticks) {
    g.fillText(clip(g, text, cell.w / ticks.length - 2), Math.max(cell.x + 6, Math.min(cell.x + cell.w - 8, cell.x + p * cell.w)), 84);
  }
}

function drawByLine(S, g, line, font) {
  const { P } = S;
  const { row, y, x0, half, cell } = line;
  const m = y + BY_ROW / 2;
  const on = row.id === S.data.view.clause;
  const used = uses(row, cell.ks);
  if (on || S.hover?.row === row) {
    g.fillStyle = on ? P["accent-soft"] : P.surface;
    g.fillRect(x0, y, half, BY_ROW);
  }
  const lit = stageLight(S, row);
  if (lit) { g.globalAlpha = lit; g.fillStyle = P["accent-soft"]; g.fillRect(x0, y, half, BY_ROW); g.globalAlpha = 1; }
  g.font = font(10.5, on ? 650 : 400);
  g.textAlign = "right";
  g.fillStyle = on ? P.accent : used ? P.ink2 : P.ink3;
  g.fillText(row.id + 1, x0 + 28, m + 0.5);
  const best = row.glow.indexOf(Math.max(...row.glow));
  if (row.glow[best] > 0.08) feedbackMark(g, best, x0 + 36, m, 3, P[FEEDBACK[best]], row.glow[best]);
  if (isAxis(cell.column)) drawByInterval(S, g, row, cell, m);
  else drawCategories(S, g, cell, { row, y });
  for (const mark of row.marks) if (cell.ks.includes(mark.k)) drawMoveMark(S, g, cell, line, mark);
}

function drawByInterval(S, g, row, cell, m) {
  const { P } = S;
  const [k] = cell.ks;
  const { x, w } = cell;
  const [a, b] = [row.onLower[k], row.onUpper[k]];
  const [start, end] = [row.lower[k] * a, row.upper[k] * b + 1 - b];
  if (Math.max(a, b) > 0.02) drawSpan(S, g, x, w, m, start, end, a, b, Math.max(a, b), row.side);
  for (const [at, from, alpha] of [[row.lower[k], row.tailLower[k], a], [row.upper[k], row.tailUpper[k], b]]) {
    if (alpha > 0.5 && Math.abs(at - from) * w > 1) {
      g.globalAlpha = 0.6;
      g.fillStyle = P.accent;
      g.fillRect(x + w * from, m + 4, w * (at - from), 2);
    }
    g.globalAlpha = alpha > 0.5 ? 1 : 0.55;
    g.fillStyle = alpha > 0.5 ? P.ink : P.axis;
    g.fillRect(x + w * at - (alpha > 0.5 ? 1 : 0.5), m - (alpha > 0.5 ? 5 : 2.5), alpha > 0.5 ? 2 : 1, alpha > 0.5 ? 10 : 5);
    g.globalAlpha = 1;
  }
}

function byFeatureAt(S, px, py) {
  const y = py + S.scroller.scrollTop;
  const line = py < BY_HEAD - 4 ? null : S.G.lines.find((l) => l.row && px >= l.x0 && px < l.x0 + l.half && y >= l.y && y < l.y + BY_ROW);
  if (!line) return null;
  const { cell } = line;
  const slot = isAxis(cell.column) ? null : slots(cell).find((s) => px < s.x + s.w) || slots(cell).at(-1);
  return { row: line.row, feature: S.features[slot ? slot.k : cell.ks[0]] };
}
