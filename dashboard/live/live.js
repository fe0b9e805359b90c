// One live view a mount: takes frames in, draws while something moves, says in data attributes what is on screen.

const views = new Map();
let style = "";
const SLOW_FRAME = 24;
const fewCores = navigator.hardwareConcurrency <= 2;

function start(host) {
  const S = { host, rows: [], rowsById: new Map(), outbox: [], sprites: new Map(), drawn: -1, painted: 0, last: 0, dirty: true };
  host.append(buildPage(S));
  S.root.prepend(el("style", { text: style }));
  wire(S);
  S.watch = new ResizeObserver(() => { S.dirty = true; wake(S); });
  S.watch.observe(S.root);
  S.seen = new Set();
  S.eye = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? S.seen.add(target) : S.seen.delete(target);
    S.dirty = true;
    wake(S);
  }, { rootMargin: "60px" });
  for (const node of [...S.root.querySelectorAll("canvas"), S.standing]) S.eye.observe(node);
  S.theme = setInterval(() => {
    if (S.data && [checkTheme(S), endHope(S), noticeSilence(S)].some(Boolean)) wake(S);
  }, 500);
  S.pulse = setInterval(() => keepAsking(S), 15);
  S.leave = ({ type, target, ctrlKey, metaKey }) => {
    if (type === "popstate" || (!ctrlKey && !metaKey && target instanceof Element && target.closest("a[href]"))) S.leftAt = performance.now();
  };
  window.addEventListener("popstate", S.leave);
  window.addEventListener("click", S.leave, true);
  checkTheme(S);
  return S;
}

function stop(S) {
  clearInterval(S.theme);
  clearInterval(S.pulse);
  window.removeEventListener("popstate", S.leave);
  window.removeEventListener("click", S.leave, true);
  S.watch.disconnect();
  S.eye.disconnect();
  document.removeEventListener("keydown", S.keyListener);
  cancelAnimationFrame(S.request);
  S.request = 0;
  S.root.remove();
  views.delete(S.host);
}

// A command shown at once but never confirmed is taken back.
function endHope(S) {
  if (!S.hope || performance.now() < S.hope.until) return false;
  S.hope = null;
  S.root.dataset.state = S.data.state;
  S.dirty = true;
  return true;
}

function checkTheme(S) {
  const mark = getComputedStyle(S.root).color + getComputedStyle(S.root).backgroundColor;
  if (mark === S.themeMark) return false;
  const palette = readPalette(S.probe);
  if (!palette) return false;
  S.themeMark = mark;
  S.P = palette;
  S.dirty = true;
  return true;
}

function take(S, data) {
  takeFrame(S, data);
  S.body.hidden = !S.facts || !data.rows || Boolean(data.why);
  S.bar.hidden = !S.facts || !data.rows;
  if (data.state === S.hope?.state) S.hope = null;
  S.root.dataset.state = shownState(S);
  S.root.dataset.sequence = data.sequence;
  S.root.dataset.literals = data.literals ?? "";
  S.root.dataset.step = data.step ?? "";
  S.root.dataset.changes = data.changes?.length ?? "";
  noteEnd(S, S.root.dataset.confirmed, data.state);
  S.root.dataset.confirmed = data.state;
  if (S.rows.length) S.root.dataset.bounds = S.rows.slice(0, 4).map((r) => `${r.id}:${[...r.lo.slice(0, 6)]}/${[...r.hi.slice(0, 6)]}`).join(" ");
  syncControls(S);
  S.undrawn = S.drawn === data.sequence ? 0 : (S.undrawn || 0) + 1;
  answered(S);
  keepAsking(S);
  S.dirty = true;
  wake(S);
}

function wake(S) {
  if (!S.request) { S.last = performance.now(); S.request = requestAnimationFrame((now) => tick(S, now)); }
}

// Where the browser cannot draw 60 times a second, frames are left out: moving less smoothly beats falling behind.
function tick(S, now) {
  S.request = 0;
  const away = now - S.last;
  const gap = Math.min(100, now - (S.called || now));
  S.called = now;
  S.gap = (S.gap || 16) * 0.9 + gap * 0.1;
  const skip = away < (S.gap > SLOW_FRAME ? 45 : fewCores ? 28 : 0);
  const calm = skip || (still() && now - (S.lastStill || 0) < 500 && S.data.state === "learning");
  let moving = true;
  if (!calm) {
    S.lastStill = now;
    const dt = away > 900 ? away : Math.min(100, away);
    S.last = now;
    moving = paint(S, Math.max(1, dt), now);
  }
  if (moving || S.dirty) S.request = requestAnimationFrame((t) => tick(S, t));
}

function paint(S, dt, now) {
  const fresh = S.drawn !== S.data.sequence;
  const ready = S.facts && S.data.rows && S.P;
  askForVisible(S);
  const dirty = S.dirty;
  S.dirty = false;
  if (fresh || dirty) { writeTexts(S, now); if (S.P) writeWhy(S); }
  if (!ready) return false;
  const width = S.scroller.clientWidth;
  if (!width) { S.axis ||= axisEnd(S); return drawnFresh(S, fresh, () => drawTimeBar(S)); }
  const moving = ease(S, dt);
  layOut(S, width, now);
  placeHeads(S);
  if (S.moving) S.moving.style.transform = `translateX(${-S.scroller.scrollLeft}px)`;
  if (S.seen.has(S.matrix)) drawMatrix(S);
  // Charts change with frames and with the time axis, not with every easing step of a bound.
  if (fresh || dirty || now - (S.chartsAt || 0) > 100) { S.chartsAt = now; drawCharts(S); }
  drawnFresh(S, fresh);
  return moving;
}

// A new frame is on screen: the next may come.
function drawnFresh(S, fresh, draw = null) {
  draw?.();
  if (!fresh) return false;
  S.drawn = S.data.sequence;
  S.painted += 1;
  S.undrawn = 0;
  S.root.dataset.painted = S.painted;
  keepAsking(S);
  return false;
}

// What costs the server time is asked for only while it can be seen.
function askForVisible(S) {
  if (!S.data.view || !S.facts) return;
  const wants = [["memory", S.stripChart, S.heatChart], ["standing", ...answers(S).standingNodes(S)]]
    .filter(([, ...nodes]) => nodes.some((node) => S.seen.has(node))).map(([name]) => name);
  if (String(wants) === S.wants) return;
  S.wants = String(wants);
  send(S, "view", { ...S.data.view, wants });
}

function drawCharts(S) {
  const draw = (canvas, how) => { if (S.seen.has(canvas)) how(); };
  draw(S.timeBar, () => drawTimeBar(S));
  draw(S.traceChart, () => drawTrace(S));
  draw(S.literalChart, () => drawLiterals(S));
  draw(S.accuracyChart, () => answers(S).drawFirst(S));
  draw(S.lengthChart, () => drawLengths(S));
  draw(S.f1Chart, () => answers(S).drawSecond(S));
  draw(S.voteChart, () => answers(S).drawThird(S));
  draw(S.mapChart, () => drawMap(S));
  if (S.seen.has(S.stripChart) || S.seen.has(S.heatChart)) drawAutomata(S);
  answers(S).writeStanding(S);
}

// The frames come from a second component with almost no script, so that a push stays small; it finds this module here.
function frameIn(component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!data) return undefined;
  let S = views.get(parentElement);
  if (!S) {
    S = start(parentElement);
    S.clauseSide = (id) => { const row = S.rows.find((r) => r.id === id); return row ? row.side : answers(S).sideOf(id); };
    views.set(parentElement, S);
  }
  S.setTriggerValue = setTriggerValue;
  take(S, data);
  return () => stop(S);
}

// Mounted once a page: brings the module, the style and the facts of the run.
export default function code({ data }) {
  style = data.style;
  if (data.facts) keepFacts(data.facts);
  const desk = (globalThis.tsetlinLive ??= { waiting: [] });
  desk.frameIn = frameIn;
  for (const { component, keep } of desk.waiting.splice(0)) keep(frameIn(component));
  for (const S of views.values()) if (!S.facts && factsByKey.has(S.data.facts)) take(S, S.data);
}
