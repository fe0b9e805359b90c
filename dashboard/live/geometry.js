// Where everything in the matrix lies: columns, rows, the folded columns, and what is under the pointer.
const NARROW = 760;
const HEAD = 94;
const GAP = 14;
const MOST_HEIGHT = 640;
const REFOLD = 4000;

function neededWidth(column) {
  if (column.kind === "numeric") return 82;
  if (column.kind === "few") return 54;
  if (column.kind === "boolean") return 34;
  return Math.max(15, Math.min(column.features.length * 15 + 4, 150));
}

// Columns that fit, those the shown clauses use most first; the others are folded.
function fold(S, room) {
  const need = (c) => neededWidth(c) * 0.8 + GAP;
  const total = S.columns.reduce((sum, c) => sum + need(c), 0);
  if (S.showAllColumns || total <= room) return S.columns;
  const uses = new Map(S.columns.map((c) => [c, 0]));
  for (const row of S.rows) row.inc.forEach((inc, k) => { if (inc) uses.set(S.features[k].column, uses.get(S.features[k].column) + 1); });
  const chosen = S.facts.features.get(S.data.view.feature)?.column;
  const rank = (c) => (c === chosen ? 1e6 : uses.get(c));
  const kept = new Set();
  let left = room;
  for (const column of [...S.columns].sort((a, b) => rank(b) - rank(a))) {
    if (need(column) > left && kept.size) continue;
    kept.add(column);
    left -= need(column);
  }
  return S.columns.filter((c) => kept.has(c));
}

function layOut(S, width, now) {
  const old = S.G;
  const rowsKey = S.data.rows.join() + S.data.for + "|" + S.data.columns.join() + S.showAllColumns + S.data.facts;
  const stale = old && old.folded && now - old.at > REFOLD;
  if (old && old.width === width && old.rowsKey === rowsKey && !stale) return old;
  const narrow = width < NARROW;
  const label = narrow ? 126 : 166;
  const room = width - label - GAP;
  const shown = fold(S, room);
  const sum = shown.reduce((a, c) => a + neededWidth(c), 0);
  const scale = Math.max(0.8, Math.min(1.9, (room - GAP * shown.length) / sum));
  let x = label + GAP / 2;
  const columns = shown.map((column) => {
    const w = neededWidth(column) * scale;
    const cell = { column, x, w, ks: column.features.map((f) => S.local.get(f.i)) };
    x += w + GAP;
    return cell;
  });
  const rowHeight = narrow ? 26 : 28;
  const lines = [];
  let y = HEAD + 8;
  for (const side of [0, 1]) {
    const mine = S.rows.filter((row) => row.side === side);
    if (!mine.length) continue;
    if (lines.length) y += 8;
    lines.push({ side, y, shown: mine.length });
    y += 24;
    for (const row of mine) {
      lines.push({ row, y });
      y += rowHeight;
    }
  }
  const G = { width, narrow, label, columns, lines, rowHeight, rowsKey, at: now, total: y + 10,
    full: Math.max(width, x), folded: S.columns.length - shown.length };
  G.height = Math.min(G.total, MOST_HEIGHT);
  S.G = G;
  S.headsDirty = true;
  return G;
}

// A category column's or a boolean column's places for values.
function slots(cell) {
  const { column } = cell;
  const n = column.kind === "boolean" ? 2 : column.features.length;
  const w = cell.w / n;
  return Array.from({ length: n }, (_, i) => ({
    k: column.kind === "boolean" ? cell.ks[0] : cell.ks[i], value: i, x: cell.x + i * w, w, name: column.names[i] || "",
  }));
}

// The row and the feature under a point of the visible canvas.
function cellAt(S, px, py) {
  const { G } = S;
  if (!G || py < HEAD) return null;
  const y = py + S.scroller.scrollTop;
  const x = px + (px > G.label ? S.scroller.scrollLeft : 0);
  const line = G.lines.find((l) => l.row && y >= l.y && y < l.y + G.rowHeight);
  if (!line) return null;
  const cell = px > G.label ? G.columns.find((c) => x >= c.x - 6 && x < c.x + c.w + 8) : null;
  let feature = null;
  if (cell) {
    const slot = isAxis(cell.column) ? null : slots(cell).find((s) => x < s.x + s.w) || slots(cell).at(-1);
    feature = S.features[slot ? slot.k : cell.ks[0]];
  }
  return { row: line.row, feature };
}
