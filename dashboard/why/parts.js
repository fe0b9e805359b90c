// Parts of the explanation: areas for chances with the draw as a mark, one bound's decision, an interval with its move.

const sv = (tag, settings, ...children) => el(`svg:${tag}`, settings, ...children);
const WHY_TYPES = { a: 0, b: 1, 2: 2, 0: 2 };
const whyColour = (type) => `var(--${FEEDBACK[WHY_TYPES[type]]})`;
const say = (x, y, text, extra = {}) => sv("text", { x, y, text, "font-size": 12, fill: "var(--ink2)", ...extra });
const twoDigits = (x) => minus(x.toFixed(2));
const plus = (x, digits = 1) => (x > 0 ? "+" : "") + minus(x.toFixed(digits));

function whyMark(type, size) {
  if (type === "a") {
    return sv("path", { d: `M${-size} ${-size}L-1 0L${-size} ${size}ZM${size} ${-size}L1 0L${size} ${size}Z`, fill: "var(--ia)" });
  }
  if (type === "b") {
    return sv("path", { d: `M-1.5 ${-size}L${-size - 1} 0L-1.5 ${size}M1.5 ${-size}L${size + 1} 0L1.5 ${size}`, fill: "none",
      stroke: "var(--ib)", "stroke-width": 1.8 });
  }
  if (type === "2") {
    return sv("path", { d: `M${-size} ${-size}L${size} ${size}M${size} ${-size}L${-size} ${size}`, fill: "none",
      stroke: "var(--ii)", "stroke-width": 2.2 });
  }
  return sv("circle", { r: 3, fill: type === "0" ? "none" : "var(--axis)", stroke: type === "0" ? "var(--ink3)" : "none",
    "stroke-width": 1.2, opacity: type === "0" ? 1 : 0.4 });
}

// A probability is an area from 0 to 1, the draw a mark on it: inside, it happens.
function chanceArea({ chance, draw, happened, high }, type) {
  const w = 92;
  const words = draw === null ? "No draw: it always happens" : `Draw ${draw.toFixed(3)}, chance ${chance.toFixed(3)}`;
  return sv("svg", { width: w, height: 22, viewBox: `0 0 ${w} 22`, role: "img", "aria-label": words },
    sv("rect", { x: 0.5, y: 6, width: w - 1, height: 10, fill: "var(--surface)", stroke: "var(--line)" }),
    chance ? sv("rect", { x: high ? w * (1 - chance) : 0, y: 6, width: w * chance, height: 10, fill: whyColour(type), opacity: happened ? 0.45 : 0.2 }) : null,
    draw === null ? null : sv("rect", { x: Math.min(w - 2, w * draw), y: 1, width: 2, height: 20, fill: "var(--ink)" }));
}

// What one draw did to one bound: the chance it had, whether it happened, and the words (equations 14 to 17).
function boundDecision(W, f, cell, upper) {
  const { type } = W.clause;
  const bound = cell[upper ? "upper" : "lower"];
  const other = cell[upper ? "lower" : "upper"];
  const moved = bound.at[0] !== bound.at[1];
  const grew = bound.state[1] - bound.state[0];
  const change = moved ? `${boundWords(f, bound.at[0], upper)} → ${boundWords(f, bound.at[1], upper)}` : "";
  const inwards = moved && (bound.at[1] > bound.at[0]) !== upper;
  let [chance, draw] = [0, bound.draw];
  let happened = moved || grew !== 0;
  let words;
  if (type === "2") {
    draw = null;
    chance = happened ? 1 : 0;
    words = bound.violated ? (grew ? "shuts the row out: firmer" : "shuts the row out, as firm as can be") : moved ? `the nearer bound moves: ${change}` : "left alone";
  } else if (type === "b" || bound.violated) {
    chance = 1 / W.s;
    happened = bound.event;
    words = !happened ? "draw outside: stays" : moved ? `${inwards ? "closer" : "wider"}: ${change}` : grew ? "weaker, at its end already" : "as weak as can be";
  } else if (other.violated) {
    draw = null;
    happened = moved || grew !== 0;
    words = happened ? change : "the other bound shuts the row out";
  } else {
    chance = W.boost ? 1 : 1 - 1 / W.s;
    happened = W.boost || !bound.event;
    draw = W.boost ? null : bound.draw;
    words = !happened ? "draw outside: stays" : moved ? `closer: ${change}` : "firmer, at the row already";
  }
  // Draws below 1/s are the rarer event; remembering is what happens above it, so its area is at the other end.
  const high = type === "a" && !bound.violated;
  return { chance, draw, happened, high, words, memory: memoryWords(W, bound) };
}

function memoryWords(W, { state: [before, after] }) {
  const [was, is] = [before > W.N, after > W.N];
  const end = was === is ? (is ? "in the clause" : "left out") : is ? "joins the clause" : "leaves the clause";
  return `memory ${before}${before === after ? "" : ` → ${after}`}, ${end}`;
}

function boundCell(W, f, cell, upper) {
  const told = boundDecision(W, f, cell, upper);
  return el("div", { class: "bd" + (told.happened ? "" : " no") }, chanceArea(told, W.clause.type),
    el("div", {}, told.words, el("small", { text: told.memory })));
}

// The interval before or after, with the row's own value as a diamond and the move in the accent.
function whyGlyph(S, W, f, cell, after) {
  const [w, h, m] = [230, 30, 15];
  const column = f.column;
  const pick = (pair) => pair[after ? 1 : 0];
  const place = (rank, upper) => (upper ? upperAt(f, rank) : lowerAt(f, rank)) * w;
  const bounds = [[cell.lower, false], [cell.upper, true]].map(([b, upper]) => ({ from: place(b.at[0], upper), to: place(b.at[1], upper),
    x: place(pick(b.at), upper), included: pick(b.state) > W.N }));
  const [low, high] = bounds;
  const on = low.included || high.included;
  const [a, b] = [low.included ? low.x : 0, high.included ? high.x : w];
  const svg = sv("svg", { width: w, height: h, viewBox: `-4 0 ${w + 8} ${h}`, "aria-hidden": "true" });
  if (column.kind !== "category") {
    const n = column.counts[0].length;
    column.counts.forEach((counts, k) => counts.forEach((count, i) => {
      const tall = (count / column.most) * 13;
      const inside = on && (i + 0.5) * w / n > a && (i + 0.5) * w / n < b;
      svg.append(sv("rect", { x: (i * w) / n, y: k === S.focus ? m - tall : m, width: w / n - 1, height: tall, fill: groupColour(S, k),
        opacity: inside ? 0.5 : 0.2 }));
    }));
  }
  svg.append(sv("rect", { x: 0, y: m - 0.5, width: w, height: 1, fill: "var(--line)" }));
  const side = answers(S).sideOf(W.clause.id);
  if (on && b > a) svg.append(sv("rect", { x: a, y: m - 3.5, width: b - a, height: 7, fill: sideColour(S, side), stroke: "var(--bg)" }));
  else if (on) svg.append(sv("path", { d: `M${b} ${m}H${a}`, stroke: "var(--ii)", "stroke-width": 2, "stroke-dasharray": "3 2" }));
  for (const bound of bounds) {
    if (bound.from !== bound.to) {
      svg.append(sv("rect", { x: bound.from - 0.5, y: 3, width: 1, height: 24, fill: "var(--accent)", opacity: 0.5 }));
      if (after) svg.append(sv("path", { d: `M${bound.from} 27.5H${bound.to}`, stroke: "var(--accent)", "stroke-width": 2.5 }));
    }
    svg.append(sv("rect", bound.included ? { x: bound.x - 1, y: 3, width: 2, height: 24, fill: "var(--ink)" }
      : { x: bound.x - 0.5, y: 9, width: 1, height: 12, fill: "var(--axis)" }));
  }
  const at = cell.rank === W.clause.missing ? null : valuePlace(f, cell.rank) * w;
  if (at !== null) svg.append(sv("path", { d: `M${at} ${m - 5.5}l5 5.5l-5 5.5l-5 -5.5z`, fill: "var(--bg)", stroke: "var(--accent)", "stroke-width": 2 }));
  return svg;
}

// Where a value of a rank lies: between its two cuts.
function valuePlace(f, rank) {
  if (f.column.kind !== "numeric") return (rank + 0.5) / f.n;
  return (lowerAt(f, rank) + upperAt(f, rank)) / 2;
}
