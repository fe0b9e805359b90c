// Slow motion, one row at a time: the clauses whose draw hit light first, the marks come onto their bounds, the bounds
// move, the marks fade. Nothing is staged where motion is unwelcome: there the marks stay until the next row.
const HIT = 300;
const MARKED = 620;
const MOVE = 500;
const MARK_LEFT = 0.45;

function beginStage(S, steps) {
  for (const row of S.rows) row.staged = [];
  S.stage = steps === 1 && !still() && S.data.state !== "failed"
    ? { began: performance.now(), rate: S.data.speed === "slow" ? 1 : 1.8 } : null;
}

// The bounds one row moved, with the mark of its feedback; in a stage they stay where they were for a moment.
function markMoves(S, row, moved, type) {
  row.marks = moved.map((move) => ({ ...move, type, left: S.stage ? MARK_LEFT : 1 }));
  if (!S.stage) return;
  row.staged = moved.map(({ k, upper }) => ({ k, upper, from: upper ? row.upper[k] : row.lower[k],
    on: upper ? row.onUpper[k] : row.onLower[k] }));
  row.hit = true;
}

const stageTime = (S) => (S.stage ? (performance.now() - S.stage.began) * S.stage.rate : Infinity);

// How far the staged bounds have come: 0 before they move, 1 when they are there.
function stageHold(S, jump) {
  const time = stageTime(S);
  S.root.dataset.stage = jump || time >= MARKED + MOVE ? "" : time < HIT ? "hit" : time < MARKED ? "marks" : "move";
  if (jump || time >= MARKED + MOVE) { S.stage = null; return 1; }
  const share = Math.max(0, (time - MARKED) / MOVE);
  return 1 - (1 - share) ** 3;
}

function playStage(row, share) {
  for (const { k, upper, from, on } of row.staged) {
    const inc = upper ? row.inc[k] >> 1 : row.inc[k] & 1;
    const [place, goal, shown] = upper ? [row.upper, row.goalUpper, row.onUpper] : [row.lower, row.goalLower, row.onLower];
    place[k] = from + (goal[k] - from) * share;
    shown[k] = on + (inc - on) * share;
    if (share === 0) (upper ? row.tailUpper : row.tailLower)[k] = from;
  }
  if (share >= 1) { row.staged = []; row.hit = false; }
}

// How strongly a clause that the row teaches is lit, and how strongly the marks on its bounds show.
function stageLight(S, row) {
  const time = stageTime(S);
  return row.hit && time < MARKED + MOVE ? Math.min(1, time / 120, (MARKED + MOVE - time) / 300) : 0;
}
function markStrength(S, left) {
  const time = stageTime(S);
  return time === Infinity ? Math.min(1, left * 2.5) : Math.max(0, Math.min(1, (time - HIT) / 140));
}
