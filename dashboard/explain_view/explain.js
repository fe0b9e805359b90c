// The Explain page. Everything that comes from the data is set as text; the drawing of conditions is the rule list's.

const LANE = 330;
const pages = new WeakMap();

function lockPicture(on) {
  return node("svg:svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" },
    node("svg:rect", { x: 2.5, y: 6.5, width: 9, height: 6, rx: 1.5, fill: on ? "currentColor" : "none", stroke: "currentColor", "stroke-width": 1.3 }),
    node("svg:path", { d: on ? "M4.5 6V4.2a2.5 2.5 0 0 1 5 0V6" : "M4.5 6V4.2a2.5 2.5 0 0 1 4.8-1", fill: "none", stroke: "currentColor", "stroke-width": 1.3 }));
}

function press(text, on, extra = {}, ...more) {
  const made = node("button", { type: "button", class: "btn", ...extra }, text, ...more);
  made.onclick = on;
  return made;
}

// Asking: one ask is under way at a time; what is asked meanwhile waits, the latest value of a field replacing others.
function ask(page, name, value, moving = false) {
  page.waiting.push({ name, value });
  page.moving = moving;
  send(page);
}

function send(page) {
  if (page.asked !== null || !page.waiting.length) return;
  page.asked = Date.now() + Math.random();
  page.setTriggerValue("ask", { number: page.asked, commands: page.waiting, moving: page.moving });
  page.waiting = [];
}

function distribution(behind) {
  const box = node("svg:svg", { class: "wide", width: "100%", height: 18, viewBox: "0 0 100 18", preserveAspectRatio: "none", "aria-hidden": "true" });
  const tallest = Math.max(1, ...behind.up, ...behind.down);
  const one = behind.down.every((n) => n === 0);
  const middle = one ? 18 : 9;
  const wide = 100 / behind.up.length;
  behind.up.forEach((_, bin) => {
    const up = (behind.up[bin] / tallest) * middle;
    const down = (behind.down[bin] / tallest) * 9;
    if (up) box.append(node("svg:rect", { x: bin * wide, y: middle - up, width: wide - 0.5, height: up, fill: `var(--${behind.hues[0]})`, opacity: 0.45 }));
    if (down) box.append(node("svg:rect", { x: bin * wide, y: 9, width: wide - 0.5, height: down, fill: `var(--${behind.hues[1]})`, opacity: 0.45 }));
  });
  return box;
}

function numberField(page, field) {
  const range = node("input", { type: "range", class: `wide range${field.value === null ? " blank" : ""}`, min: field.min, max: field.max, step: "any",
    value: field.value ?? field.middle ?? field.min, "aria-label": field.label, "aria-valuetext": field.text, "data-place": field.place });
  const fill = () => range.style.setProperty("--part", `${(100 * (range.value - field.min)) / (field.max - field.min || 1)}%`);
  fill();
  const snapped = () => {
    const raw = Math.round((+range.value - field.min) / field.step) * field.step + field.min;
    return Math.min(field.max, Math.max(field.min, +raw.toPrecision(12)));
  };
  const told = (moving) => ask(page, "set", [[field.place, snapped()]], moving);
  range.oninput = () => { page.sliding = field.place; fill(); told(true); };
  range.onchange = () => { page.sliding = null; told(false); };
  range.onkeydown = (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (!way) return;
    event.preventDefault();
    range.value = snapped() + way * field.step;
    told(false);
  };
  const none = node("input", { type: "checkbox", "aria-label": `${field.label} is missing` });
  none.checked = field.value === null;
  none.onchange = () => ask(page, "set", [[field.place, none.checked ? null : field.middle]]);
  return [field.behind ? distribution(field.behind) : null, range,
    node("div", { class: "wide foot" }, node("span", { class: "was", text: field.was }), node("label", { class: "none" }, none, "missing"))];
}

function choiceField(page, field) {
  const select = node("select", { class: "wide", "aria-label": field.label, "data-place": field.place });
  field.options.forEach((option, index) => select.append(node("option", { value: index, text: option.text })));
  select.selectedIndex = field.chosen;
  select.onchange = () => ask(page, "set", [[field.place, field.options[select.selectedIndex].value]]);
  return [select];
}

function drawField(page, field) {
  const lock = node("button", { type: "button", class: "lock", "aria-pressed": String(field.locked), "aria-label": `Lock ${field.label}`, "data-lock": field.place,
    title: "A locked column is left alone when looking for a flip" }, lockPicture(field.locked));
  if (!page.data.flippable) lock.style.visibility = "hidden";
  lock.onclick = () => ask(page, "lock", field.place);
  const name = node("span", { class: "name" }, field.label, field.unit ? node("span", { class: "unit", text: ` ${field.unit}` }) : null);
  const value = node("span", { class: field.numeric ? "value" : "was", text: field.numeric ? field.text : field.was });
  const parts = field.numeric ? numberField(page, field) : choiceField(page, field);
  return node("div", { class: `field${field.was ? " changed" : ""}` }, name, value, lock, ...parts);
}

// While a slider is held its field stays; only its number follows.
function drawFields(page, fields) {
  const focus = page.root.getRootNode().activeElement;
  const [kind, place] = focus?.dataset?.lock !== undefined ? ["lock", focus.dataset.lock] : ["place", focus?.dataset?.place];
  fields.forEach((field, index) => {
    const old = page.fields.children[index];
    if (page.sliding === field.place && old) {
      old.querySelector(".value").textContent = field.text;
      old.querySelector(".foot .was").textContent = field.was;
      old.classList.toggle("changed", Boolean(field.was));
      return;
    }
    const made = drawField(page, field);
    if (old) old.replaceWith(made);
    else page.fields.append(made);
  });
  while (page.fields.children.length > fields.length) page.fields.lastChild.remove();
  if (place !== undefined && page.sliding === null) page.fields.querySelector(`[data-${kind}="${place}"]`)?.focus();
}

function scale(fall) {
  const reach = Math.max(-fall.low, fall.high, 1e-9) * 1.08;
  const left = fall.low < 0 ? Math.min(reach, Math.max(-fall.low * 1.15, reach * 0.3)) : reach * 0.3;
  const right = fall.high > 0 ? Math.min(reach, Math.max(fall.high * 1.15, reach * 0.3)) : reach * 0.3;
  return (value) => ((value + left) / (left + right)) * LANE;
}

function lane(x, bar, first, last) {
  const box = node("svg:svg", { viewBox: `0 0 ${LANE} 40`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const [from, to] = [x(bar.from), x(bar.to)];
  box.append(node("svg:rect", { x: x(0) - 0.5, y: 0, width: 1, height: 40, fill: "var(--axis)" }));
  if (!first) box.append(node("svg:rect", { x: (last ? to : from) - 0.5, y: 0, width: 1, height: 12, fill: "var(--ink2)" }));
  box.append(node("svg:rect", { x: Math.min(from, to), y: last ? 10 : 12, width: Math.max(1, Math.abs(to - from)), height: last ? 20 : 16, fill: `var(--${bar.hue})` }));
  if (!last) box.append(node("svg:rect", { x: to - 0.5, y: 28, width: 1, height: 12, fill: "var(--ink2)" }));
  return box;
}

function words(conditions, hue, first = "IF") {
  const sentence = node("span", { class: "sentence" });
  conditions.forEach((condition, index) => sentence.append(drawCondition(condition, index ? "AND" : first, hue), " "));
  return sentence;
}

function plainWords(word, text) {
  return node("span", { class: "sentence" }, node("span", { class: "condition" }, node("b", { class: "word", text: word }), text));
}

function drawFall(page, fall) {
  const x = scale(fall);
  const zero = (100 * x(0)) / LANE;
  const ends = node("div", { class: "ends" },
    node("span", { text: fall.left, style: { right: `calc(${100 - zero}% + 8px)`, color: `var(--${fall.hues[0]})`, maxWidth: `calc(${zero}% - 10px)` } }),
    node("span", { text: fall.right, style: { left: `calc(${zero}% + 8px)`, color: `var(--${fall.hues[1]})`, maxWidth: `calc(${100 - zero}% - 10px)` } }));
  ends.style.setProperty("--zero", `${zero}%`);
  page.fall.replaceChildren(
    node("div", { class: "bar axis" }, node("span", { text: "rules that hold for this row, heaviest first" }), ends, node("span", { class: "weight", text: "weight" })),
    ...fall.rows.map((row, index) => node("div", { class: "bar", role: "listitem" },
      row.conditions.length ? words(row.conditions, row.hue) : plainWords(row.word, row.text), lane(x, row, index === 0, false), node("span", { class: "weight", text: row.weight }))),
    node("div", { class: "bar total", role: "listitem" },
      node("span", {}, node("b", { text: fall.total.text }), node("span", { class: "note", text: fall.total.note ? `  ${fall.total.note}` : "" })),
      lane(x, fall.total, false, true), node("span", { class: "weight", text: fall.total.weight })));
}

function drawFlip(page, flip) {
  const sentence = node("span", { class: "sentence" });
  flip.changes.forEach((change, index) => sentence.append(
    index ? node("b", { class: "word", text: "AND" }) : "", `${change.label} `, node("span", { class: "before", text: `${change.before} → ` }),
    node("span", { class: change.chip ? "category" : "number", text: change.after })));
  const small = node("small", { text: flip.to ? `${flip.levels} · gives ${flip.to}` : flip.levels });
  sentence.append(small);
  return node("div", { role: "listitem" }, sentence, press("Try", () => ask(page, "set", flip.set), { class: "btn small" }));
}

function drawMissed(missed) {
  return node("div", { role: "listitem" }, words(missed.conditions, missed.hue, "NEEDS"),
    node("small", { class: "end" }, missed.note, missed.rest ? node("small", { text: missed.rest }) : null));
}

function drawVerdict(page, parts) {
  const withShares = parts.every((part) => part.share !== null);
  const name = (part, index) => {
    const [sign, ...rest] = [...part.text];
    return node("i", {}, node("span", { style: { color: `var(--${part.hue})` }, text: sign }), rest.join(""));
  };
  if (!withShares) { page.verdict.replaceChildren(...(parts.length > 2 ? parts.map(name) : [])); return; }
  const bar = node("div", { class: `shares${parts.length === 2 ? " half" : ""}`, role: "img", "aria-label": parts.map((part) => part.text).join(", ") },
    ...parts.map((part) => node("b", { style: { width: `${100 * part.share}%`, background: `var(--${part.hue})` } })));
  const [first, ...rest] = parts.map(name);
  page.verdict.replaceChildren(...(parts.length === 2 ? [first, bar, ...rest] : [bar, first, ...rest]));
}

function build(root) {
  const page = { root, waiting: [], asked: null, moving: false, sliding: null };
  const keep = (name, made) => { page[name] = made; return made; };
  root.append(
    node("div", { class: "headrow" }, node("div", {}, keep("title", node("h1")), keep("sub", node("p", { class: "sub", role: "status" }))),
      node("div", { class: "nav" }, press("‹ Row", () => ask(page, "go", -1), { "aria-label": "Row before" }), press("Row ›", () => ask(page, "go", 1), { "aria-label": "Next row" }),
        keep("wrong", press("Next wrong row", () => ask(page, "wrong", null), {}, node("kbd", { text: "W" }))))),
    keep("verdict", node("div", { class: "verdict" })),
    node("div", { class: "grid" },
      node("section", {}, node("h2", { text: "What if" }),
        keep("whatIf", node("p", { class: "cap" })),
        keep("fields", node("div", { class: "fields" })), keep("unread", node("p", { class: "unread" })),
        keep("own", press("Back to the row's own values", () => ask(page, "own", null), { class: "btn own" }))),
      node("section", {}, keep("fallTitle", node("h2")), keep("fallCap", node("p", { class: "cap" })), keep("choices", node("select", { class: "choices", "aria-label": "Class in focus" })),
        keep("fall", node("div", { class: "fall", role: "list" })),
        node("div", { class: "two" },
          node("div", {}, keep("flipTitle", node("h2")), keep("flipCap", node("p", { class: "cap" })), keep("flips", node("div", { class: "near", role: "list" }))),
          node("div", {}, node("h2", { text: "Rules that just missed" }), node("p", { class: "cap", text: "Closest to holding first, with what they would add." }), keep("missed", node("div", { class: "near", role: "list" })))))));
  page.choices.onchange = () => ask(page, "focus", page.choices.selectedIndex);
  return page;
}

function draw(page, data) {
  page.data = data;
  page.whatIf.textContent = data.whatIf;
  page.title.textContent = data.title;
  page.sub.textContent = data.sub;
  page.wrong.disabled = data.nWrong === 0;
  page.wrong.firstChild.textContent = data.wrongWord;
  page.own.disabled = !data.changed;
  page.unread.textContent = data.unread;
  drawVerdict(page, data.verdict);
  drawFields(page, data.fields);
  page.fallTitle.textContent = data.waterfall.title;
  page.fallCap.textContent = data.waterfall.caption;
  page.choices.hidden = data.waterfall.choices.length === 0;
  page.choices.replaceChildren(...data.waterfall.choices.map((text) => node("option", { text })));
  page.choices.selectedIndex = data.waterfall.focus;
  drawFall(page, data.waterfall);
  page.flips.classList.toggle("stale", data.flips === null);
  if (data.flips) {
    page.flipTitle.textContent = data.flips.title;
    page.flipCap.textContent = data.flips.caption;
    page.flips.replaceChildren(...data.flips.rows.map((flip) => drawFlip(page, flip)));
  }
  page.missed.replaceChildren(...data.missed.map(drawMissed));
}

export default function explain(component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".explain");
  let page = pages.get(root);
  if (!page) pages.set(root, (page = build(root)));
  page.setTriggerValue = setTriggerValue;
  if (page.asked === null || data.answer === page.asked) {
    page.asked = null;
    if (page.waiting.length === 0 || page.sliding !== null) draw(page, data);
    send(page);
  }
  const onKey = (event) => {
    if (event.key !== "w" && event.key !== "W") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    if (target.closest?.("input, select, textarea, [contenteditable]")) return;
    if (!page.wrong.disabled) ask(page, "wrong", null);
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
