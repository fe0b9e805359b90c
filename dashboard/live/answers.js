// Runs predict classes or numbers: what differs in words and drawings, one object for each. All else is the same for both.

const answers = (S) => (S.facts.numbers ? NUMBERS : CLASSES);

// The last value measured up to the moment shown.
const lastOf = (S, values) => values[values.findLastIndex((v, i) => v !== null && S.data.history.step[i] <= S.data.step)] ?? null;

const CLASSES = {
  lanes: 2,
  captions: (S) => ({ accuracyNote: "Share of rows whose class is predicted right. Test rows were kept aside: the machine never learns from them.",
    f1Note: S.multi ? "F1 joins two shares, of the rows taken for a class those that are, and of those that are those found; here its mean over the classes."
      : `F1 joins two shares: of the rows taken for ${S.facts.classes[1]} those that are, and of those that are those found. It is low when either is.`,
    voteNote: `Training rows by their vote sum, which is what the clauses that hold for a row add up to. Above 0 a row is taken for ${S.multi ? "the class in focus, if no other class has more" : S.facts.classes[1]}. `
      + "The nearer a sum comes to T the right way, the fewer clauses still learn from the row.",
    standingNote: "Balanced: the share predicted right within each class, then the mean, so that a rare class counts as much as a common one. Below, rows by what they are and what they are taken for." }),
  filmNote: (S) => `Filled: literals so far. Line: ${S.facts.testRows ? "unseen" : "training"} rows right. Drag or press ← to look back.`,
  groupNote: () => "",
  sideOf: (id) => id % 2,
  sideTitle: (S, side) => `Vote ${sideWords(S, side)}`,
  sideVerb: (S, side) => `votes ${sideWords(S, side)}`,
  sideMark: (S, side) => (S.multi ? (side ? "▨" : "■") : S.facts.marks[sideClass(S, side)]),
  laneTitle: (S, side) => `${CLASSES.sideMark(S, side)} ${sideWords(S, side)}`,
  writeWhyVote: (S, W) => writeVote(S, W),
  heatFirst: (S) => `, first those that vote ${sideWords(S, 0)}`,
  score(S) {
    const share = S.data.test ?? S.data.train;
    return share === null ? "" : ` get ${percent(share)} of ${S.data.test === null ? "training" : "unseen"} rows right`;
  },
  settled(S, size, { before, after }) {
    if (after === null) return `${size}.`;
    return `${size} get ${percent(after)} of unseen rows right${before === null ? "" : `; before settling it was ${percent(before)}`}.`;
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
    const { reached } = data.votes;
    setText(S.voteTitle, reached ? `${percent(reached / S.facts.rows)} of training rows lead by T: they teach no more`
      : "No training row leads by T yet: all still teach");
  },
  then: (S, row) => `${CLASSES.sideMark(S, row.side)} ${S.multi ? sideWords(S, row.side) : S.facts.classes[sideClass(S, row.side)]}, weight ${row.weight.toFixed(2)}`,
  rowIs: (S, { label }) => classWords(S, label),
  aim: ({ y, T }) => minus(number(y ? T : -T)),
  pointColour: (S, i) => classColour(S, S.facts.points.labels[i]),
  pointShape: (S, i) => (everyHue(S) ? S.facts.points.labels[i] : 0),
  pointWords: "Points: rows of the table, hollow: test rows.",
  pointKey: classKey,
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
  captions: () => ({ accuracyNote: "Mean absolute error (MAE): how far predictions are off on average. Test rows were kept aside: the machine never learns from them.",
    f1Note: "R²: the share of the differences between rows that is predicted; 1 is all, 0 no better than always the mean.",
    voteNote: "Rows by what they are missed by, actual minus predicted; left of 0 is predicted too high. Up: training rows. Down, hollow: test rows, on a scale of their own.",
    standingNote: "Each row by its actual number and the one predicted; on the line is right. Dots: training rows. Hollow: test rows. Dashed: always the mean." }),
  filmNote: () => "Filled: literals so far. Line: R², higher is better. Drag or press ← to look back.",
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
    return `${size} miss unseen rows by ${amount(S, after)} on average${before === null ? "" : `; before settling it was ${amount(S, before)}`}.`;
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
  aim: ({ wanted }) => wanted.toFixed(1),
  pointColour: (S, i) => mixed(S, S.facts.points.shares[i]),
  pointShape: () => 0,
  pointWords: "Points: rows of the table, from the lowest numbers (blue) to the highest (orange); hollow: test rows.",
  pointKey: () => [],
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
