// The film bar: the whole run as a strip. The past is drawn as usual, what came later stays as a ghost; drag, click or use
// the arrow keys to go to any row.

const BAR = { left: 6, right: 6, top: 22, height: 68 };

// The moment asked for shows at once, before the server has gone there.
const shownStep = (S) => S.goal ?? S.data.step;

function drawTimeBar(S) {
  const { P, data } = S;
  const canvas = S.timeBar;
  const width = canvas.parentElement.clientWidth;
  const g = fit(canvas, width, BAR.height, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const { left, right, top } = BAR;
  const bottom = BAR.height - 16;
  const x = (step) => timeAt(S, step, left, right, width);
  const now = x(shownStep(S));
  g.fillStyle = P.surface;
  roundRect(g, left, top, width - left - right, bottom - top, 5);
  g.fill();
  g.save();
  roundRect(g, left, top, width - left - right, bottom - top, 5);
  g.clip();
  for (const [from, to, strength] of [[left, now, 1], [now, width, GHOST]]) {
    g.save();
    g.beginPath();
    g.rect(from, 0, to - from, BAR.height);
    g.clip();
    drawStrip(S, g, x, top, bottom, strength);
    g.restore();
  }
  g.restore();
  timeTicks(S, g, left, right, width, BAR.height - 7, (px) => font(px - 0.5));
  drawChanges(S, g, x, width, bottom, font);
  drawPlayhead(P, g, now, top, bottom);
  sayTime(S);
}

function drawStrip(S, g, x, top, bottom, strength) {
  const h = S.data.history;
  const most = Math.sqrt(Math.max(1, ...h.literals));
  g.beginPath();
  g.moveTo(x(0), bottom);
  h.literals.forEach((v, i) => g.lineTo(x(h.step[i]), bottom - (Math.sqrt(v) / most) * (bottom - top - 2)));
  g.lineTo(x(S.data.last), bottom);
  g.closePath();
  g.fillStyle = strength < 1 ? S.P.axis : S.P.accent;
  g.globalAlpha = 0.3 * (strength < 1 ? 0.7 : 1);
  g.fill();
  g.globalAlpha = strength < 1 ? 0.5 : 1;
  const [shares, low] = answers(S).stripValues(S);
  g.beginPath();
  shares.forEach((v, i) => { if (v !== null) g.lineTo(x(h.step[i]), bottom - 2 - ((v - low) / (1000 - low)) * (bottom - top - 4)); });
  g.strokeStyle = S.P.ink2;
  g.lineWidth = 1.2;
  g.stroke();
  g.globalAlpha = 1;
}

function drawPlayhead(P, g, now, top, bottom) {
  g.fillStyle = P.accent;
  g.fillRect(now - 1, top - 4, 2, bottom - top + 8);
  g.beginPath();
  g.arc(now, top - 4, 5, 0, 7);
  g.fill();
  g.fillStyle = P.bg;
  g.beginPath();
  g.arc(now, top - 4, 2, 0, 7);
  g.fill();
}

function sayTime(S) {
  const step = shownStep(S);
  const bar = S.bar;
  setAttribute(bar, "aria-valuemax", S.data.last);
  setAttribute(bar, "aria-valuenow", step);
  setAttribute(bar, "aria-valuetext", `Row ${whole(step)} of ${whole(S.data.last)}, epoch ${(step / S.facts.rows).toFixed(1)}`);
}

// Going somewhere -------------------------------------------------------------------------------------------------

function goTo(S, step) {
  const to = Math.max(0, Math.min(S.data.last, Math.round(step)));
  if (!S.facts || S.data.last === undefined || to === shownStep(S)) return;
  S.goal = to;
  S.dirty = true;
  S.outbox = S.outbox.filter((command) => command.name !== "go");
  send(S, "go", to);
  wake(S);
}

// One row, or with epochs the next epoch's end, in a direction.
function goBy(S, direction, epochs) {
  const rows = S.facts.rows;
  const step = shownStep(S);
  goTo(S, !epochs ? step + direction : direction < 0 ? (Math.ceil(step / rows) - 1) * rows : (Math.floor(step / rows) + 1) * rows);
}

function arrived(S) {
  if (S.goal !== undefined && !S.outbox.some((c) => c.name === "go") && (S.data.step === S.goal || !S.asked)) S.goal = undefined;
}

function wireFilm(S) {
  const { bar } = S;
  const stepAt = (e) => {
    const box = bar.getBoundingClientRect();
    return ((e.clientX - box.left - BAR.left) / (box.width - BAR.left - BAR.right)) * S.axis;
  };
  bar.addEventListener("pointerdown", (e) => {
    if (e.button || !S.facts) return;
    bar.setPointerCapture(e.pointerId);
    S.dragging = true;
    goTo(S, stepAt(e));
  });
  bar.addEventListener("pointermove", (e) => { if (S.dragging) goTo(S, stepAt(e)); });
  for (const type of ["pointerup", "pointercancel"]) bar.addEventListener(type, () => { S.dragging = false; });
  bar.addEventListener("keydown", (e) => {
    const to = { Home: 0, End: S.data.last }[e.key];
    const page = { PageUp: 1, PageDown: -1, ArrowUp: 1, ArrowDown: -1 }[e.key];
    if (to !== undefined) goTo(S, to); else if (page) goBy(S, page, e.key.startsWith("Page")); else return;
    e.preventDefault();
  });
}
