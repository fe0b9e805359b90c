// How numbers are predicted: predicted against actual, and what is missed.

const FIT = { left: 52, right: 10, top: 8, bottom: 34, tall: 300 };

function drawFit(S) {
  const told = S.data.standing;
  if (!told) return;
  const { numbers, testRows } = S.facts;
  const scored = testRows ? "Test" : "Training";
  const mae = S.data.test ?? S.data.train;
  setText(S.standingTitle, mae === null ? "Predicted against actual"
    : `${scored} rows are missed by ${amount(S, mae)}; always the mean misses by ${amount(S, numbers.meanMisses)}`);
  if (!S.seen.has(S.fitChart)) return;
  const { P } = S;
  const width = S.fitChart.parentElement.clientWidth;
  const g = fit(S.fitChart, width, FIT.tall, P.bg);
  const side = { x: FIT.left, y: FIT.top, w: width - FIT.left - FIT.right, h: FIT.tall - FIT.top - FIT.bottom };
  const share = (v) => (v - told.low) / (told.high - told.low || 1);
  const X = (p) => side.x + p * side.w;
  const Y = (p) => side.y + (1 - p) * side.h;
  drawFitAxes(S, g, side, told, X, Y, share);
  const [actual, predicted] = [told.actual, told.predicted].map((text) => unpack(text, true));
  const size = actual.length > 400 ? 2.1 : 2.7;
  actual.forEach((a, i) => {
    g.beginPath();
    g.arc(X(a / 65534), Y(predicted[i] / 65534), i < told.train ? size : size + 0.5, 0, 7);
    if (i < told.train) { g.globalAlpha = 0.45; g.fillStyle = P.axis; g.fill(); g.globalAlpha = 1; return; }
    g.fillStyle = P.bg;
    g.strokeStyle = P.c1;
    g.lineWidth = 1.3;
    g.fill();
    g.stroke();
  });
}

function drawFitAxes(S, g, side, told, X, Y, share) {
  const { P } = S;
  const font = (px) => `400 ${px}px ${P.family}`;
  const line = (from, to, colour, dashes) => {
    g.strokeStyle = colour;
    g.setLineDash(dashes);
    g.lineWidth = 1.2;
    g.beginPath();
    g.moveTo(X(from[0]), Y(from[1]));
    g.lineTo(X(to[0]), Y(to[1]));
    g.stroke();
    g.setLineDash([]);
  };
  const mean = share(S.facts.numbers.mean);
  g.font = font(11);
  for (const tick of niceTicks(told.low, told.high, 5)) {
    const p = share(tick);
    line([0, p], [1, p], P.line, []);
    g.fillStyle = P.ink3;
    g.textAlign = "right";
    g.fillText(number(tick), side.x - 6, Y(p));
    g.textAlign = "center";
    g.fillText(number(tick), Math.max(side.x + 8, Math.min(X(p), side.x + side.w - 12)), side.y + side.h + 10);
  }
  line([0, 0], [1, 1], P.ink2, []);
  line([0, mean], [1, mean], P.ink3, [3, 3]);
  const unit = S.facts.numbers.unit ? `, ${S.facts.numbers.unit}` : "";
  g.textAlign = "right";
  g.fillStyle = P.ink3;
  g.fillText(clip(g, `actual ${S.facts.numbers.label}${unit}`, side.w), side.x + side.w, side.y + side.h + 25);
  g.save();
  g.translate(7, side.y);
  g.rotate(-Math.PI / 2);
  g.fillText("predicted", 0, 0);
  g.restore();
}

function drawResiduals(S) {
  const told = S.data.standing;
  if (!told) return;
  const { P } = S;
  const canvas = S.voteChart;
  const width = canvas.parentElement.clientWidth;
  const height = 132;
  const g = fit(canvas, width, height, P.bg);
  const [train, test] = told.residuals;
  const tested = S.facts.testRows > 0;
  const middle = tested ? 58 : 104;
  const bin = width / train.length;
  const tall = (counts, i, room) => (counts[i] / Math.max(1, ...counts)) * room;
  train.forEach((_, i) => {
    g.fillStyle = P.axis;
    g.globalAlpha = 0.6;
    const up = tall(train, i, middle - 12);
    g.fillRect(i * bin, middle - up, bin - 1, up);
    g.globalAlpha = 1;
    const down = tested ? tall(test, i, middle - 16) : 0;
    g.strokeStyle = P.c1;
    g.lineWidth = 1.3;
    if (down) g.strokeRect(i * bin + 0.7, middle, bin - 2.4, down);
  });
  g.fillStyle = P.axis;
  g.fillRect(0, middle - 0.5, width, 1);
  g.fillStyle = P.ink;
  g.fillRect(width / 2 - 0.5, 4, 1, height - 24);
  g.font = `400 11px ${P.family}`;
  g.fillStyle = P.ink3;
  for (const tick of niceTicks(-told.reach, told.reach, 6)) {
    g.textAlign = "center";
    g.fillText(number(tick), Math.max(14, Math.min(width - 14, width / 2 + (tick / told.reach) * (width / 2))), height - 8);
  }
  g.textAlign = "left";
  g.fillStyle = P.ink2;
  g.fillText("training rows", 0, 10);
  if (tested) g.fillText("test rows", 0, height - 26);
}
