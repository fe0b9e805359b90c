// Runs predict classes or numbers: what differs in words and drawings, one object for each. All else is the same for both.

const answers = (S) => (S.facts.numbers ? NUMBERS : CLASSES);

// The last value measured up to the moment shown.
const lastOf = (S, values) => values[values.findLastIndex((v, i) => v !== null && S.data.history.step[i] <= S.data.step)] ?? null;

const CLASSES = {
  lanes: 2,
  captions: { accuracyNote: "Share of rows predicted right.", f1Note: "Balance of found and falsely found rows.",
    voteNote: "Vote sums of the training rows. Feedback fades towards T.",
    standingNote: "The mean over the classes of the share predicted right; below, rows by class and prediction." },
  groupNote: () => "",
  sideOf: (id) => id % 2,
  sideTitle: (S, side) => `Vote ${sideWords(S, side)}`,
  sideVerb: (S, side) => `votes ${sideWords(S, side)}`,
  sideMark: (S, side) => (S.multi ? (side ? "▨" : "■") : classMark(sideClass(S, side))),
  laneTitle: (S, side) => `${CLASSES.sideMark(S, side)} ${sideWords(S, side)}`,
  writeWhyVote: (S, W) => writeVote(S, W),
  heatFirst: (S) => `, first those that vote ${sideWords(S, 0)}`,
  score(S) {
    const share = S.data.test ?? S.data.train;
    return share === null ? "" : ` get ${percent(share)} of ${S.data.test === null ? "training" : "unseen"} rows right`;
  },
  settled(S, size, { before, after }) {
    if (after === null) return `${size}.`;
    return `${size} get ${percent(after)} of unseen rows right${before === null ? "" : `; by votes it was ${percent(before)}`}.`;
  },
  titles(S) {
    const { data } = S;
    const h = data.history;
    const pair = (test, train, word, now) => {
      const [a, b] = now || [lastOf(S, test), lastOf(S, train)];
      if (a === null && b === null) return `No ${word} measured yet`;
      return a === null ? `Training ${word} ${percent(b / 1000)}` : `Test ${word} ${percent(a / 1000)}, training ${percent(b / 1000)}`;
    };
    const now = data.past ? [data.test, data.train].map((v) => (v === null ? null : 1000 * v)) : null;
    setText(S.accuracyTitle, pair(h.test, h.train, "accuracy", now));
    setText(S.f1Title, pair(h.testF1, h.trainF1, S.multi ? "F1" : `F1 of ${S.facts.classes[1]}`));
    setText(S.voteTitle, data.votes.beyond ? `${percent(data.votes.beyond / S.facts.rows)} of the training rows have votes beyond T`
      : "No training row has votes beyond T");
  },
  then: (S, row) => `${CLASSES.sideMark(S, row.side)} ${S.multi ? sideWords(S, row.side) : S.facts.classes[sideClass(S, row.side)]}, weight ${row.weight.toFixed(2)}`,
  rowIs: (S, { label }) => `${classMark(label)} ${S.facts.classes[label]}`,
  pointColour: (S, i) => classColour(S, S.facts.points.labels[i]),
  pointShape: (S, i) => S.facts.points.labels[i],
  stripValues(S) {
    const h = S.data.history;
    const shares = h.test.some((v) => v !== null) ? h.test : h.train;
    return [shares, Math.min(400, ...shares.filter((v) => v !== null))];
  },
  drawFirst(S) {
    const { history: h, test, train } = S.data;
    drawScores(S, S.accuracyChart, h.test, h.train, [test, train].map((v) => (v === null ? undefined : 1000 * v)));
  },
  drawSecond: (S) => drawScores(S, S.f1Chart, S.data.history.testF1, S.data.history.trainF1),
  drawThird: (S) => drawVotes(S),
  writeStanding: (S) => writeConfusion(S),
  standingNodes: (S) => [S.standing],
};

// Three digits and the target's unit, as the server writes them.
function amount(S, v) {
  const { unit } = S.facts.numbers;
  const size = Math.abs(v);
  const rounded = Number(v.toPrecision(3));
  const decimals = size ? Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded) || 1))) : 0;
  const text = size && (size < 1e-4 || size >= 1e9) ? v.toExponential(2)
    : rounded.toFixed(decimals).replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
  return minus(text) + (unit ? NB + unit : "");
}

const twoDecimals = (v) => minus(v.toFixed(2).replace(/^-0\.00$/, "0.00"));

const NUMBERS = {
  lanes: 1,
  captions: { accuracyNote: "Mean absolute error (MAE): how far predictions are off on average.",
    f1Note: "R²: the share of the differences between rows that is predicted; 1 is all, 0 no better than always the mean.",
    voteNote: "Actual minus predicted; left of 0 is predicted too high. Up: training rows. Down, hollow: test rows, on a scale of their own.",
    standingNote: "Predicted against actual; on the line is right. Dots: training rows. Hollow: test rows. Dashed: always the mean." },
  groupNote: (S) => ` Behind: rows with ${S.facts.classes[1]} upwards, the others downwards.`,
  sideOf: () => 0,
  sideTitle: (S) => `Each adds to ${S.facts.numbers.label}`,
  sideVerb: () => "adds where it holds",
  laneTitle: (S) => `▲ each adds to ${S.facts.numbers.label}`,
  writeWhyVote: (S, W) => writeSum(S, W),
  heatFirst: () => "",
  score(S) {
    const mae = S.data.test ?? S.data.train;
    return mae === null ? "" : ` miss ${S.data.test === null ? "training" : "unseen"} rows by ${amount(S, mae)} on average`;
  },
  settled(S, size, { before, after }) {
    if (after === null) return `${size}.`;
    return `${size} miss unseen rows by ${amount(S, after)} on average${before === null ? "" : `; by votes it was ${amount(S, before)}`}.`;
  },
  titles(S) {
    const { data } = S;
    const h = data.history;
    const pair = (test, train, words, now, none) => {
      const [a, b] = data.past ? now : [lastOf(S, test), lastOf(S, train)];
      if (a === null && b === null) return none;
      return a === null ? `Training ${words(b)}` : `Test ${words(a)}, training ${words(b)}`;
    };
    setText(S.accuracyTitle, pair(h.test, h.train, (v) => `rows are missed by ${amount(S, v)}`, [data.test, data.train], "No error measured yet")
      .replace(", training rows are missed by", ", training rows by"));
    const thousands = [data.testR2, data.trainR2].map((v) => (v === null ? null : 1000 * v));
    setText(S.f1Title, pair(h.testR2, h.trainR2, (v) => `R² ${twoDecimals(v / 1000)}`, thousands, "No R² measured yet").replace("training R²", "training"));
    const told = data.standing;
    if (told) setText(S.voteTitle, `Half of the ${S.facts.testRows ? "test" : "training"} rows are missed by less than ${amount(S, told.halfMissed)}`);
  },
  then: (S, row) => `▲ add ${amount(S, (row.weight * S.facts.numbers.width) / S.data.T)}`,
  rowIs: (S, { target, wanted }) => `${amount(S, target)}, which is ${wanted.toFixed(1)} votes`,
  pointColour: (S, i) => mixed(S, S.facts.points.shares[i]),
  pointShape: () => 0,
  stripValues(S) {
    const h = S.data.history;
    const shares = h.testR2.some((v) => v !== null) ? h.testR2 : h.trainR2;
    return [shares.map((v) => (v === null ? null : Math.max(-200, v))), -200];
  },
  drawFirst(S) {
    const { history: h, test, train, last } = S.data;
    const mean = S.facts.numbers.meanMisses;
    const seen = [mean, ...h.test.slice(1), ...h.train.slice(1)].filter((v) => v !== null);
    const [low, high] = [0.85 * Math.min(...seen), 1.06 * Math.max(...seen) || 1];
    const cut = (values) => values.map((v) => (v === null ? null : Math.min(v, high)));
    drawLines(S, S.accuracyChart, [...testAndTrain(S, cut(h.test), cut(h.train), [test, train].map((v) => (v === null ? undefined : Math.min(v, high)))),
      { name: "the mean ", step: [0, last], values: [mean, mean], colour: S.P.ink3, dashes: [1, 3], whole: true }],
    { low, high, ticks: niceTicks(low, high, 4), format: (v) => amount(S, v).split(NB)[0], formatTick: number });
  },
  drawSecond(S) {
    const { history: h, testR2, trainR2 } = S.data;
    const floor = (v) => (v === null ? null : Math.max(-400, v));
    const [test, train] = [h.testR2, h.trainR2].map((values) => values.map(floor));
    const lowest = Math.min(0, ...test.slice(1), ...train.slice(1));
    drawLines(S, S.f1Chart, testAndTrain(S, test, train, [testR2, trainR2].map((v) => (v === null ? undefined : floor(1000 * v)))),
      { low: lowest, high: 1000, ticks: [-400, 0, 250, 500, 750, 1000].filter((v) => v >= lowest), format: (v) => twoDecimals(v / 1000) });
  },
  drawThird: (S) => drawResiduals(S),
  writeStanding: (S) => drawFit(S),
  standingNodes: (S) => [S.fitChart, S.voteChart],
};

const testAndTrain = (S, test, train, now) => [{ name: "test ", values: test, colour: S.P.ink, now: now[0] },
  { name: "train ", values: train, colour: S.P.ink3, dashes: [4, 3], now: now[1] }];

// From low (blue) over the middle (grey) to high (orange), by where a number stands among the training rows.
function mixed(S, share) {
  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const [from, to] = [S.P.axis, share < 0.5 ? S.P.c0 : S.P.c1].map(parts);
  const strength = Math.abs(share - 0.5) * 2;
  return `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * strength)).join()})`;
}
