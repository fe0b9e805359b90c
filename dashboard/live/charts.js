// Charts over time and the histogram of votes. All share the time axis of the film bar.

const GHOST = 0.34;

// The points up to the moment shown, ending there with its own value, and those that came later.
function pastAndLater(S, points, now) {
  const { step, last } = S.data;
  if (step >= last) return [points, []];
  const seen = points.filter(([s]) => s <= step);
  const at = now ?? seen.at(-1)?.[1];
  if (at !== undefined && at !== null) seen.push([step, at]);
  return [seen, [...seen.slice(-1), ...points.filter(([s]) => s > step)]];
}

const timeAt = (S, step, left, right, width) => left + ((width - left - right) * step) / S.axis;

function epochTicks(S, width) {
  const epochs = S.axis / S.facts.rows;
  const step = epochs <= 1.05 ? 0.25 : epochs <= 2.1 ? 0.5 : epochs <= 5.2 ? 1 : epochs <= 10.5 ? 2 : epochs <= 21 ? 5
    : 10 * Math.ceil(epochs / 41);
  const wide = width < 420 ? 2 * step : step;
  return Array.from({ length: Math.floor(epochs / wide + 0.01) + 1 }, (_, i) => i * wide);
}

function timeTicks(S, g, left, right, width, y, font) {
  g.font = font(11);
  g.fillStyle = S.P.ink3;
  for (const e of epochTicks(S, width)) {
    const x = timeAt(S, e * S.facts.rows, left, right, width);
    g.textAlign = e === 0 ? "left" : x > width - right - 8 && right < 20 ? "right" : "center";
    g.fillText(e === 0 ? "epoch 0" : whole(e * 100) / 100 === e ? e : +e.toFixed(2), x, y);
  }
}

// Lines over time with their names at the end. series: [{ name, values, colour, dashes }], values may hold null.
function drawLines(S, canvas, series, { low, high, ticks, format, formatTick = format, root }) {
  const { P } = S;
  const width = canvas.parentElement.clientWidth;
  const height = 132;
  const g = fit(canvas, width, height, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const [left, right, top, bottom] = [42, 86, 8, height - 20];
  const scale = root ? (v) => Math.sqrt(Math.max(0, v)) : (v) => v;
  const y = (v) => bottom - ((scale(v) - scale(low)) / (scale(high) - scale(low) || 1)) * (bottom - top);
  const x = (step) => timeAt(S, step, left, right, width);
  g.font = font(11);
  for (const tick of ticks) {
    g.strokeStyle = P.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(left, Math.round(y(tick)) + 0.5);
    g.lineTo(width - right, Math.round(y(tick)) + 0.5);
    g.stroke();
    g.fillStyle = P.ink3;
    g.textAlign = "right";
    g.fillText(formatTick(tick), left - 7, y(tick));
  }
  g.strokeStyle = P.axis;
  g.setLineDash([3, 3]);
  for (const [step] of S.data.changes) {
    g.beginPath();
    g.moveTo(x(step), top);
    g.lineTo(x(step), bottom);
    g.stroke();
  }
  g.setLineDash([]);
  const { step } = S.data.history;
  const ends = [];
  for (const line of series) {
    const points = line.values.map((v, i) => [line.step ? line.step[i] : step[i], v]).filter(([, v]) => v !== null);
    const [seen, later] = pastAndLater(S, points, line.whole ? undefined : line.now);
    const path = (list, alpha) => {
      g.globalAlpha = alpha;
      g.beginPath();
      for (const [s, v] of list) g.lineTo(x(s), y(v));
      g.strokeStyle = line.colour;
      g.lineWidth = line.dashes ? 1.5 : 2;
      g.setLineDash(line.dashes || []);
      g.lineJoin = "round";
      g.stroke();
      g.setLineDash([]);
      g.globalAlpha = 1;
    };
    if (later.length > 1) path(later, GHOST);
    path(line.whole ? points : seen, 1);
    const last = (line.whole ? points : seen).at(-1);
    if (last) ends.push({ line, x: x(last[0]), y: y(last[1]), value: last[1] });
  }
  keepApart(ends, bottom);
  for (const end of ends) {
    g.fillStyle = end.line.colour;
    g.beginPath();
    g.arc(end.x, end.y, 3, 0, 7);
    g.fill();
    g.font = font(12, 600);
    g.textAlign = "left";
    g.fillText(`${end.line.name}${format(end.value)}`, end.x + 8, end.label ?? end.y);
  }
  timeTicks(S, g, left, right, width, height - 7, font);
}

// The names at the lines' ends keep 14 px between them.
function keepApart(ends, bottom) {
  const sorted = [...ends].sort((p, q) => p.y - q.y);
  sorted.forEach((end, i) => { end.label = i ? Math.max(end.y, sorted[i - 1].label + 14) : end.y; });
  const over = sorted.length ? Math.max(0, Math.min(7, sorted.at(-1).label - sorted.at(-1).y, sorted[0].label - 8)) : 0;
  for (const end of sorted) end.label = Math.min(end.label - over, bottom + 2);
}

function drawLiterals(S) {
  const { literals } = S.data.history;
  const rival = S.data.rival;
  // The other machine may be far along: its curve is shown as far as this run has come.
  const cut = rival ? rival.step.findIndex((s) => s > S.data.last) : -1;
  const part = (list) => (cut > 0 ? list.slice(0, cut) : list);
  const other = rival?.literals.length ? [{ name: "thresholds ", step: part(rival.step), values: part(rival.literals),
    colour: S.P.ink3, dashes: [5, 3], whole: true }] : [];
  const high = Math.max(4, ...literals, ...(other[0]?.values || []));
  const unit = 10 ** Math.floor(Math.log10(high));
  const top = [1, 2, 5, 10].map((m) => m * unit).find((v) => v >= high * 0.98) || high;
  drawLines(S, S.literalChart, [{ name: rival ? "intervals " : "", values: literals, colour: S.P.ink, now: S.data.literals }, ...other],
    { low: 0, high: Math.max(top, high), ticks: [0, top / 8, top / 2, top].filter((v) => Number.isInteger(v)), format: short, root: true });
}

function drawScores(S, canvas, test, train, now = [undefined, undefined]) {
  const values = [...test, ...train].filter((v) => v !== null);
  const low = Math.max(0, Math.floor(Math.min(800, ...values) / 200) * 200);
  const ticks = [];
  for (let v = low; v <= 1000; v += low < 400 ? 200 : 100) ticks.push(v);
  drawLines(S, canvas, testAndTrain(S, test, train, now), { low, high: 1000, ticks, format: (v) => percent(v / 1000) });
}

// How many literals each clause holds, longest first, one thin bar a clause.
function drawLengths(S) {
  const { P, data } = S;
  const canvas = S.lengthChart;
  const width = canvas.parentElement.clientWidth;
  const g = fit(canvas, width, 132, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const [left, top, bottom] = [42, 8, 112];
  const most = Math.max(4, ...data.lengths[0], ...data.lengths[1]);
  const y = (v) => bottom - (Math.sqrt(v) / Math.sqrt(most)) * (bottom - top);
  g.font = font(11);
  for (const tick of [...new Set([0, 1, Math.round(most / 4), most])].filter((t) => t !== 1 || y(1) < bottom - 12)) {
    g.strokeStyle = P.line;
    g.beginPath();
    g.moveTo(left, Math.round(y(tick)) + 0.5);
    g.lineTo(width, Math.round(y(tick)) + 0.5);
    g.stroke();
    g.fillStyle = P.ink3;
    g.textAlign = "right";
    g.fillText(short(tick), left - 7, y(tick));
  }
  const sides = data.lengths.filter((_, side) => data.sides[side]);
  const half = (width - left - 16 * (sides.length - 1)) / sides.length;
  sides.forEach((lengths, side) => {
    const x = left + side * (half + 16);
    const bar = half / Math.max(1, lengths.length);
    const colour = sideColour(S, side);
    g.fillStyle = S.multi && side ? hatch(g, colour) : colour;
    lengths.forEach((v, i) => g.fillRect(x + i * bar, y(v), Math.max(0.6, bar - (bar > 3 ? 1 : 0)), bottom - y(v)));
    g.font = font(11);
    g.fillStyle = P.ink2;
    g.textAlign = "left";
    g.fillText(clip(g, answers(S).sideTitle(S, side), half), x, 125);
  });
}

function drawVotes(S) {
  const { P, data } = S;
  const canvas = S.voteChart;
  const width = canvas.parentElement.clientWidth;
  const height = 132;
  const g = fit(canvas, width, height, P.bg);
  const font = (px, weight = 400) => `${weight} ${px}px ${P.family}`;
  const { mine, others, reach } = data.votes;
  const middle = 58;
  const most = Math.max(1, ...mine, ...others);
  const bin = width / mine.length;
  const x = (v) => ((v + reach) / (2 * reach)) * width;
  const colours = S.multi ? [P.for, P.against] : [P.c1, P.c0];
  mine.forEach((count, i) => {
    const up = (count / most) * (middle - 12);
    const down = (others[i] / most) * (middle - 12);
    g.globalAlpha = P.dark ? 0.85 : 0.72;
    g.fillStyle = colours[0];
    g.fillRect(i * bin, middle - up, bin - 1, up);
    g.fillStyle = S.multi ? hatch(g, colours[1]) : colours[1];
    g.fillRect(i * bin, middle, bin - 1, down);
  });
  g.globalAlpha = 1;
  g.fillStyle = P.axis;
  g.fillRect(0, middle - 0.5, width, 1);
  g.font = font(11);
  for (const [at, words, strong] of [[-data.T, `${minus(-data.T)}`, 0], [0, "0", 0], [data.T, `T = ${number(data.T)}`, 1]]) {
    g.fillStyle = strong ? P.ink : P.axis;
    g.fillRect(x(at) - 0.5, 12, 1, height - 44);
    g.fillStyle = strong ? P.ink : P.ink3;
    g.font = font(11, strong ? 600 : 400);
    g.textAlign = "center";
    g.fillText(words, Math.max(8, Math.min(width - 18, x(at))), height - 8);
  }
  const focus = S.facts.classes[S.focus];
  const rest = S.multi ? "other classes" : S.facts.classes[0];
  g.textAlign = "left";
  g.font = font(11, 600);
  g.fillStyle = colours[0];
  g.fillText(clip(g, (S.multi ? "" : "▲ ") + focus, width / 2), 0, 5);
  g.fillStyle = colours[1];
  g.fillText(clip(g, (S.multi ? "" : "● ") + rest, width / 2), 0, height - 22);
}
