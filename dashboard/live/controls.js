// Clicks, keys and pointer. A command takes effect on screen at once and is sent with a number of its own.

let commandNumber = 0;
let lastNumber = 0;
const tab = Math.random().toString(36).slice(2);
const PULL = 55;
const HIDDEN_PULL = 4000;
const LOST = 3000;
const SILENT = 3;
const LEAVING = 3000;
const ENDED = 1000;

function send(S, name, value = null) {
  commandNumber += 1;
  S.outbox.push({ id: `${tab}-${commandNumber}`, name, value });
  ask(S);
}

// One question at a time: the next goes out when the last was answered, with all commands given since. Those of one
// that was never answered go along again; the server carries each out once.
function ask(S) {
  const now = performance.now();
  if (S.asked && now - S.askedAt < LOST) return;
  if (now - S.leftAt < LEAVING) return; // Streamlit may lose a change of the page that meets another request
  if (!S.asked) S.waitingSince = now;
  S.unanswered = [...(S.asked ? S.unanswered : []), ...S.outbox.splice(0)];
  S.asked = lastNumber = Math.max(lastNumber + 1, Date.now());
  S.askedAt = now;
  S.setTriggerValue("ask", { number: S.asked, commands: S.unanswered });
}

function answered(S) {
  if (S.asked && S.data.answer >= S.asked) S.asked = 0;
  heard(S);
  noticeSilence(S);
  arrived(S);
  if (S.outbox.length) ask(S);
}

// News that no question of this page brought, as after a cut, is an answer too where nothing was commanded.
function heard(S) {
  const { answer, sequence, state, lapsed, busy } = S.data;
  const news = [answer, sequence, state, lapsed].join();
  if (news === S.news) return;
  S.news = news;
  S.waitingSince = performance.now();
  if (!busy && !S.unanswered?.length) S.asked = 0;
}

// Whole seconds without an answer to what was asked, 0 below three; whether that changed.
function noticeSilence(S) {
  const seconds = S.asked ? Math.floor((performance.now() - S.waitingSince) / 1000) : 0;
  const silent = seconds >= SILENT ? seconds : 0;
  if (silent === (S.silent || 0)) return false;
  S.silent = silent;
  S.root.dataset.silent = silent || "";
  S.dirty = true;
  return true;
}

// While something runs, ask for the next frame as soon as this one is here and the one before it was drawn.
function keepAsking(S) {
  if (S.outbox.length || (S.asked && S.unanswered.length)) { ask(S); return; }
  const due = () => performance.now() - (S.askedAt || 0) >= (document.hidden ? HIDDEN_PULL : PULL);
  if (S.data && S.data.busy && (!S.asked || performance.now() - S.askedAt > LOST) && due()
    && (S.undrawn < 2 || document.hidden || !S.facts)) ask(S);
}

function hope(S, state, seconds = 1.5) {
  S.hope = { state, until: performance.now() + 1000 * seconds };
  S.root.dataset.state = state;
  S.dirty = true;
  writeTexts(S, performance.now());
}

// A run, or the film of its past, that came to its end by itself; what is pressed just then was meant as a pause.
function noteEnd(S, before, state) {
  const ended = before === "replaying" ? !["past", "replaying", "learning"].includes(state)
    : state === "finished" && ["ready", "learning", "paused"].includes(before);
  if (ended) S.endedAt = performance.now();
  else if (state !== before) S.endedAt = undefined;
}

function toggle(S) {
  const state = shownState(S);
  if (state === "failed" || state === "settling" || performance.now() - S.endedAt < ENDED) return;
  const learning = ["learning", "replaying"].includes(state) || (S.data.waiting && state !== "paused");
  if (state !== "compiling") hope(S, S.data.past ? (learning ? "past" : "replaying") : learning ? "paused" : "learning");
  send(S, learning ? "pause" : "play");
}

const steps = (S) => !["failed", "settling", "compiling"].includes(shownState(S));

function act(S, name) {
  if (name === "toggle") toggle(S);
  else if (!steps(S)) return;
  else if (name === "reset") askReset(S);
  else {
    if (name === "settle") hope(S, "settling", 0.6);
    else if (S.data.past) hope(S, "past", 0.4);
    else if (name === "one_epoch") hope(S, "learning", 0.4); else hope(S, "paused", 0.4);
    send(S, name);
  }
}

// Ask only when something would be lost.
function askReset(S) {
  if (!S.data.last) return;
  setText(S.askText, S.data.state === "settled" ? "The settled rules of this run go too." : `This run's ${(S.data.last / S.facts.rows).toFixed(1)} epochs would be lost.`);
  S.ask.hidden = false;
  S.askYes.focus();
}

function setSpeed(S, speed) {
  S.speedHope = { speed, until: performance.now() + 1500 };
  showSpeed(S);
  send(S, "speed", speed);
}

function showSpeed(S) {
  if (S.speedHope && performance.now() > S.speedHope.until) S.speedHope = null;
  const speed = S.speedHope ? S.speedHope.speed : S.data.speed;
  for (const b of S.speeds.children) setAttribute(b, "aria-pressed", b.dataset.speed === speed);
}

function look(S, change) {
  S.data.view = { ...S.data.view, ...change };
  S.dirty = true;
  send(S, "view", { ...S.data.view });
}

function moveCell(S, event) {
  if (S.G.by) { moveClause(S, event); return; }
  const { view } = S.data;
  const at = S.rows.findIndex((row) => row.id === view.clause);
  const shown = S.G.columns.flatMap((c) => c.ks.map((k) => S.features[k].i));
  const place = shown.indexOf(view.feature);
  const go = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!go || !S.rows.length) return;
  event.preventDefault();
  const row = S.rows[Math.max(0, Math.min(S.rows.length - 1, at + go[0]))];
  const feature = shown[Math.max(0, Math.min(shown.length - 1, place + go[1]))];
  const line = S.G.lines.find((l) => l.row === row);
  if (line.y < S.scroller.scrollTop + HEAD) S.scroller.scrollTop = line.y - HEAD - 30;
  else if (line.y + S.G.rowHeight > S.scroller.scrollTop + S.G.height) S.scroller.scrollTop = line.y + 2 * S.G.rowHeight - S.G.height;
  look(S, { clause: row.id, feature });
  sayCell(S, row, feature);
}

// The matrix is a picture: where the arrow keys led is said to those who listen.
function sayCell(S, row, feature) {
  setText(S.cellSay, `Clause ${row.id + 1}: ${cellWords(S, { row, feature: S.facts.features.get(feature) })}`);
}

// By feature: up and down within a side, left and right between them.
function moveClause(S, event) {
  const go = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const lines = S.G.lines.filter((line) => line.row);
  const here = lines.find((line) => line.row.id === S.data.view.clause) || lines[0];
  if (!here || !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const next = go ? lines.find((line) => line.x0 === here.x0 && line.y === here.y + go * BY_ROW)
    : lines.findLast((line) => line.x0 !== here.x0 && line.y <= here.y);
  if (!next) return;
  if (next.y < S.scroller.scrollTop + BY_HEAD) S.scroller.scrollTop = next.y - BY_HEAD - 20;
  else if (next.y + BY_ROW > S.scroller.scrollTop + S.G.height) S.scroller.scrollTop = next.y + 2 * BY_ROW - S.G.height;
  look(S, { clause: next.row.id });
  sayCell(S, next.row, S.data.view.feature);
}

function pointAt(S, event) {
  const box = S.pin.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const cell = cellAt(S, x, y);
  S.hover = cell;
  S.dirty = true;
  const words = cell?.feature ? cellWords(S, cell) : headWords(S, x, y);
  S.tip.hidden = !words;
  if (!words) return;
  setText(S.tip, words);
  S.tip.style.left = Math.min(x + 12, S.G.width - 240) + "px";
  S.tip.style.top = (y + 60 > S.G.height ? y - 44 : y + 16) + "px";
}

// Above the matrix only the beginnings of values have room.
function headWords(S, x, y) {
  if (!S.G || S.G.by || y >= HEAD || x <= S.G.label) return "";
  const at = x + S.scroller.scrollLeft;
  const cell = S.G.columns.find((c) => at >= c.x && at < c.x + c.w);
  const slot = cell && !isAxis(cell.column) && slots(cell).find((s) => at < s.x + s.w);
  return slot ? `${cell.column.label}: ${slot.name}` : "";
}

function cellWords(S, { row, feature }) {
  const k = S.local.get(feature.i);
  const words = conditionWords(feature, row.lo[k], row.hi[k], row.inc[k]);
  if (words) return words;
  const name = feature.column.label;
  if (row.inc[k]) return `${name} is in clause ${row.id + 1}, but excludes nothing`;
  if (!feature.cuts.length) return `${name} is not in clause ${row.id + 1}`;
  return `${name} is not in clause ${row.id + 1}; its bounds rest at ${boundWords(feature, row.lo[k], false)} and ${boundWords(feature, row.hi[k], true)}`;
}

function wire(S) {
  const on = (node, type, what) => node.addEventListener(type, what);
  on(S.play, "click", () => act(S, "toggle"));
  on(S.oneRow, "click", () => act(S, "one_row"));
  on(S.oneEpoch, "click", () => act(S, "one_epoch"));
  on(S.reset, "click", () => act(S, "reset"));
  on(S.help, "click", () => showKeys(S, S.keys.hidden));
  on(S.settle, "click", () => act(S, "settle"));
  on(S.readRules, "click", () => send(S, "rules"));
  on(S.askYes, "click", () => { S.ask.hidden = true; S.play.focus(); send(S, "reset"); });
  on(S.askNo, "click", () => { S.ask.hidden = true; S.reset.focus(); });
  on(S.goOn, "click", () => act(S, "toggle"));
  on(S.branch, "click", () => branch(S));
  on(S.newest, "click", () => goTo(S, S.data.last));
  on(S.askWhy, "click", () => askWhy(S, "last_move"));
  on(S.askRow, "click", () => askWhy(S, "why"));
  on(S.by, "click", (e) => { const b = e.target.closest("button"); if (b) look(S, { by: b.dataset.by, offset: 0 }); });
  on(S.column, "change", () => chooseColumn(S, Number(S.column.value)));
  on(S.sides, "change", () => look(S, { side: Number(S.sides.value), offset: 0 }));
  on(S.mapX, "change", () => look(S, { mapX: Number(S.mapX.value), ...(S.mapX.value === "-1" ? { mapY: -1 } : ownAxis(S, "mapY")) }));
  on(S.mapY, "change", () => look(S, { mapY: Number(S.mapY.value), ...(S.mapY.value === "-1" ? { mapX: -1 } : ownAxis(S, "mapX")) }));
  on(S.heatChart, "click", (e) => pickInHeat(S, e));
  on(S.askRival, "click", () => send(S, S.data.rival ? "no_thresholds" : "thresholds"));
  wireFilm(S);
  wireFlags(S);
  wireMatrix(S);
  wireWhy(S);
  on(S.speeds, "click", (e) => { const b = e.target.closest("button"); if (b) setSpeed(S, b.dataset.speed); });
  on(S.sort, "change", () => look(S, { sort: S.sort.value, offset: 0 }));
  on(S.machine, "change", () => look(S, { machine: Number(S.machine.value), offset: 0 }));
  on(S.again, "click", () => look(S, { again: true }));
  on(S.more, "click", () => look(S, { shown: S.data.view.shown > 7 ? 7 : Math.max(...S.data.sides), offset: 0 }));
  on(S.earlier, "click", () => look(S, { offset: Math.max(0, S.data.view.offset - S.data.view.shown) }));
  on(S.later, "click", () => look(S, { offset: S.data.view.offset + S.data.view.shown }));
  on(S.unfold, "click", () => { S.showAllColumns = !S.showAllColumns; S.scroller.scrollLeft = 0; S.dirty = true; });
  on(S.scroller, "scroll", () => { S.dirty = true; });
  on(S.scroller, "keydown", (e) => moveCell(S, e));
  on(S.pin, "pointermove", (e) => pointAt(S, e));
  on(S.pin, "pointerleave", () => { S.hover = null; S.tip.hidden = true; S.dirty = true; });
  on(S.pin, "click", (e) => {
    const box = S.pin.getBoundingClientRect();
    const cell = cellAt(S, e.clientX - box.left, e.clientY - box.top);
    if (cell) look(S, { clause: cell.row.id, ...(cell.feature ? { feature: cell.feature.i } : {}) });
  });
  S.keyListener = (e) => onKey(S, e);
  document.addEventListener("keydown", S.keyListener);
}

// The other axis of the map stays where it is when one is chosen.
function ownAxis(S, name) {
  if (S.data.view[name] >= 0) return {};
  const shown = mapColumns(S)[name === "mapX" ? 0 : 1];
  return { [name]: S.facts.columns.indexOf(shown) };
}

// By feature it is the feature shown; by clause only clauses that test it are shown.
function chooseColumn(S, i) {
  if (S.data.view.by === "feature") look(S, { feature: S.facts.columns[i].features[0].i });
  else look(S, { uses: i, offset: 0 });
}

function branch(S) {
  if (!S.data.past) return;
  S.branched = performance.now();
  send(S, "branch");
}

function syncChoices(S) {
  const { data, facts } = S;
  const { view } = data;
  for (const b of S.by.children) setAttribute(b, "aria-pressed", b.dataset.by === view.by);
  const mark = `${facts.key}|${view.by}|${S.focus}`;
  if (S.column.dataset.mark !== mark) {
    S.column.dataset.mark = mark;
    S.column.setAttribute("aria-label", view.by === "feature" ? "Feature shown" : "Only clauses that test");
    const options = facts.columns.map((c, i) => el("option", { value: i, text: view.by === "feature" ? c.label : `Clauses on ${c.label}` }));
    S.column.replaceChildren(...(view.by === "feature" ? [] : [el("option", { value: -1, text: "Clauses on any feature" })]), ...options);
    S.sides.replaceChildren(...[[0, "Both sides"], [1, answers(S).sideTitle(S, 0)], [-1, answers(S).sideTitle(S, 1)]].map(([value, text]) => el("option", { value, text })));
  }
  S.column.value = String(view.by === "feature" ? facts.columns.indexOf(facts.features.get(view.feature)?.column) : view.uses);
  S.sides.value = String(view.side);
  S.sides.hidden = !data.sides[1];
  syncMap(S);
  S.askRival.hidden = data.thresholds;
  setText(S.askRival, data.rival ? "Without thresholds" : "Compare with thresholds");
}

// Controls follow what the server says.
function syncControls(S) {
  const { data, facts } = S;
  showSpeed(S);
  if (!facts || !data.view) return;
  if (S.sort.value !== data.view.sort) S.sort.value = data.view.sort;
  S.machine.hidden = !S.multi;
  if (S.multi && S.machine.dataset.facts !== facts.key) {
    S.machine.dataset.facts = facts.key;
    S.machine.replaceChildren(...facts.classes.map((_, k) => el("option", { value: k, text: classWords(S, k) })));
  }
  if (S.multi) S.machine.value = String(data.view.machine);
  syncChoices(S);
  const most = Math.max(...data.sides);
  setText(S.more, data.view.shown > 7 ? "Fewer clauses" : `All ${whole(data.clauses)} clauses`);
  S.more.hidden = most <= 7 || data.view.by === "feature";
  const pages = most > data.view.shown && data.view.shown > 7 && data.view.by === "clause";
  S.pager.hidden = !pages;
  if (pages) {
    S.earlier.disabled = !data.view.offset;
    S.later.disabled = data.view.offset + data.view.shown >= most;
    setText(S.pagerText, `Clauses ${data.view.offset + 1} to ${Math.min(most, data.view.offset + data.view.shown)} of each side's ${most}`);
  }
}
