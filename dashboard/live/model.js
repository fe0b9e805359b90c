// What the server sent, as the drawing needs it: columns, rows that ease towards their bounds, conditions in words.

// Facts travel apart from the frames, once a run; both are calls of the same module.
const factsByKey = new Map();
function keepFacts(facts) {
  for (const column of facts.columns) {
    column.features.forEach((f, i) => { f.column = column; f.slot = i; });
    const highest = Math.max(1, ...column.counts.flat());
    column.most = highest;
    column.span = column.max - column.min || 1;
  }
  facts.features = new Map(facts.columns.flatMap((c) => c.features.map((f) => [f.i, f])));
  factsByKey.set(facts.key, facts);
  if (factsByKey.size > 4) factsByKey.delete(factsByKey.keys().next().value);
}

const isAxis = (column) => column.kind === "numeric" || column.kind === "few";
function lowerAt(f, lo) {
  if (f.column.kind === "numeric") return lo === 0 ? 0 : (f.cuts[lo - 1] - f.column.min) / f.column.span;
  return lo / f.n;
}
function upperAt(f, hi) {
  if (f.column.kind === "numeric") return hi >= f.n - 1 ? 1 : (f.cuts[hi] - f.column.min) / f.column.span;
  return (hi + 1) / f.n;
}

function newRow(id, n) {
  const floats = () => new Float32Array(n);
  return { id, lower: floats(), upper: floats(), tailLower: floats(), tailUpper: floats(), onLower: floats(),
    onUpper: floats(), goalLower: floats(), goalUpper: floats(), lo: new Uint16Array(n), hi: new Uint16Array(n),
    inc: new Uint8Array(n), glow: [0, 0, 0], told: null, fresh: true, marks: [], staged: [], literals: 0, weight: 1 };
}

// Take a frame into the state; the rows keep their eased positions from frame to frame.
function takeFrame(S, data) {
  const facts = factsByKey.get(data.facts);
  const changed = S.facts !== facts || String(S.data?.columns) !== String(data.columns);
  const steps = S.data?.step === undefined ? 0 : data.step - S.data.step;
  const leapt = steps < 0 || data.past !== S.data?.past;
  if (changed) S.rowsById = new Map();
  S.facts = facts;
  S.data = data;
  if (!facts || !data.rows) return;
  S.multi = facts.classes.length > 2;
  S.focus = S.multi ? data.view.machine : 1;
  if (changed) writeCaptions(S);
  S.columns = data.columns.map((i) => facts.columns[i]);
  if (changed) {
    S.features = S.columns.flatMap((c) => c.features);
    S.local = new Map(S.features.map((f, i) => [f.i, i]));
  }
  const n = S.features.length;
  const lower = unpack(data.lower, data.wide);
  const upper = unpack(data.upper, data.wide);
  const included = unpack(data.included, false);
  if (steps) beginStage(S, steps);
  S.rows = data.rows.map((id, r) => {
    const moved = [];
    const row = S.rowsById.get(id) || newRow(id, n);
    S.rowsById.set(id, row);
    row.side = r < data.for ? 0 : 1;
    row.literals = data.rowLiterals[r];
    row.weight = data.weights[r];
    for (let k = 0; k < n; k++) {
      if (steps === 1) noteMoves(row, k, lower[r * n + k], upper[r * n + k], included[r * n + k], moved);
      row.lo[k] = lower[r * n + k];
      row.hi[k] = upper[r * n + k];
      row.inc[k] = included[r * n + k];
      row.goalLower[k] = lowerAt(S.features[k], row.lo[k]);
      row.goalUpper[k] = upperAt(S.features[k], row.hi[k]);
    }
    const counts = data.feedback.slice(3 * r, 3 * r + 3);
    if (steps || leapt) row.marks = [];
    // In the past the counts are those of the last row; at the newest moment they add up from the beginning.
    const given = data.past ? (steps ? counts : [0, 0, 0]) : row.told && steps > 0 && !leapt ? counts.map((c, t) => c - row.told[t]) : [0, 0, 0];
    given.forEach((c, t) => {
      if (!c) return;
      if (steps === 1) markMoves(S, row, moved, t);
      row.glow[t] = Math.max(row.glow[t], data.past ? 1 : Math.min(1, c / Math.max(1, steps * 0.22)));
    });
    row.told = counts;
    row.impossible = impossible(S, row);
    return row;
  });
  if (S.rowsById.size > 3 * S.rows.length + 50) S.rowsById = new Map(S.rows.map((row) => [row.id, row]));
}

// With one row at a time, the bounds it moved carry the mark of its feedback for a moment.
function noteMoves(row, k, lo, hi, inc, moved) {
  if (lo !== row.lo[k] || (inc ^ row.inc[k]) & 1) moved.push({ k, upper: false });
  if (hi !== row.hi[k] || (inc ^ row.inc[k]) & 2) moved.push({ k, upper: true });
}

// One frame of movement; whether anything still moves.
function ease(S, dt) {
  const at = still() || dt > 900;
  const q = at ? 1 : 1 - Math.exp(-dt / FADE);
  const t = at ? 1 : 1 - Math.exp(-dt / TAIL);
  const glow = at ? 1 : Math.exp(-dt / (S.data.speed === "slow" ? 2 * GLOW : GLOW));
  let most = 0;
  const held = stageHold(S, at);
  for (const row of S.rows) {
    const jump = row.fresh;
    if (jump) row.staged = [];
    row.fresh = false;
    for (let k = 0; k < row.lower.length; k++) {
      const onL = row.inc[k] & 1;
      const onU = row.inc[k] >> 1;
      if (jump) {
        row.lower[k] = row.tailLower[k] = row.goalLower[k];
        row.upper[k] = row.tailUpper[k] = row.goalUpper[k];
        row.onLower[k] = onL;
        row.onUpper[k] = onU;
        continue;
      }
      row.lower[k] += (row.goalLower[k] - row.lower[k]) * q;
      row.upper[k] += (row.goalUpper[k] - row.upper[k]) * q;
      row.tailLower[k] += (row.lower[k] - row.tailLower[k]) * t;
      row.tailUpper[k] += (row.upper[k] - row.tailUpper[k]) * t;
      row.onLower[k] += (onL - row.onLower[k]) * q;
      row.onUpper[k] += (onU - row.onUpper[k]) * q;
      most = Math.max(most, Math.abs(row.goalLower[k] - row.tailLower[k]), Math.abs(row.goalUpper[k] - row.tailUpper[k]),
        Math.abs(onL - row.onLower[k]), Math.abs(onU - row.onUpper[k]));
    }
    if (row.staged.length) playStage(row, held);
    if (held < 1 || row.staged.length) most = 1;
    if (row.marks.length) {
      for (const mark of row.marks) mark.left -= still() || held < 1 ? 0 : dt / 1000;
      row.marks = row.marks.filter((mark) => mark.left > 0);
      most = 1;
    }
    for (let i = 0; i < 3; i++) {
      row.glow[i] *= still() || held < 1 ? 1 : glow;
      if (!still()) most = Math.max(most, row.glow[i] / 4);
    }
  }
  const goal = axisEnd(S);
  S.axis = S.axis && !at ? S.axis + (goal - S.axis) * (1 - Math.exp(-dt / GROW)) : goal;
  return Math.max(most, Math.abs(goal - S.axis) / goal) > 0.004;
}

// The time axis ends at 1, 2, 5, 10, 20, 40, 80 ... epochs, whichever holds the run.
function axisEnd(S) {
  const epochs = S.data.last / S.facts.rows;
  const stops = [1, 2, 5, 10, 20, 40];
  let end = stops.find((e) => e >= epochs - 1e-9);
  for (let e = 80; !end; e *= 2) if (e >= epochs - 1e-9) end = e;
  return end * S.facts.rows;
}

function impossible(S, row) {
  const named = new Map();
  for (let k = 0; k < row.inc.length; k++) {
    const f = S.features[k];
    const inc = row.inc[k];
    if (inc === 3 && row.lo[k] > row.hi[k]) return true;
    if (f.column.kind === "category" && inc & 1 && row.lo[k] === 1) {
      if (named.has(f.column)) return true;
      named.set(f.column, 1);
    }
  }
  return false;
}

// One feature's part of a clause: null if it is not in it.
function conditionWords(f, lo, hi, inc) {
  const name = f.column.label;
  const low = inc & 1 && lo > 0;
  const high = inc & 2 && hi < f.n - 1;
  if (!inc) return null;
  if (!low && !high) return f.gaps ? `${name} is known` : null;
  const kind = f.column.kind;
  if (kind === "category") {
    const value = f.column.names[f.slot];
    return low && high ? `${name} is and is not ${value}` : `${name} is ${low ? "" : "not "}${value}`;
  }
  if (kind === "boolean") return low && high ? `${name} is both values` : `${name} is ${f.column.names[low ? 1 : 0]}`;
  if (!f.cuts.length) {
    const from = low ? lo : 0;
    const to = high ? hi : f.n - 1;
    if (from > to) return `${name} is above ${f.column.names[from - 1]} and at most ${f.column.names[to]}`;
    return `${name} is ${f.column.names.slice(from, to + 1).join(" or ")}`;
  }
  const unit = f.column.unit ? ` ${f.column.unit}` : "";
  if (low && high) return `${number(f.cuts[lo - 1])} < ${name} ≤ ${number(f.cuts[hi])}${unit}`;
  return low ? `${name} > ${number(f.cuts[lo - 1])}${unit}` : `${name} ≤ ${number(f.cuts[hi])}${unit}`;
}

// The clause as [words, feature index] pairs, one an included feature.
function clauseWords(S, row) {
  const parts = [];
  for (let k = 0; k < row.inc.length; k++) {
    const words = conditionWords(S.features[k], row.lo[k], row.hi[k], row.inc[k]);
    if (words) parts.push([words, S.features[k].i]);
  }
  return parts;
}

const classWords = (S, k) => `${S.facts.marks[k]} ${S.facts.classes[k]}`;
// Who a side of the clauses speaks for: words, mark, colour.
function sideClass(S, side) {
  return S.multi ? S.focus : 1 - side;
}
function sideWords(S, side) {
  const name = S.facts.classes[sideClass(S, side)];
  return S.multi && side ? `against ${name}` : `for ${name}`;
}
function sideColour(S, side) {
  return S.multi ? S.P[side ? "against" : "for"] : S.P["c" + sideClass(S, side)];
}
// With more classes than there are colours, only the one in focus has one.
const everyHue = (S) => S.facts.classes.length <= CLASS_SHAPES.length;
function classColour(S, k) {
  if (everyHue(S)) return S.P["c" + k];
  return k === S.focus ? S.P.c1 : S.P.axis;
}
// Behind the glyphs more than four colours would be a rainbow: there the others are grey.
function groupColour(S, k) {
  return S.facts.classes.length <= 4 || k === S.focus ? classColour(S, k) : S.P.axis;
}
