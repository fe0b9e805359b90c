// One rule as a row: a sentence with its counts, or a line of the table. Needs sentences.js.

const NB = "\u00a0";
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}${NB}%`);
const times = (lift) => (lift === null ? "–" : lift.toFixed(1));
const count = (n, word) => `${n.toLocaleString("en-US")}${NB}${n === 1 ? word : `${word}s`}`;
const PARTS = ["train", "test"];
// A part's numbers: its rows, their share of all, then the measure that the last column of a sentence shows.
const ROWS = 0, SUPPORT = 1, MAIN = 2;
const size = (value) => (value === null ? "–" : Number(value.toPrecision(3)).toLocaleString("en-US").replace("-", "\u2212"));
const PRINT = { percent, times, size };
const measures = (body) => body.measures.map(([name, kind], place) => [name, place + 1, PRINT[kind]]);
const MOST_PARTS = 4;
const MOST_CONDITIONS = 8;

const ruleText = (rule) => rule.conditions.map((one) => one.parts.map(([, text]) => text).join(" ")).join(" AND ");

// What the drawing of sentences needs beside the rule: class marks, and the rows behind every numeric glyph.
function fill(rule, body) {
  const two = body.classes.length === 2;
  const own = body.classes[rule.index];
  const up = two ? 1 : rule.index;
  Object.assign(rule, { hue: own.hue, mark: own.mark, markHue: own.hue, share: rule.weight / body.top });
  rule.text = ruleText(rule);
  rule.others = rule.others.map(([index, text]) => ({ text, mark: body.classes[index].mark, hue: body.classes[index].hue }));
  for (const { column, glyph } of rule.conditions) {
    if (!glyph || glyph.cells) continue;
    const counts = body.behind.get(column);
    const rest = counts[0].map((_, bin) => counts.reduce((sum, one, index) => (index === up ? sum : sum + one[bin]), 0));
    Object.assign(glyph, { up: counts[up], down: rest, upHue: body.classes[up].hue, downHue: two ? body.classes[0].hue : "axis" });
  }
}

function drawSwitch(rule, on) {
  return node("button", { type: "button", class: "switch", role: "switch", "aria-checked": String(on), "data-part": "switch", tabindex: -1,
    "aria-label": `Use rule ${rule.number}`, title: on ? "Switch this rule off" : "Switch this rule on" });
}

function supportParts(rule, body) {
  const others = body.classes.map((_, index) => index).filter((index) => index !== rule.index);
  const order = body.classes.length === 2 ? [1, 0] : [rule.index, ...others];
  const total = Math.max(1, body.totals[0]);
  const made = (index) => ({ ...body.classes[index], count: rule.covered[index], share: rule.covered[index] / total });
  if (body.classes.length <= MOST_PARTS) return order.map(made);
  const rest = others.reduce((sum, index) => sum + rule.covered[index], 0);
  return [made(rule.index), { hue: "ink3", mark: "other", name: "other", count: rest, share: rest / total }];
}

function drawSupport(rule, body, chosen) {
  const parts = supportParts(rule, body);
  const bar = node("span", { class: "stack", "aria-hidden": "true" });
  for (const part of parts) bar.append(node("i", { style: { width: `${100 * part.share}%`, background: `var(--${part.hue})` } }));
  const words = node("small", { text: `${count(rule.train[ROWS], "row")}: ` });
  for (const part of parts) {
    words.append(node("span", { class: "part" }, `${part.count.toLocaleString("en-US")} `,
      node("span", { style: { color: `var(--${part.hue})` }, text: part.mark, title: part.name })), " ");
  }
  return node("button", { type: "button", class: "support", "data-part": "rows", tabindex: -1, "aria-pressed": String(chosen),
    "aria-label": `Show the rows that rule ${rule.number} covers: ${count(rule.train[ROWS], "training row")}`, title: "Show these rows" }, bar, words);
}

function drawMain(rule, body) {
  const print = PRINT[body.measures[MAIN - 1][1]];
  const test = rule.test[ROWS] ? `test ${print(rule.test[MAIN])}` : "no test row";
  return node("div", { class: "precision" }, node("span", { class: "number", text: rule.train[ROWS] ? print(rule.train[MAIN]) : "no rows" }),
    node("small", { text: test, title: `${count(rule.test[ROWS], "test row")} of ${body.totals[1].toLocaleString("en-US")}` }));
}

const state = (on, chosen) => `${on ? "" : " off"}${chosen ? " chosen" : ""}`;

function drawRule(rule, body, on, chosen, place, total) {
  const left = chosen ? 0 : rule.conditions.length - MOST_CONDITIONS;
  const sentence = drawSentence(left > 1 ? { ...rule, conditions: rule.conditions.slice(0, MOST_CONDITIONS) } : rule);
  if (left > 1) sentence.append(node("small", { text: `and ${count(left, "more condition")}, shown when the rule is chosen` }));
  if (rule.note) sentence.append(node("small", { text: rule.note }));
  if (rule.flags.length) sentence.append(node("small", { class: "flags", text: rule.flags.map(([, text]) => text).join(" · ") }));
  return node("div", { class: `row${state(on, chosen)}`, role: "listitem", "aria-posinset": place + 1, "aria-setsize": total, "data-number": rule.number },
    node("div", { class: "use" }, drawSwitch(rule, on), node("small", { text: rule.number })),
    drawWeight({ ...rule, weight: rule.weightText }), sentence, drawSupport(rule, body, chosen), drawMain(rule, body));
}

function drawStart(start, index, body) {
  const two = body.starts.length === 1;
  const shown = body.classes[two ? Number(start.share >= 0) : index];
  const text = `${two ? "" : `${shown.name}: `}every row begins here, before any rule`;
  return node("div", { class: "row start" }, node("div", { class: "use" }), drawWeight({ ...start, hue: shown.hue }),
    drawSentence({ conditions: [], text }));
}

function drawHead(body) {
  const scale = body.classes.length === 2 ? body.classes.map((one) => one.mark).join(" weight ") : "weight";
  return node("div", { class: "row head", "aria-hidden": "true" }, node("span", { text: "use" }),
    node("div", { class: "weight" }, node("span", { class: "centre", text: scale }), node("span")), node("span", { text: "rule" }),
    node("span", { text: `covers, of ${count(body.totals[0], "training row")}` }), node("span", { class: "precision", text: body.heads[0] }));
}

// Headings of the table: what is sorted by, the words, and whether large values come first.
const headings = (body) => [["number", "no.", false], ["weight", "weight", true], ["text", "rule", false], ["outcome", body.heads[1], false], ["literals", "literals", false],
  ...PARTS.flatMap((part) => measures(body).map(([name, at]) => [`${part}.${at}`, name, true]))];

function drawTableHead(body, sort, order) {
  const names = ["training", "test"];
  const groups = node("div", { class: "line groups", role: "row" }, node("span", { role: "cell", class: "before" }),
    ...names.map((name, k) => node("span", { role: "columnheader", class: "group", text: `${name}, ${count(body.totals[k], "row")}` })));
  const cells = headings(body).map(([key, words, down]) => {
    const own = sort.by === key;
    const arrow = own ? (sort.down ? " ↓" : " ↑") : "";
    const button = node("button", { type: "button", text: words + arrow });
    button.addEventListener("click", () => order(key, own ? !sort.down : down));
    const cell = node("span", { role: "columnheader", class: key.includes(".") || key === "weight" ? "right" : "", "aria-sort": own ? (sort.down ? "descending" : "ascending") : "none" });
    cell.append(button);
    return cell;
  });
  return node("div", { class: "head" }, groups,
    node("div", { class: "line", role: "row" }, node("span", { role: "columnheader", text: "use" }), ...cells, node("span", { role: "columnheader", text: "flags" })));
}

function drawLine(rule, body, on, chosen, place) {
  const cell = (text, kind = "") => node("span", { role: "cell", class: kind, text });
  const outcome = node("span", { role: "cell", title: rule.outcome }, node("span", { style: { color: `var(--${rule.hue})` }, text: rule.mark }), ` ${rule.outcome}`);
  const rows = node("button", { type: "button", class: "words", "data-part": "rows", tabindex: -1, "aria-pressed": String(chosen), title: rule.text,
    "aria-label": `Show the rows of rule ${rule.number}: ${rule.text}`, text: rule.text });
  const flags = rule.flags.map(([, text]) => text).join(" · ");
  return node("div", { class: `line${state(on, chosen)}`, role: "row", "aria-rowindex": place + 3, "data-number": rule.number },
    node("span", { role: "cell" }, drawSwitch(rule, on)), cell(rule.number), cell(rule.weightText, "right number"), node("span", { role: "cell" }, rows), outcome, cell(rule.literals),
    ...PARTS.flatMap((part) => measures(body).map(([name, at, print]) =>
      node("span", { role: "cell", class: "right", text: print(rule[part][at]), title: name === "support" ? count(rule[part][ROWS], "row") : null }))),
    node("span", { role: "cell", class: "flags", title: flags, text: flags }));
}
