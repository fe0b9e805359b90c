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

const LEAST_SCALE = 0.62;
const longestWord = (column) => Math.max(...column.label.split(/[\s_]+/).map((word) => word.length));

// The least a column takes: its glyph made small, or its name's longest word.
function leastWidth(column) {
  return Math.max(neededWidth(column) * LEAST_SCALE, Math.min(64, longestWord(column) * 6.4 - 8));
}

// Columns that fit, those the shown clauses use most first; the others are folded.
function fold(S, room) {
  const need = (c) => leastWidth(c) + GAP;
  const total = S.columns.reduce((sum, c) => sum + need(c), 0);
  if (S.showAllColumns || total <= room) return S.columns;
  const uses = new Map(S.columns.map((c) => [c, 0]));
  for (const row of S.rows) row.inc.forEach((inc, k) => { if (inc) uses.set(S.features[k].column, uses.get(S.features[k].column) + 1); });
  const chosen = S.facts.features.get(S.data.view.feature)?.column;
  const constant = (c) => c.features.every((f) => f.n < 2);
  const rank = (c) => (c === chosen ? 1e6 : constant(c) ? -1 : uses.get(c));
  const kept = new Set();
  let left = room;
  for (const column of [...S.columns].sort((a, b) => rank(b) - rank(a))) {
    if (need(column) > left && kept.size) continue;
    kept.add(column);
    left -= need(column);
  }
  return S.columns.filter((c) => kept.has(c));
}

// Widths that fill the space as far as glyphs may grow, none below its least.
function share(columns, space) {
  let scale = columns.length > 6 ? 1.9 : 4;
  const widths = () => columns.map((c) => Math.max(leastWidth(c), neededWidth(c) * scale));
  while (scale > LEAST_SCALE && widths().reduce((a, b) => a + b, 0) > space) scale -= 0.02;
  return widths();
}

function layOut(S, width, now) {
  const old = S.G;
  const rowsKey = S.data.rows.join() + S.data.for + "|" + S.data.columns.join() + S.showAllColumns + S.data.facts;
  const stale = old && old.folded && now - old.at > REFOLD;
  const by = S.data.view.by === "feature";
  const key = rowsKey + (by ? `|${S.data.view.feature}` : "");
  if (old && old.width === width && old.key === key && !stale) return old;
  if (by) {
    const made = layOutByFeature(S, width, now);
    if (made) return Object.assign(made, { key });
  }
  const narrow = width < NARROW;
  const label = narrow ? 126 : 166;
  const room = width - label - GAP;
  const shown = fold(S, room);
  const space = room - GAP * shown.length;
  const widths = share(shown, space);
  let x = label + GAP / 2;
  const columns = shown.map((column, i) => {
    const w = widths[i];
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
  const G = { width, narrow, label, columns, lines, rowHeight, key, at: now, total: y + 10,
    full: Math.max(width, x), folded: S.columns.length - shown.length };
  G.height = Math.min(G.total, MOST_HEIGHT);
  S.G = G;
  S.headsDirty = true;
  return G;
}

// The places for values of a column whose values have names.
function slots(cell) {
  const { column } = cell;
  const n = column.kind === "category" ? column.features.length : column.names.length;
  const w = cell.w / n;
  return Array.from({ length: n }, (_, i) => ({
    k: column.kind === "category" ? cell.ks[i] : cell.ks[0], value: i, x: cell.x + i * w, w, name: column.names[i] || "",
  }));
}

// The row and the feature under a point of the visible canvas.
function cellAt(S, px, py) {
  const { G } = S;
  if (G?.by) return byFeatureAt(S, px, py);
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
