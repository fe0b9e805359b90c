// Where the chosen cell's two bounds have been, and when its clause got which feedback.

function traceSegments(S) {
  const f = S.facts.features.get(S.data.view.feature);
  const { trace, history } = S.data;
  return history.step.map((step, i) => ({
    from: step,
    to: i + 1 < history.step.length ? history.step[i + 1] : S.data.last,
    lower: lowerAt(f, trace.lower[i]),
    upper: upperAt(f, trace.upper[i]),
    lo: trace.lower[i],
    hi: trace.upper[i],
    inc: trace.included[i],
  }));
}

// The pieces up to the moment shown, ending with the bounds as they are there, and the later ones.
function splitSegments(S, f, segments) {
  const { step, last, now: [lo, hi, inc] } = S.data;
  const here = { from: step, to: step, lower: lowerAt(f, lo), upper: upperAt(f, hi), lo, hi, inc };
  if (step >= last) return [[...segments, here], []];
  const seen = segments.filter((s) => s.from <= step).map((s) => ({ ...s, to: Math.min(s.to, step) }));
  return [[...seen, here], [here, ...segments.filter((s) => s.from > step)]];
}

function traceTicks(f) {
  const c = f.column;
  if (c.kind === "numeric") return niceTicks(c.min, c.max, 7).map((v) => [(v - c.min) / c.span, number(v)]);
  if (c.kind === "few" && f.cuts.length) return f.cuts.map((cut, i) => [(i + 1) / f.n, number(cut)]);
  if (c.kind === "category") return [[0.25, "others"], [0.75, c.names[f.slot]]];
  return c.names.slice(0, 12).map((name, i) => [(i + 0.5) / f.n, name]);
}

function drawTrace(S) {
  const { P, data } = S;
  const f = S.facts.features.get(data.view.feature);
  if (!f) return;
  const canvas = S.traceChart;
  const width = canvas.parentElement.clientWidth;
  const height = 196;
  const g = fit(canvas, width, height, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const left = isAxis(f.column) && f.cuts.length ? 52 : 84;
  const right = width > 640 ? 104 : 64;
  const [top, bottom] = [6, height - 48];
  const y = (p) => bottom - p * (bottom - top);
  const x = (step) => timeAt(S, step, left, right, width);
  g.font = font(11);
  for (const [p, words] of traceTicks(f)) {
    g.strokeStyle = P.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(left, Math.round(y(p)) + 0.5);
    g.lineTo(width - right, Math.round(y(p)) + 0.5);
    g.stroke();
    g.fillStyle = P.ink3;
    g.textAlign = "right";
    g.fillText(clip(g, words, left - 10), left - 8, y(p));
  }
  if (isAxis(f.column)) drawSideData(S, g, f.column, width - right + (width > 640 ? 52 : 34), width > 640 ? 26 : 18, top, bottom, font);
  const [segments, later] = splitSegments(S, f, traceSegments(S));
  g.fillStyle = sideColour(S, S.clauseSide(data.view.clause));
  g.globalAlpha = 0.2;
  for (const s of segments) {
    const low = s.inc & 1 ? s.lower : 0;
    const high = s.inc & 2 ? s.upper : 1;
    if (s.inc && high > low) g.fillRect(x(s.from), y(high), Math.max(0.5, x(s.to) - x(s.from)), y(low) - y(high));
  }
  g.globalAlpha = 1;
  for (const [key, bit] of [["lower", 1], ["upper", 2]]) for (const strong of [false, true]) {
    drawBoundPath(P, g, segments, key, bit, strong, x, y);
    if (later.length > 1) drawBoundPath(P, g, later, key, bit, strong, x, y, GHOST);
  }
  drawFeedbackStrips(S, g, x, left, right, width, bottom, font);
  const now = x(data.step);
  g.fillStyle = P.accent;
  g.fillRect(now - 0.75, top - 4, 1.5, bottom - top + 8);
  const last = segments.at(-1);
  for (const [p, inc, upper] of [[last.upper, last.inc & 2, true], [last.lower, last.inc & 1, false]]) {
    drawBoundTag(S, g, f, last, p, inc, upper, now, y(p), left, top, bottom, font);
  }
}

function drawBoundPath(P, g, segments, key, bit, strong, x, y, ghost = 0) {
  g.beginPath();
  let joined = false;
  for (const s of segments) {
    if (Boolean(s.inc & bit) !== strong) { joined = false; continue; }
    if (joined) g.lineTo(x(s.from), y(s[key])); else g.moveTo(x(s.from), y(s[key]));
    g.lineTo(Math.max(x(s.from) + 0.6, x(s.to)), y(s[key]));
    joined = true;
  }
  g.strokeStyle = strong && !ghost ? P.accent : P.axis;
  g.lineWidth = strong ? 2 : 1;
  g.globalAlpha = ghost || (strong ? 1 : 0.7);
  g.stroke();
  g.globalAlpha = 1;
}

function drawSideData(S, g, column, centre, reach, top, bottom, font) {
  const n = column.counts[0].length;
  const bin = (bottom - top) / n;
  g.globalAlpha = 0.75;
  for (let i = 0; i < n; i++) {
    let across = centre;
    column.counts.forEach((counts, k) => {
      const w = (counts[i] / column.most) * reach;
      g.fillStyle = groupColour(S, k);
      if (k === S.focus) g.fillRect(centre, bottom - (i + 1) * bin, w, bin - 0.8);
      else { g.fillRect(across - w, bottom - (i + 1) * bin, w, bin - 0.8); across -= w; }
    });
  }
  g.globalAlpha = 1;
  g.fillStyle = S.P.ink3;
  g.font = font(10.5);
  g.textAlign = "center";
  g.fillText(reach > 20 ? "training rows" : "rows", centre, bottom + 10);
}

function drawFeedbackStrips(S, g, x, left, right, width, bottom, font) {
  const { P, data } = S;
  const { step } = data.history;
  const bins = 160;
  const bin = (width - left - right) / bins;
  for (let type = 0; type < 3; type++) {
    const y = bottom + 14 + type * 11;
    const colour = P[FEEDBACK[type]];
    feedbackMark(g, type, 10, y, 3, colour, 1);
    g.font = font(10.5, 600);
    g.textAlign = "left";
    g.fillStyle = P.ink2;
    g.fillText(FEEDBACK_NAMES[type], 19, y);
    const counts = new Float32Array(bins);
    for (let i = 1; i < step.length; i++) {
      const n = data.trace.feedback[3 * i + type];
      if (!n || step[i] > data.step) continue;
      const first = Math.min(bins - 1, Math.floor((x(step[i - 1]) - left) / bin));
      const last = Math.min(bins - 1, Math.max(first, Math.ceil((x(step[i]) - left) / bin) - 1));
      const spread = Math.min(n, last - first + 1);
      for (let j = 0; j < spread; j++) counts[first + Math.floor(((j + 0.5) * (last - first + 1)) / spread)] += n / spread;
    }
    const most = Math.max(6, ...counts);
    g.fillStyle = colour;
    counts.forEach((n, i) => {
      if (!n) return;
      g.globalAlpha = Math.min(1, 0.25 + (0.75 * n) / most);
      g.fillRect(left + i * bin, y - 3.5, Math.max(1, bin - 0.6), 7);
    });
    g.globalAlpha = 1;
  }
}

function boundWords(f, rank, upper) {
  const open = upper ? rank >= f.n - 1 : rank === 0;
  if (f.cuts.length) return open ? (upper ? "no upper bound" : "no lower bound") : `${upper ? "≤" : ">"} ${number(f.cuts[upper ? rank : rank - 1])}`;
  if (f.column.kind === "category") return open ? "any value" : upper ? `not ${f.column.names[f.slot]}` : f.column.names[f.slot];
  if (f.column.kind === "boolean") return open ? "any value" : f.column.names[upper ? 0 : 1];
  return open ? "any value" : upper ? `at most ${f.column.names[rank]}` : `above ${f.column.names[rank - 1]}`;
}

function drawBoundTag(S, g, f, last, p, included, upper, now, y, left, top, bottom, font) {
  const { P } = S;
  const toRight = now < left + 130;
  g.font = font(12, included ? 650 : 400);
  const words = clip(g, boundWords(f, upper ? last.hi : last.lo, upper), 220) + (included ? "" : ", left out");
  const wide = g.measureText(words).width;
  const at = Math.max(12, Math.min(bottom - 8, y + (upper ? -9 : 11)));
  g.globalAlpha = 0.86;
  g.fillStyle = P.bg;
  g.fillRect(toRight ? now + 5 : now - wide - 9, at - 8, wide + 4, 16);
  g.globalAlpha = 1;
  g.fillStyle = included ? P.accent : P.ink3;
  g.textAlign = toRight ? "left" : "right";
  g.fillText(words, toRight ? now + 7 : now - 7, at);
}
