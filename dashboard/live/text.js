// Everything said in words: the page's sentence, the state, titles with numbers, the clause, the hidden table.

const STATE_WORDS = { compiling: "Preparing", ready: "Ready", learning: "Learning", paused: "Paused", finished: "Finished",
  settling: "Settling", past: "Paused in the past", replaying: "Replaying", settled: "Settled", failed: "Stopped" };

function shownState(S) {
  if (S.hope && performance.now() < S.hope.until && S.data.state !== S.hope.state) return S.hope.state;
  S.hope = null;
  return S.data.state;
}

function headline(S) {
  const { data, facts } = S;
  if (!facts || !data.rows) return data.state === "failed" ? "This run could not start" : "Getting ready to learn";
  if (!data.step) return `${whole(data.clauses)} clauses, about to learn from ${whole(facts.rows)} rows`;
  const clauses = facts.classes.length > 2 ? `${facts.classes.length} × ${whole(data.clauses)}` : whole(data.clauses);
  return `${whole(data.literals)} literals in ${clauses} clauses${answers(S).score(S)}`;
}

function detail(S) {
  const { data, facts } = S;
  if (!facts || data.step === undefined) return "";
  const epoch = data.epoch < 4 ? data.epoch.toFixed(1) : Math.round(data.epoch);
  const test = facts.testRows ? `, ${whole(facts.testRows)} test rows` : "";
  const reached = data.last / facts.rows;
  const ends = Math.max(data.epochs, Math.ceil(reached / Math.max(1, data.epochs) - 1e-9) * data.epochs);
  return `Epoch ${epoch} of ${whole(ends)} · row ${whole(data.step)} of ${whole(ends * facts.rows)} · `
    + `${whole(facts.rows)} training rows${test} · seed ${facts.seed}`;
}

function noticeWords(S) {
  const { data } = S;
  if (S.silent) return ["lost", silenceWords(S)];
  if (data.state === "failed") return ["err", data.error || "Training stopped."];
  if (data.state === "compiling" && !data.rows) return ["", "Preparing the fast version, about 8 s, once. You can change settings meanwhile."];
  if (data.waiting) return ["", `${whole(data.waiting)} runs are learning on this computer, which is its limit. Keep this page open: yours starts by itself as soon as one pauses.`];
  if (data.state === "settling") return ["", "Settling: fitting the weight of every clause to the training rows."];
  if (data.settled) return ["settled", settledWords(S, data.settled)];
  if (data.lapsed) return ["lapsed", "Paused itself because this page was closed, left or cut off for a while. Nothing is lost."];
  return null;
}

// What becomes of the run meanwhile depends on whether only the line is cut, which cannot be seen from here.
function silenceWords(S) {
  const lease = S.facts?.lease;
  const learning = S.silent < lease ? `lets the run learn on without this page for ${number(lease)} s, then pauses it and keeps it` : "has paused the run by now and keeps it";
  const meanwhile = { learning, settling: "goes on settling", replaying: "waits with the film" }[S.data.state] || "keeps the run as it is";
  return `The connection is cut, or the server is stopped or very busy. A server that still works ${meanwhile}. This page goes on by itself once it is answered; what you press until then waits.`;
}

const settledWords = (S, told) => answers(S).settled(S, `Settled: ${whole(told.rules)} rules with ${whole(told.literals)} literals`, told);

const MATRIX_WORDS = "A line for each clause, a column for each feature, which is a column of your table. A clause holds for a row whose values all lie in its coloured parts. Click a cell to follow it.";

// What never changes in a run: captions, and which of the parts for classes and for numbers is there.
function writeCaptions(S) {
  for (const [name, text] of Object.entries(answers(S).captions(S))) setText(S[name], text);
  S.standing.hidden = S.standingSay.hidden = Boolean(S.facts.numbers);
  S.fitBox.hidden = !S.facts.numbers;
}

function writeTexts(S, now) {
  const { data, facts } = S;
  const state = shownState(S);
  setText(S.head, headline(S));
  setText(S.sub, detail(S));
  S.stateBox.className = `state${S.silent ? " lost" : ["learning", "replaying"].includes(state) && !data.waiting ? "" : " still"}`;
  setText(S.stateWord, S.silent ? "No answer from the server" : data.waiting ? "Waiting" : STATE_WORDS[state]);
  setText(S.stateTime, S.silent ? ` for ${whole(S.silent)}${NB}s` : "");
  writePlay(S, state);
  writeNotice(S);
  if (!facts || !data.rows) return;
  const folded = S.G?.folded || 0;
  const unsent = data.used[1] - data.columns.length;
  writeFilm(S);
  setText(S.matrixTitle, data.view.by === "feature" ? `How every clause reads ${S.facts.features.get(data.view.feature).column.label}` : "Where each clause lets values through");
  setText(S.matrixNote, data.view.by === "feature" ? "A line for each clause, those that test the feature first. Bold: bounds in the clause (included). Faint: bounds left out, still searching." : folded + unsent
    ? `${MATRIX_WORDS} The ${whole(folded + unsent)} of ${whole(data.used[1])} features that these clauses use least are folded away.`
    : MATRIX_WORDS + answers(S).groupNote(S));
  S.unfold.hidden = data.view.by === "feature" || !folded && !S.showAllColumns;
  setText(S.unfold, S.showAllColumns ? "Fewer features" : "All features");
  writeTitles(S);
  writeClause(S);
  if (now - (S.tableAt || 0) > 1000 || state !== "learning") { S.tableAt = now; writeTable(S); }
}

// Under the film bar what the run will take, how the bar reads, or that this is the past; in slow motion the row learned.
function writeFilm(S) {
  const { estimate, past, rowLine, rival, then } = S.data;
  const settings = then?.length ? `Settings at this moment: ${then.join(", ")}. ` : "";
  S.filmNote.dataset.warn = String(!past && Boolean(estimate?.warn));
  setText(S.filmNote, past ? `${settings}The run went on to row ${whole(S.data.last)}. Play shows it again from here. A branch is a new run from this moment on, with the settings at the side.`
    : estimate ? estimate.text : answers(S).filmNote(S));
  S.newest.hidden = !past;
  S.rowLine.hidden = !rowLine;
  if (rowLine) setText(S.rowLine, rowWords(S, rowLine));
  setText(S.literalNote, `In all clauses together. A literal is one ${S.data.thresholds ? "threshold" : "bound"} that is in a clause; fewer make shorter rules.`);
  S.rivalNote.hidden = !rival;
  if (rival) setText(S.rivalNote, rivalWords(S, rival));
}

function rowWords(S, line) {
  const { step, row, v, chance, learned: [ia, ib, ii] } = line;
  const told = [[ia, "to recognise it (Ia)"], [ib, "to forget a little (Ib)"], [ii, "to reject it (II)"]].filter(([n]) => n).map(([n, words]) => `${whole(n)} ${words}`);
  return `Row ${whole(step + 1)} of the film, training row ${whole(row + 1)}, ${answers(S).rowIs(S, line)}: vote sum ${minus(v.toFixed(1))}, aim ${answers(S).aim(line)}. `
    + `Each clause learns with chance ${chance.toFixed(2)}; ${told.length ? `told ${told.join(", ")}` : "none did"}.`;
}

function rivalWords(S, rival) {
  const far = rival.step.findLastIndex((s) => s <= S.data.step);
  const there = rival.literals[far];
  const ratio = there && S.data.literals ? ` At this moment ${short(there)} literals against ${short(S.data.literals)} with intervals, ${(there / S.data.literals).toFixed(1)} times as many.` : "";
  return rival.words + ratio;
}

function writeNotice(S) {
  const notice = noticeWords(S);
  S.notice.hidden = !notice;
  if (!notice) return;
  S.notice.dataset.kind = notice[0];
  setText(S.noticeText, notice[1]);
  S.goOn.hidden = notice[0] !== "lapsed";
  S.readRules.hidden = notice[0] !== "settled";
  S.progress.hidden = S.data.state !== "compiling";
}

function writeTitles(S) {
  const { data } = S;
  const first = data.history.literals[0];
  setText(S.literalTitle, !data.step ? `${whole(first)} literals at the start`
    : data.literals === first ? `${whole(first)} literals, as at the start`
      : `Literals ${data.literals < first ? "fell" : "rose"} from ${whole(first)} to ${whole(data.literals)}`);
  answers(S).titles(S);
  const lengths = data.lengths.flat().sort((a, b) => a - b);
  const median = lengths[Math.floor((lengths.length - 1) / 2)] || 0;
  setText(S.lengthTitle, data.empty ? `${whole(data.empty)} ${data.empty === 1 ? "clause is" : "clauses are"} empty, half hold ${median} or fewer literals`
    : `Half of the clauses hold ${median} or fewer literals`);
}

function writeClause(S) {
  const { data } = S;
  const row = S.rows.find((r) => r.id === data.view.clause);
  const f = S.facts.features.get(data.view.feature);
  if (!f) return;
  setText(S.traceTitle, `Where its bounds on ${f.column.label}${f.column.kind === "category" ? ` = ${f.column.names[f.slot]}` : ""} have been`);
  const t = data.trace;
  let joins = 0;
  for (let i = 1; i < t.included.length && data.history.step[i] <= data.step; i++) for (const bit of [1, 2]) if ((t.included[i] ^ t.included[i - 1]) & bit) joins++;
  setText(S.traceNote, `Thick: the bound is in the clause. Thin: it is left out, still searching. It joined or left ${times(joins)}, as far as kept moments tell. `
    + "Below: when rows told the clause to recognise them (Ia), to forget a little (Ib) or to reject them (II).");
  setText(S.clauseTitle, `Clause ${data.view.clause + 1} reads now`);
  if (!row) { setText(S.sentence, "This clause is not among the rows shown above."); S.said = ""; return; }
  const parts = clauseWords(S, row);
  const said = JSON.stringify([row.id, row.side, parts, row.weight, row.literals, data.view.feature, S.P.dark]);
  if (said === S.said) return;
  S.said = said;
  S.sentence.replaceChildren();
  if (!parts.length) {
    S.sentence.append(row.literals ? "It lets every row through for now." : "Nothing for now: it is empty and casts no vote.");
    return;
  }
  const most = 14;
  parts.slice(0, most).forEach(([words, i], n) => S.sentence.append(el("b", { text: n ? " AND " : "IF " }),
    el("i", { text: words, class: i === data.view.feature ? "on" : null })));
  if (parts.length > most) S.sentence.append(el("b", { text: ` AND ${parts.length - most} MORE` }));
  const then = el("u", { text: answers(S).then(S, row) });
  then.style.color = sideColour(S, row.side);
  S.sentence.append(el("b", { text: " THEN " }), then);
  if (row.impossible) S.sentence.append(el("em", { text: " Cannot hold: no row can meet all of it." }));
}

function writeTable(S) {
  S.table.replaceChildren(el("caption", { text: "Conditions of the clauses shown" }), el("tr", {},
    ["Clause", "Does", "Literals", "Conditions"].map((t) => el("th", { text: t, scope: "col" }))),
  ...S.rows.slice(0, 60).map((row) => el("tr", {}, el("th", { text: row.id + 1, scope: "row" }), el("td", { text: answers(S).sideVerb(S, row.side) }),
    el("td", { text: row.literals }), el("td", { text: clauseWords(S, row).map(([w]) => w).join(" and ") || "empty" }))));
}
