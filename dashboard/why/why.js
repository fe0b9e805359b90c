// Why did it move? One row that was learned: its values, the vote, the chance, all draws, and what it did inside a clause.

const WHY_WORDS = { a: ["recognised the row", "Type Ia"], b: ["forgot a little", "Type Ib"], 2: ["rejected the row", "Type II"],
  0: ["was drawn, and stays", "no feedback"], "-": ["was not drawn", "no feedback"] };
const WHY_ROWS = 8;

function buildWhy(S, named) {
  const step = (text, key, title) => button(text, key, { title });
  return named("why", el("section", { class: "why", hidden: true, "aria-label": "Why did it move?" },
    el("div", { class: "headrow" },
      el("div", {}, named("whyHead", el("h1", { tabindex: "-1" })), named("whySub", el("p", { class: "sub" }))),
      el("div", { class: "r" }, named("whyBack", step("‹ Row", "←", "The row before")), named("whyOn", step("Row ›", "→", "The row after")),
        named("whySeg", el("div", { class: "seg", role: "group", "aria-label": "Bounds" },
          ["Before", "After"].map((text, i) => el("button", { type: "button", "data-after": i, "aria-pressed": String(i === 1), text })))),
        named("whyClose", button("Close", "Esc", { title: "Back to all clauses" })))),
    el("div", { class: "steps" },
      el("section", {}, numbered(1, "The row"), named("whyRow", el("p", { class: "cap" })), named("whyChips", el("div", { class: "chips" }))),
      el("section", {}, numbered(2, "The vote"), named("whyVoteNote", el("p", { class: "cap" })), named("whyVote", el("div", { class: "plot" }))),
      el("section", {}, numbered(3, "The chance of feedback"),
        el("p", { class: "cap", text: "The further the vote sum is from its target, the more clauses learn from the row, which is called feedback." }), named("whyChance", el("p", { class: "eq" })))),
    numbered(4, "The draws: a clause learns when its draw falls inside the shaded area", "st"), named("whyDrawNote", el("p", { class: "cap" })),
    named("whyDraws", el("div", { class: "plot" })),
    el("div", { class: "headrow st5" }, numbered(5, "What it did inside a clause", "st"),
      named("whyClause", el("select", { class: "sel", "aria-label": "Clause explained" }))),
    named("whyTabs", el("div", { class: "tabs", role: "group", "aria-label": "Clauses the row taught" })),
    named("whySay", el("p", { class: "say" })), named("whyMemory", el("p", { class: "cap" })),
    el("div", { class: "card cells" }, named("whyTable", el("table"))), named("whyMore", el("p", { class: "cap" })),
    el("details", { class: "words" }, el("summary", { text: "Every step in words, with the equations of Abeyrathna, Granmo and Goodwin (2021)" }), named("whyWords", el("ol")))));
}

const numbered = (n, text, extra = "") => el("h2", { class: `no ${extra}` }, el("span", { "aria-hidden": "true", text: n }), text);

function writeWhy(S) {
  const W = S.data.why;
  const opened = W && S.why.hidden;
  S.why.hidden = !W;
  S.body.hidden = !S.facts || !S.data.rows || Boolean(W);
  if (!W) { if (S.whySaid) { S.whySaid = ""; S.dirty = true; } return; }
  const said = JSON.stringify([W, S.P.dark, S.whyBefore, S.whyAll, S.root.clientWidth]);
  if (said === S.whySaid) return;
  S.whySaid = said;
  writeWhyRow(S, W);
  answers(S).writeWhyVote(S, W);
  writeDraws(S, W);
  writeTabs(S, W);
  writeClauseChoice(S, W);
  writeCells(S, W);
  if (opened) { S.whyHead.focus({ preventScroll: true }); S.why.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }); }
}

const taught = (W) => [...W.types].filter((t) => "ab2".includes(t)).length;

function writeWhyRow(S, W) {
  const n = taught(W);
  const missed = W.found ? "" : " · no move of the chosen bound was found";
  setText(S.whyHead, n ? `${n === 1 ? "One" : whole(n)} of ${whole(W.types.length)} clauses learned from this row` : "No clause learned from this row");
  setText(S.whySub, `Row ${whole(W.step + 1)} in the film · epoch ${W.epoch + 1} · training row ${whole(W.row + 1)} · the draws below are those that were made${missed}`);
  setText(S.whyRow, `A training row recorded as ${answers(S).rowIs(S, W)}.`);
  S.whyChips.replaceChildren(...S.facts.columns.slice(0, 60).map((c, i) => el("span", {}, `${c.label} `, el("b", { text: W.values[i] }))));
  S.whyBack.disabled = W.step < 1;
  S.whyOn.disabled = W.step + 1 >= S.data.last;
}

function writeVote(S, W) {
  const target = W.y ? W.T : -W.T;
  const own = S.facts.classes[S.multi ? W.machine : W.y];
  setText(S.whyVoteNote, `The clauses${S.multi ? ` of ${own}` : ""} that hold for this row add up to ${plus(W.v)}, their vote sum v. `
    + (S.multi ? `The row is ${W.y ? "" : "not "}${own}: the target is ${plus(target, 0)}.` : `The target for ${own} is ${plus(target, 0)}.`));
  const w = Math.max(220, Math.min(420, S.whyVote.clientWidth || 300));
  const x = (v) => 10 + ((v + W.T) / (2 * W.T)) * (w - 20);
  const v = Math.max(-W.T, Math.min(W.T, W.v));
  const bar = (a, b, extra) => sv("rect", { x: Math.min(x(a), x(b)), y: 26, width: Math.abs(x(b) - x(a)), height: 14, ...extra });
  const hue = S.multi ? (v > 0 ? "var(--for)" : "var(--against)") : `var(--c${v > 0 ? 1 : 0})`;
  const gap = Math.abs(target - v);
  S.whyVote.replaceChildren(sv("svg", { width: w, height: 66, role: "img", "aria-label": `Vote ${plus(W.v)}, target ${plus(target, 0)}` },
    bar(-W.T, W.T, { fill: "var(--surface)", rx: 3 }), bar(0, v, { fill: hue }), bar(v, target, { fill: "var(--accent)", opacity: 0.2 }),
    sv("rect", { x: x(0) - 0.5, y: 20, width: 1, height: 26, fill: "var(--axis)" }),
    sv("rect", { x: x(target) - 1, y: 18, width: 2, height: 30, fill: "var(--ink)" }),
    say(Math.max(40, Math.min(w - 40, x(v))), 15, `v = ${plus(W.v)}`, { "font-weight": 650, fill: "var(--ink)", "text-anchor": "middle" }),
    say(10, 60, minus(-W.T)), say(x(0), 60, "0", { "text-anchor": "middle" }), say(w - 10, 60, `+${number(W.T)}`, { "text-anchor": "end" }),
    Math.abs(x(v) - x(target)) > 84 ? say((x(v) + x(target)) / 2, 37, `missing ${gap.toFixed(1)}`, { "text-anchor": "middle", "font-size": 11.5 }) : null));
  const sign = W.y ? "−" : "+";
  const shown = W.v === v ? twoDigits(v) : `${twoDigits(v)} at most`;
  S.whyChance.replaceChildren(`p = (T ${sign} v) / 2T = (${number(W.T)} ${sign} ${v < 0 ? `(${shown})` : shown}) / ${number(2 * W.T)}${W.weighted ? " × class weight" : ""} = `,
    el("b", { text: twoDigits(W.chance) }),
    el("span", { text: `p is the chance with which a clause learns from this row, the same for all (equation ${W.equation}).` }));
}

function writeDraws(S, W) {
  const count = (t) => [...W.types].filter((c) => c === t).length;
  const idle = count("0");
  setText(S.whyDrawNote, `Each clause draws a random number from 0 to 1. A mark is a clause, and where it stands is its draw.${idle
    ? ` ${whole(idle)} more drew below ${twoDigits(W.chance)} but stay as they are: they did not let the row through, so there is nothing to reject.` : ""}`);
  const width = S.whyDraws.clientWidth || 800;
  const narrow = width < 640;
  const [l, r, t] = [narrow ? 8 : 190, 10, narrow ? 44 : 24];
  const many = W.types.length > 160;
  const stack = many ? 7 : 15;
  const { lanes, sideOf } = answers(S);
  const side = (narrow ? 100 : 88) * (lanes === 1 ? 1.6 : 1);
  const [mid, b] = [t + side, t + lanes * side + 4];
  const x = (u) => l + u * (width - l - r);
  const svg = sv("svg", { width, height: b + 34, role: "img", "aria-label": `${taught(W)} clauses drew below ${twoDigits(W.chance)} and learned` });
  svg.append(sv("rect", { x: x(0), y: t - 8, width: x(W.chance) - x(0), height: b - t + 12, fill: "var(--accent)", opacity: 0.13 }),
    sv("rect", { x: x(W.chance) - 0.75, y: t - 8, width: 1.5, height: b - t + 12, fill: "var(--accent)" }),
    say(Math.min(width - 70, x(W.chance) + 8), t + 1, `p = ${twoDigits(W.chance)}`, { fill: "var(--accent)", "font-weight": 650 }),
    sv("line", { x1: x(0), x2: x(1), y1: b + 4, y2: b + 4, stroke: "var(--axis)" }), sv("line", { x1: 0, x2: width, y1: mid + 2, y2: mid + 2, stroke: "var(--line)" }));
  for (const v of [0, 0.25, 0.5, 0.75, 1]) svg.append(sv("line", { x1: x(v), x2: x(v), y1: b + 4, y2: b + 8, stroke: "var(--axis)" }),
    say(x(v), b + 22, v, { "text-anchor": v === 1 ? "end" : v ? "middle" : narrow ? "start" : "middle", "font-size": 11.5, fill: "var(--ink3)" }));
  [0, 1].slice(0, lanes).forEach((s) => {
    const learned = [["a", "recognise it (Ia)"], ["b", "forget a little (Ib)"], ["2", "reject it (II)"]]
      .map(([type, words]) => [[...W.types].filter((c, j) => c === type && sideOf(j) === s).length, words]).filter(([n]) => n).map(([n, words]) => `${n} ${words}`);
    const y = s ? mid : t - 8;
    const title = answers(S).laneTitle(S, s);
    const head = { fill: sideColour(S, s), "font-weight": 650, "font-size": 13 };
    if (narrow) svg.append(say(0, s ? y + 18 : 14, `${title}${learned.length ? `: ${learned.join(", ")}` : ""}`, { ...head, "font-size": 12 }));
    else { svg.append(say(0, y + 24, title.length > 26 ? `${title.slice(0, 25)}…` : title, head)); learned.forEach((words, i) => svg.append(say(0, y + 42 + 17 * i, words))); }
  });
  placeDraws(S, W, svg, { x, top: t, mid, b, stack, room: side - 30 });
  S.whyDraws.replaceChildren(svg);
}

function placeDraws(S, W, svg, { x, mid, b, stack, room }) {
  const used = [[], []];
  let front = null;
  const order = W.draws.map((u, j) => [u, j]).sort((p, q) => p[0] - q[0]);
  for (const [u, j] of order) {
    const type = W.types[j];
    const at = x(u);
    const lane = answers(S).sideOf(j);
    const line = used[lane];
    let level = 0;
    while (line.some((p) => p.level === level && Math.abs(p.at - at) < stack)) level += 1;
    line.push({ at, level });
    const y = (lane ? b - 12 : mid - 12) - Math.min(room, level * Math.min(17, stack + 2));
    const chosen = j === W.clause.id;
    const g = sv("g", { transform: `translate(${at},${y})`, class: "draw", "data-clause": j },
      chosen ? sv("circle", { r: 10.5, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }) : null,
      whyMark(type, W.types.length > 160 ? 3.5 : 5), sv("circle", { r: 8, fill: "transparent" }),
      sv("title", { text: `Clause ${j + 1}, draw ${u.toFixed(3)}: ${WHY_WORDS[type][0]}` }));
    if (chosen) {
      front = g;
      g.append(say(0, y > mid ? -14 : 24, `clause ${j + 1}`, { "text-anchor": "middle", "font-weight": 650, stroke: "var(--bg)", "stroke-width": 4, "paint-order": "stroke", fill: "var(--accent)" }));
    } else svg.append(g);
  }
  if (front) svg.append(front);
}

// The chosen clause, and one for each kind of feedback that it did not get.
function writeTabs(S, W) {
  const picks = new Map([[W.types[W.clause.id], W.clause.id]]);
  for (const type of "ab2") {
    const j = W.types.indexOf(type);
    if (j >= 0 && !picks.has(type)) picks.set(type, j);
  }
  S.whyTabs.replaceChildren(...[...picks].sort((p, q) => "ab20-".indexOf(p[0]) - "ab20-".indexOf(q[0])).map(([type, j]) => {
    const [did, name] = WHY_WORDS[type];
    return el("button", { type: "button", class: "tab", "data-clause": j, "aria-pressed": String(j === W.clause.id) },
      sv("svg", { width: 24, height: 24, viewBox: "-12 -12 24 24", "aria-hidden": "true" }, whyMark(type, 7)),
      el("b", { text: `Clause ${j + 1} ${did}` }),
      el("small", { text: `${name} · ${answers(S).sideVerb(S, answers(S).sideOf(j))} · draw ${W.draws[j].toFixed(2)} ${W.draws[j] < W.chance ? "<" : "≥"} ${twoDigits(W.chance)}` }));
  }));
}

// Any clause, for the keyboard as well as the mouse.
function writeClauseChoice(S, W) {
  const names = { a: "recognised", b: "forgot", 2: "rejected", 0: "drawn, stays", "-": "not drawn" };
  if (S.whyClause.dataset.types !== W.types) {
    S.whyClause.dataset.types = W.types;
    S.whyClause.replaceChildren(...[...W.types].map((type, j) => el("option", { value: j, text: `Clause ${j + 1}: ${names[type]}` })));
  }
  S.whyClause.value = String(W.clause.id);
}

function clauseSentence(S, W) {
  const { clause } = W;
  const [before, after] = clause.weight;
  const weight = before === after ? `Its weight stays ${before.toFixed(2)}.` : `Its weight ${after > before ? "grows" : "falls"} from ${before.toFixed(3)} to ${after.toFixed(3)}.`;
  const votes = `Clause ${clause.id + 1} ${answers(S).sideVerb(S, answers(S).sideOf(clause.id))}`;
  const rate = twoDigits(1 / W.s);
  const keep = W.boost ? "always" : `with probability (s − 1)/s = ${twoDigits(1 - 1 / W.s)}`;
  return { a: `${votes} and let this row through. It is told to recognise such rows: every bound that holds is remembered more strongly ${keep}, and steps closer. ${weight}`,
    b: `${votes} but ${clause.output ? "holds more literals than it may" : "did not let this row through"}. It is told to forget a little: every bound weakens with probability 1/s = ${rate} and steps away, so the clause becomes wider. ${weight}`,
    2: `${votes} and yet let this row through. To reject such rows, bounds outside the row grow stronger; where the row lies between both bounds, one of them may step towards it. Nothing but ties is left to chance here. ${weight}`,
    0: `${votes}, its draw hit, but it did not let this row through: there is nothing to reject, and nothing in it moves.`,
    "-": `${votes}. Its draw ${clause.draw.toFixed(2)} is not below ${twoDigits(W.chance)}, so it learns nothing from this row.` }[clause.type];
}

function writeCells(S, W) {
  const { clause } = W;
  setText(S.whySay, clauseSentence(S, W));
  setText(S.whyMemory, clause.cells.length ? `Every bound has a memory from 1 to ${2 * W.N}: above ${W.N} it is in the clause, else it is left out. Shaded: the chance of a move. Mark: the draw.` : "");
  S.whyWords.replaceChildren(...clause.words.map((text) => el("li", { text })));
  S.whyTable.parentElement.hidden = !clause.cells.length;
  setText(S.whyMore, !clause.cells.length && "ab2".includes(clause.type) ? "The moves of its literals are listed below, in words." : "");
  if (!clause.cells.length) return;
  const score = (cell) => (cell.feature === W.asked ? 100 : 0) + Math.max(...[cell.lower, cell.upper].map(({ state, at }) =>
    (state[0] > W.N || state[1] > W.N ? 4 : 0) + (at[0] !== at[1] ? 2 : 0) + (state[0] !== state[1] ? 0.5 : 0)));
  const cells = [...clause.cells].sort((p, q) => score(q) - score(p));
  const shown = S.whyAll ? cells : cells.slice(0, WHY_ROWS);
  const equation = { a: [", equation 14", ", equation 15"], b: [", equation 16", ", equation 17"], 2: ["", ""] }[clause.type];
  S.whyTable.replaceChildren(el("thead", {}, el("tr", {}, ["feature and this row's value ◆", "interval and its move",
    `lower bound${equation[0]}`, `upper bound${equation[1]}`].map((text) => el("th", { text, scope: "col" })))),
  el("tbody", {}, shown.map((cell) => {
    const f = S.facts.features.get(cell.feature);
    const index = S.facts.columns.indexOf(f.column);
    const name = f.column.label + (f.column.kind === "category" ? `: ${f.column.names[f.slot]}` : "");
    const value = f.column.kind === "category" && cell.rank !== clause.missing ? (cell.rank ? "yes" : "no") : W.values[index];
    return el("tr", { class: cell.feature === W.asked ? "asked" : null },
      el("td", { class: "f" }, el("b", { text: name }), el("span", { text: value })),
      el("td", { class: "g" }, whyGlyph(S, W, f, cell, !S.whyBefore)),
      el("td", { "data-label": `lower bound${equation[0]}` }, boundCell(W, f, cell, false)),
      el("td", { "data-label": `upper bound${equation[1]}` }, boundCell(W, f, cell, true)));
  })));
  const rest = cells.slice(WHY_ROWS);
  const inside = rest.filter(({ lower, upper }) => lower.state[1] > W.N || upper.state[1] > W.N).length;
  const link = rest.length ? button(S.whyAll ? "Fewer features" : rest.length === 1 ? `One more feature, ${inside ? "in" : "not in"} the clause` : `${rest.length} more features, ${inside || "none"} of them in the clause`) : null;
  link?.addEventListener("click", () => { S.whyAll = !S.whyAll; S.dirty = true; wake(S); });
  S.whyMore.replaceChildren(...(link ? [link] : []));
}

function wireWhy(S) {
  const pick = (e) => {
    const target = e.target.closest("[data-clause]");
    if (target) send(S, "why", Number(target.dataset.clause));
  };
  S.whyTabs.addEventListener("click", pick);
  S.whyDraws.addEventListener("click", pick);
  S.whyClause.addEventListener("change", () => send(S, "why", Number(S.whyClause.value)));
  S.whyBack.addEventListener("click", () => goBy(S, -1, false));
  S.whyOn.addEventListener("click", () => goBy(S, 1, false));
  S.whyClose.addEventListener("click", () => closeWhy(S));
  S.whySeg.addEventListener("click", (e) => {
    const b = e.target.closest("button");
    if (!b) return;
    S.whyBefore = b.dataset.after === "0";
    for (const other of S.whySeg.children) other.setAttribute("aria-pressed", String(other === b));
    S.dirty = true;
    wake(S);
  });
}

function askWhy(S, name) {
  if (!S.data.rows || !S.data.last) return;
  hope(S, S.data.past ? "past" : "paused", 0.6);
  send(S, name);
}

function closeWhy(S) {
  send(S, "close_why");
  S.data.why = undefined;
  writeWhy(S);
  S.dirty = true;
  wake(S);
}
