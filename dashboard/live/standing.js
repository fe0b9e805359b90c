// How many rows of each class are taken for which: the confusion matrix, of test rows where there are any.

const WIDE_MATRIX = 6;
const NAMED_HEAD = 66;

function writeConfusion(S) {
  const told = S.data.standing;
  if (!told) return;
  const share = (v) => (v === null ? "not measured" : percent(v));
  setText(S.standingTitle, told.testBalanced !== undefined ? `Balanced accuracy: test ${share(told.testBalanced)}, training ${share(told.trainBalanced)}`
    : `Balanced accuracy on the training rows: ${share(told.trainBalanced)}`);
  S.body.classList.toggle("many", !told.mistakes && S.facts.classes.length > WIDE_MATRIX);
  const said = JSON.stringify([told, S.P.dark, S.facts.key, S.standing.parentElement.clientWidth, S.cell]);
  if (said === S.standingSaid) return;
  S.standingSaid = said;
  if (told.mistakes) writeMistakes(S, told.mistakes); else writeMatrix(S, told);
}

// Beyond twelve classes a matrix cannot be read; its largest wrong cells can.
function writeMistakes(S, mistakes) {
  const head = (text) => el("th", { text, scope: "col" });
  S.standing.className = "plot mistakes";
  S.standing.dataset.built = "";
  S.standing.replaceChildren(el("tr", {}, head("is"), head("taken for"), head("rows")), ...mistakes.map(([is, taken, n]) =>
    el("tr", {}, [is, taken].map((k) => el("td", { text: classWords(S, k), title: S.facts.classes[k] })), el("td", { text: whole(n) }))));
  setText(S.standingSay, mistakes.length ? "" : "No row is taken for another class.");
}

// Built once for a set of classes and then only filled, so that a cell keeps the focus while the machine learns.
function writeMatrix(S, told) {
  const K = S.facts.classes.length;
  const built = `${S.facts.key}|${Boolean(told.test)}`;
  if (S.standing.dataset.built !== built) {
    S.standing.dataset.built = built;
    buildMatrixTable(S, K, Boolean(told.test));
  }
  const width = S.standing.parentElement.clientWidth;
  const first = Math.max(92, Math.min(220, (K > 3 ? 0.26 : 0.34) * width));
  S.standing.rows[0].cells[0].style.width = `${first}px`;
  S.standing.className = `plot${(width - first) / K < NAMED_HEAD ? " marks" : ""}`;
  const main = told.test || told.train;
  main.forEach((row, r) => {
    const all = row.reduce((a, b) => a + b, 0);
    row.forEach((n, k) => {
      const cell = S.standing.rows[r + 1].cells[k + 1];
      setText(cell.firstChild, short(n));
      if (told.test) setText(cell.lastChild, K > 2 ? short(told.train[r][k]) : `train ${whole(told.train[r][k])}`);
      cell.style.setProperty("--share", all ? n / all : 0);
      cell.style.setProperty("--hue", classColour(S, k));
      setAttribute(cell, "aria-label", cellSentence(S, told, r, k));
    });
  });
  setText(S.standingSay, S.cell ? cellSentence(S, told, ...S.cell) : worstMistake(S, told));
}

function buildMatrixTable(S, K, tested) {
  const head = (k, scope) => el("th", { scope, title: S.facts.classes[k] }, el("span", { style: `color: var(--c${k})`, text: S.facts.marks[k] }), el("span", { class: "name", text: ` ${S.facts.classes[k]}` }));
  const numbers = Array.from({ length: K }, (_, k) => k);
  S.cell = null;
  S.standing.replaceChildren(el("caption", { class: "sr", text: "Rows by the class that they are and the class they are taken for" }),
    el("thead", {}, el("tr", {}, el("td", { class: "corner", text: "is ↓ taken for →" }), numbers.map((k) => head(k, "col")))),
    el("tbody", {}, numbers.map((r) => el("tr", {}, head(r, "row"), numbers.map((k) =>
      el("td", { class: r === k ? "right" : null, tabindex: r + k ? -1 : 0, "data-r": r, "data-k": k }, el("b"), tested ? el("span") : null))))));
}

function cellSentence(S, told, r, k) {
  const part = (counts, which) => {
    const all = counts[r].reduce((a, b) => a + b, 0);
    return `${whole(counts[r][k])} of ${whole(all)} ${which} rows`;
  };
  const done = r === k ? "are taken for it" : `are taken for ${classWords(S, k)}`;
  return `Of ${classWords(S, r)}, ${told.test ? `${part(told.test, "test")} (${part(told.train, "training")})` : part(told.train, "training")} ${done}.`;
}

// Before a cell is pointed at: the mistake made most often.
function worstMistake(S, told) {
  let worst = [0];
  (told.test || told.train).forEach((row, r) => row.forEach((n, k) => { if (r !== k && n > worst[0]) worst = [n, r, k]; }));
  return worst[0] ? `The mistake made most often: ${cellSentence(S, told, worst[1], worst[2]).replace(/^Of/, "of")}` : "No row is taken for another class.";
}

function wireMatrix(S) {
  const cellOf = (e) => e.target.closest("td[data-r]");
  const show = (cell) => {
    S.cell = cell ? [Number(cell.dataset.r), Number(cell.dataset.k)] : null;
    S.dirty = true;
    wake(S);
  };
  S.standing.addEventListener("pointerover", (e) => show(cellOf(e)));
  S.standing.addEventListener("pointerleave", () => show(null));
  S.standing.addEventListener("focusin", (e) => show(cellOf(e)));
  S.standing.addEventListener("focusout", () => show(null));
  S.standing.addEventListener("keydown", (e) => {
    const go = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (!go || !S.cell) return;
    e.preventDefault();
    const next = S.standing.querySelector(`td[data-r="${S.cell[0] + go[0]}"][data-k="${S.cell[1] + go[1]}"]`);
    if (!next) return;
    cellOf(e).tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
