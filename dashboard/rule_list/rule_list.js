// The list of rules: filters, order, sentences or a table, switches. What an edit does the server decides.

const sorts = (body) => [["Heaviest first", "weight", true], ["Most rows first", `train.${SUPPORT}`, true],
  ...body.sorts.map(([words, place, down]) => [words, `train.${place + 1}`, down]), ["Fewest literals first", "literals", false], ["As learned", "number", false]];
const SHARES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const LENGTHS = [1, 2, 3, 5, 8];
const FIRST = { column: "", index: -1, share: 0, length: 0, flag: "" };
const NO_FLAG = "none", OFF = "off";

function read(bytes) {
  const text = new TextDecoder().decode(bytes);
  const end = text.indexOf("\n");
  return [JSON.parse(text.slice(0, end)), text.length > end + 1 ? JSON.parse(text.slice(end + 1)) : null];
}

function value(rule, by) {
  if (by === "weight") return Math.abs(rule.weight);
  const [part, at] = by.split(".");
  return at === undefined ? rule[part] : rule[part][at];
}

// Rules without a value come last, equal ones heaviest first, then by number.
function sorted(rules, { by, down }) {
  const sign = down ? -1 : 1;
  return rules.map((rule) => [value(rule, by), rule]).sort(([a, one], [b, other]) => {
    if (a !== b) {
      if (a === null || b === null) return a === null ? 1 : -1;
      return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
    }
    return Math.abs(other.weight) - Math.abs(one.weight) || one.number - other.number;
  }).map(([, rule]) => rule);
}

function passes(rule, { column, index, share, length, flag }, off) {
  return (!column || rule.conditions.some((one) => one.column === column)) && (index < 0 || rule.index === index)
    && (!share || rule.train[SUPPORT] >= share) && (!length || rule.literals <= length)
    && (!flag || (flag === OFF ? off.has(rule.number) : flag === NO_FLAG ? !rule.flags.length : rule.flags.some(([kind]) => kind === flag)));
}

function select(label, options, chosen, take) {
  const made = node("select", { "aria-label": label });
  options.forEach(([words, key]) => made.append(node("option", { value: key, text: words })));
  made.value = String(chosen);
  made.addEventListener("change", () => take(made.value));
  return made;
}

function segments(label, options, chosen, take) {
  return node("div", { class: "segments", role: "group", "aria-label": label }, ...options.map(([words, key, hue]) => {
    const button = node("button", { type: "button", "aria-pressed": String(key === chosen) });
    if (hue) button.append(node("span", { style: { color: `var(--${hue[1]})` }, text: `${hue[0]} ` }));
    button.append(words);
    button.addEventListener("click", () => take(key));
    return button;
  }));
}

function button(words, take) {
  const made = node("button", { type: "button", class: "plain", text: words });
  made.addEventListener("click", take);
  return made;
}

function drawFilters(own) {
  const { body, filter, root } = own;
  const change = (part) => { Object.assign(filter, part); arrange(own); };
  const columns = [...body.behind.keys()].sort((a, b) => a.localeCompare(b)).map((name) => [name, name]);
  const names = body.numbers ? ["Lower it", "Raise it"] : body.classes.map((one) => one.name);
  const classes = [["All", -1], ...body.classes.map((one, index) => [names[index], index, [one.mark, one.hue]])];
  const ofClass = classes.length <= 5 ? segments(body.numbers ? "What rules do" : "Class", classes, filter.index, (index) => { change({ index }); drawFilters(own); })
    : select("Class", classes.map(([name, index]) => [index < 0 ? "Any class" : name, index]), filter.index, (index) => change({ index: Number(index) }));
  const kinds = body.kinds.map((kind) => [kind, body.rules.filter((rule) => rule.flags.some(([one]) => one === kind)).length]).filter(([, n]) => n);
  const flags = [["Any flag", ""], ["No flag", NO_FLAG], ...kinds.map(([kind, n]) => [`${kind} (${n.toLocaleString("en-US")})`, kind]), ["switched off", OFF]];
  const orders = sorts(body);
  const known = orders.findIndex(([, by, down]) => by === own.sort.by && down === own.sort.down);
  const named = [...orders.map(([words], place) => [words, place]), ...(known < 0 ? [["By a heading", -1]] : [])];
  const order = select("Sort", named, known, (place) => { own.sort = { by: orders[place][1], down: orders[place][2] }; arrange(own); });
  root.querySelector(".filters").replaceChildren(
    select("Feature", [["Any feature", ""], ...columns], filter.column, (column) => change({ column })), ofClass,
    select("Support", [["Any support", 0], ...SHARES.map((share) => [`covers ≥ ${percent(share)}`, share])], filter.share, (share) => change({ share: Number(share) })),
    select("Length", [["Any length", 0], ...LENGTHS.map((n) => [n === 1 ? "1 literal" : `≤ ${n} literals`, n])], filter.length, (n) => change({ length: Number(n) })),
    select("Flags", flags, filter.flag, (flag) => change({ flag })), order,
    segments("View", [["Sentences", "sentences"], ["Table", "table"]], own.view, (view) => { own.view = view; drawFilters(own); arrange(own); }));
}

function drawTitle(own) {
  const [n, total] = [own.shown.length, own.body.rules.length];
  const isFiltered = Object.keys(FIRST).some((key) => own.filter[key] !== FIRST[key]);
  const parts = [node("h3", { "aria-live": "polite", text: n === total ? `All ${count(total, "rule")}` : `${n.toLocaleString("en-US")} of ${count(total, "rule")}` })];
  if (isFiltered) parts.push(button("Show all", () => { Object.assign(own.filter, FIRST); drawFilters(own); arrange(own); }));
  const edits = node("div", { class: "edits" });
  if (own.off.size) edits.append(node("span", { text: `${own.off.size.toLocaleString("en-US")} switched off` }));
  if (own.told.undo) edits.append(button("Undo", () => ask(own, { name: "undo" })));
  if (own.told.edited) edits.append(button("Back to the rules as learned", () => ask(own, { name: "reset" })));
  own.root.querySelector(".title").replaceChildren(...parts, edits);
}

function ask(own, what) {
  own.asked += 1;
  own.setTriggerValue("ask", { ...what, number: own.asked, held: own.body ? own.body.name : null });
}

// Choose and order the rules, and draw those in view.
function arrange(own, top = 0) {
  const { body, filter, box } = own;
  own.shown = sorted(body.rules.filter((rule) => passes(rule, filter, own.off)), own.sort);
  const table = own.view === "table";
  own.list.guess = table ? 34 : 56;
  box.className = table ? "box table" : "box";
  box.setAttribute("role", table ? "table" : "group");
  box.setAttribute("aria-label", "Rules");
  if (table) box.setAttribute("aria-rowcount", own.shown.length + 2); else box.removeAttribute("aria-rowcount");
  own.inner.setAttribute("role", table ? "rowgroup" : "list");
  const head = table ? drawTableHead(body, own.sort, (by, down) => { own.sort = { by, down }; drawFilters(own); arrange(own); }) : drawHead(body);
  box.firstElementChild.replaceWith(head);
  drawTitle(own);
  box.scrollTop = 0;
  own.list.show(own.shown.map((rule) => rule.number));
  if (top) { box.scrollTop = top; own.list.paint(); }
  own.root.querySelector(".none").hidden = own.shown.length > 0;
}

function choose(own, number) {
  const before = own.chosen;
  own.chosen = number === before ? null : number;
  for (const one of [before, own.chosen]) if (one !== null) own.list.redraw(one);
  reach(own);
  ask(own, { name: "rows", rule: own.chosen });
}

function flip(own, number) {
  if (!own.off.delete(number)) own.off.add(number);
  own.list.redraw(number);
  reach(own);
  drawTitle(own);
  ask(own, { name: "off", off: [...own.off] });
}

// One row's parts can be reached by Tab, the others by the arrow keys.
function reach(own) {
  const { nodes, keys } = own.list;
  if (!nodes.has(own.at)) own.at = keys.find((key) => nodes.has(key));
  for (const [key, row] of nodes) for (const part of row.querySelectorAll("[data-part]")) part.tabIndex = key === own.at ? 0 : -1;
}

function move(own, event) {
  const row = event.target.closest("[data-number]");
  const part = event.target.dataset.part;
  if (!row || !part) return;
  const last = own.list.keys.length - 1;
  const here = own.list.keys.indexOf(Number(row.dataset.number));
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + 10, PageUp: here - 10, Home: 0, End: last }[event.key];
  const other = { ArrowLeft: "switch", ArrowRight: "rows" }[event.key];
  if (to === undefined && other === undefined) return;
  event.preventDefault();
  own.list.focus(to === undefined ? here : Math.min(last, Math.max(0, to)), other ?? part);
}

function start(root) {
  const box = root.querySelector(".box");
  const own = { root, box, inner: root.querySelector(".inner"), filter: { ...FIRST }, sort: { by: "weight", down: true }, view: "sentences",
    off: new Set(), chosen: null, at: null, asked: null, body: null, rules: new Map() };
  own.list = virtualList(box, own.inner, (number, place) => {
    const rule = own.rules.get(number);
    const [on, chosen] = [!own.off.has(number), number === own.chosen];
    return own.view === "table" ? drawLine(rule, own.body, on, chosen, place) : drawRule(rule, own.body, on, chosen, place, own.shown.length);
  }, 56, () => reach(own));
  own.inner.addEventListener("click", (event) => {
    const row = event.target.closest("[data-number]");
    if (!row || String(root.getRootNode().getSelection?.() ?? getSelection())) return;
    const number = Number(row.dataset.number);
    if (event.target.closest("[data-part=switch]")) flip(own, number); else choose(own, number);
  });
  own.inner.addEventListener("keydown", (event) => move(own, event));
  own.inner.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-number]");
    if (row && Number(row.dataset.number) !== own.at) { own.at = Number(row.dataset.number); reach(own); }
  });
  return own;
}

function take(own, body, name) {
  body.name = name;
  body.behind = new Map(body.columns.map((column) => [column.name, column.behind]));
  for (const rule of body.rules) fill(rule, body);
  own.body = body;
  own.rules = new Map(body.rules.map((rule) => [rule.number, rule]));
  if (!body.behind.has(own.filter.column)) own.filter.column = "";
  if (!body.kinds.includes(own.filter.flag) && ![NO_FLAG, OFF].includes(own.filter.flag)) own.filter.flag = "";
  own.root.querySelector(".starts").replaceChildren(...body.starts.map((one, index) => drawStart(one, index, body)));
  own.root.querySelector(".about").textContent = body.about;
  drawFilters(own);
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const own = parentElement.own ??= start(parentElement.querySelector(".rules"));
  const [told, body] = read(data);
  own.setTriggerValue = setTriggerValue;
  own.told = told;
  own.asked ??= told.answered;
  const current = told.answered >= own.asked || told.body !== own.body?.name;
  const off = current ? new Set(told.off) : own.off;
  const chosen = current ? told.chosen : own.chosen;
  const changed = [...own.rules.keys()].filter((number) => own.off.has(number) !== off.has(number) || (number === own.chosen) !== (number === chosen));
  Object.assign(own, { off, chosen });
  if (body && told.body !== own.body?.name) { take(own, body, told.body); arrange(own, own.box.scrollTop); return; }
  if (told.body !== own.body?.name) { ask(own, { name: "body" }); return; }
  changed.forEach((number) => own.list.redraw(number));
  reach(own);
  drawTitle(own);
}
