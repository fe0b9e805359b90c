// The page's elements, made once; everything from the data is set as text.

// Who listens hears the button's name, and its key apart from it.
const KEY_NAMES = { "⇧Y": "Shift+Y", "←": "ArrowLeft", "→": "ArrowRight", Esc: "Escape" };
const keyHint = (key) => el("kbd", { "aria-hidden": "true", text: key });
function button(text, key, extra = {}) {
  return el("button", { class: "btn", type: "button", "aria-keyshortcuts": KEY_NAMES[key] || key, ...extra }, text, key ? keyHint(key) : null);
}

function chart(S, name, height, label) {
  const canvas = el("canvas", { role: "img", "aria-label": label, height });
  S[name] = canvas;
  return canvas;
}

function section(S, name, first, note, canvas) {
  S[`${name}Title`] = el("h2", { text: first });
  S[`${name}Note`] = el("p", { class: "cap", text: note });
  return el("section", { class: name }, S[`${name}Title`], S[`${name}Note`], el("div", { class: "plot" }, canvas));
}

const TERMS = "A clause is a rule in the making. A literal is one bound in it, such as age > 54. An epoch is one pass over all training rows.";

function buildPage(S) {
  const named = (name, node) => { S[name] = node; return node; };
  const root = el("div", { class: "live num", "data-painted": "0" });
  S.root = root;
  S.probe = el("span", { class: "sr", "aria-hidden": "true" });
  const stateBox = named("stateBox", el("div", { class: "state still", role: "status" }, el("i"), named("stateWord", el("span")), named("stateTime", el("span", { "aria-hidden": "true" }))));
  root.append(S.probe, el("div", { class: "headrow" },
    el("div", {}, named("head", el("h1")), named("sub", el("p", { class: "sub" })), el("p", { class: "cap", text: TERMS })), stateBox));
  root.append(buildFilm(S, named), buildWhy(S, named));
  S.body = el("div", { class: "body" }, buildMatrix(S, named), buildTrace(S, named), buildCharts(S, named));
  // A table would not keep the one pixel that it is hidden in, and make the page scroll sideways.
  root.append(S.body, el("div", { class: "sr" }, named("table", el("table"))));
  return root;
}

const KEY_WORDS = [["Space", "play or pause"], ["N", "one row"], ["E", "one epoch"], ["0", "reset"], ["S", "slow motion"], ["1 2 3", "speed"],
  ["← →", "a row back or on (Shift: an epoch)"], ["B", "in the past: branch, a new run from here"], ["Y", "why the chosen bound moved last"], ["Shift+Y", "why, for the row just learned"],
  ["V", "by clause or by feature"], ["Tab, ↓", "on a flag over the film bar: its changes of settings"], ["Arrows", "in the matrix: move the chosen cell"], ["Esc", "close what is open"], ["?", "show or hide these keys"]];

function buildFilm(S, named) {
  const speeds = named("speeds", el("div", { class: "seg", role: "group", "aria-label": "Speed" },
    [["slow", "Slow motion", "S"], ["1x", "1×", "1"], ["3x", "3×", "2"], ["max", "Max", "3"]].map(([value, text, key]) =>
      el("button", { type: "button", "data-speed": value, "aria-keyshortcuts": key, title: `${text}, key ${key}`, "aria-pressed": "false", text }))));
  return el("section", { class: "card film", "aria-label": "Film controls" },
    el("div", { class: "ctl" },
      named("play", el("button", { class: "btn primary play", type: "button", "aria-keyshortcuts": "Space" })),
      named("oneRow", button("One row", "N", { title: "Learn from one row" })),
      named("oneEpoch", button("One epoch", "E", { title: "Learn from every training row once" })),
      named("reset", button("Reset", "0", { title: "Start over: with this run's settings and seed it learns the same again" })), speeds,
      el("span", { class: "space-between" }),
      named("branch", button(["Branch", el("span", { class: "broad", text: " from here" })], "B", { hidden: true, title: "Start a new run from this moment, with the settings at the side" })),
      named("settle", button("Settle", null, { title: "Stop learning and give each clause the weight that fits the training rows best: rules to keep" }))),
    named("ask", el("div", { class: "ask", hidden: true, role: "alertdialog", "aria-label": "Start over?" },
      named("askText", el("span")), named("askYes", button("Start over")), named("askNo", button("Keep it")))),
    named("notice", el("div", { class: "notice", hidden: true }, named("noticeText", el("span", { role: "status" })),
      named("goOn", button("Go on")), named("readRules", button("Read the rules", null, { class: "btn primary" })), named("progress", el("span", { class: "progress", "aria-hidden": "true" }, el("i"))))),
    named("rowLine", el("p", { class: "cap rowline", hidden: true, role: "status" })),
    el("div", { class: "barbox" },
      named("bar", el("div", { class: "bar", role: "slider", tabindex: "0", "aria-label": "Moment of the run. Arrow keys go one row, with Shift one epoch.",
        "aria-valuemin": "0" }, chart(S, "timeBar", BAR.height, "Literals and the score over the epochs so far"))),
      named("flags", el("div", { class: "flags", role: "group", "aria-label": "Changes of settings", hidden: true },
        named("flagRow", el("div", { class: "flagrow" })), named("flagList", el("ol", { class: "flaglist", hidden: true }))))),
    el("div", { class: "below" }, named("filmNote", el("p", { class: "cap" })),
      named("newest", button("Newest", "End", { title: "Go to the newest moment" })), named("help", button("Keys", "?", { "aria-expanded": "false" }))),
    named("keys", el("dl", { class: "keys", hidden: true, "aria-label": "Keys" },
      KEY_WORDS.map(([key, words]) => el("div", {}, el("dt", {}, el("kbd", { text: key })), el("dd", { text: words }))))));
}

function buildMatrix(S, named) {
  const option = (value, text) => el("option", { value, text });
  const machine = named("machine", el("select", { class: "sel", "aria-label": "Class in focus" }));
  const sort = named("sort", el("select", { class: "sel", "aria-label": "Sort", title: "Sorted when last asked; lines keep their places while it learns" },
    option("literals", "Most literals first"), option("weight", "Heaviest vote first"), option("number", "By clause number")));
  S.matrix = el("canvas", { "aria-hidden": "true" });
  S.headCanvas = el("canvas", { "aria-hidden": "true" });
  S.heads = el("div", { class: "heads", "aria-hidden": "true" });
  S.tip = el("div", { class: "tip", hidden: true });
  S.pin = el("div", { class: "pin" }, S.headCanvas, S.matrix, S.heads, S.tip);
  S.space = el("div", { class: "space" }, S.pin);
  S.scroller = el("div", { class: "scroller", tabindex: "0", role: "application",
    "aria-label": "Interval matrix. Arrow keys move the chosen cell." }, S.space);
  return el("div", {}, named("cellSay", el("p", { class: "sr", role: "status" })),
    el("div", { class: "tools" },
      el("div", {}, named("matrixTitle", el("h2")), named("matrixNote", el("p", { class: "cap" }))),
      el("div", { class: "r" }, machine, named("by", el("div", { class: "seg", role: "group", "aria-label": "Arrange", title: "Key V" },
        [["clause", "By clause"], ["feature", "By feature"]].map(([value, text]) => el("button", { type: "button", "data-by": value, "aria-pressed": "false", text })))),
        named("column", el("select", { class: "sel", "aria-label": "Feature" })), named("sides", el("select", { class: "sel", "aria-label": "Clauses of" })), el("span", { class: "r" }, sort,
          named("again", button("Sort again", null, { title: "Lines keep their places while it learns. This puts them in order by what the clauses hold now" })), named("unfold", button("All features")), named("more", button("All clauses"))))),
    el("section", { class: "card matrix", "aria-label": "Interval matrix" }, S.scroller, named("pager", el("div", { class: "pager", hidden: true },
      named("earlier", button("Earlier")), named("pagerText", el("span")), named("later", button("Later")))),
    el("div", { class: "key" }, keyItems())));
}

function buildTrace(S, named) {
  return el("section", { class: "card trace" },
    el("div", { class: "headrow" }, named("clauseTitle", el("h2")), el("div", { class: "r" },
      named("askWhy", button("Why did it move?", "Y", { title: "The last row that moved the chosen bound" })),
      named("askRow", button("Why this row?", "⇧Y", { title: "What the row just learned did" })))), named("sentence", el("p", { class: "sentence" })),
    named("traceTitle", el("h2")), named("traceNote", el("p", { class: "cap" })),
    el("div", { class: "plot" }, chart(S, "traceChart", 196, "Both bounds of the chosen cell over the epochs")));
}

function buildCharts(S, named) {
  const plot = (name, label, height = 132) => chart(S, name, height, label);
  const select = (name, label) => named(name, el("select", { class: "sel", "aria-label": label }));
  return el("div", { class: "two" },
    el("div", { class: "stack" },
      el("section", {}, el("div", { class: "headrow" }, named("literalTitle", el("h2", { text: "Literals" })), named("askRival", button("Compare with thresholds", null,
        { title: "Train beside it, in the background, the same machine with one fixed threshold for every value instead of bounds that move" }))),
      named("literalNote", el("p", { class: "cap" })), named("rivalNote", el("p", { class: "cap", hidden: true })),
      el("div", { class: "plot" }, plot("literalChart", "Literals over the epochs"))),
      section(S, "accuracy", "Scores", "", plot("accuracyChart", "The score of training and test rows over the epochs"))),
    el("section", {}, named("mapTitle", el("h2", { text: "Where the clauses hold" })), named("mapNote", el("p", { class: "cap" })),
      el("div", { class: "plot" }, plot("mapChart", "Rows as points, clauses as boxes over two features", MAP.tall)), named("mapClasses", el("div", { class: "classes" })),
      el("div", { class: "axes" }, el("span", { class: "cap", text: "across" }), select("mapX", "Feature across"), el("span", { class: "cap", text: "up" }), select("mapY", "Feature upwards"))),
    section(S, "vote", "Rows", "", plot("voteChart", "How the rows are spread: their vote sums, or what they are missed by")),
    el("section", { class: "standing" }, named("standingTitle", el("h2")), named("standingNote", el("p", { class: "cap" })), named("standing", el("table", { class: "plot" })), named("standingSay", el("p", { class: "cap" })),
      named("fitBox", el("div", { class: "plot", hidden: true }, plot("fitChart", "Predicted against actual numbers", FIT.tall)))),
    section(S, "length", "Literals per clause", "A bar for each clause, longest first.", plot("lengthChart", "Literals of each clause")),
    section(S, "f1", "Scores", "", plot("f1Chart", "The second score over the epochs")),
    el("section", { class: "across" }, named("stripTitle", el("h2", { text: "Memory" })),
      el("p", { class: "cap", text: "Every bound has a small memory, its automaton, that each lesson moves up or down. A bar for each, lower and upper bound side by side: above the line the bound is in the clause, below it is left out; the longer, the surer." }),
      el("div", { class: "plot" }, plot("stripChart", "Memory of each literal of the chosen clause", STRIP)),
      named("heatNote", el("p", { class: "cap" })), el("div", { class: "plot" }, plot("heatChart", "Memory of every literal of every clause"))));
}

// What a press does; at the end of a run it learns on, which is said.
function playWords(S, state) {
  if (state === "learning" || state === "replaying") return "Pause";
  if (!S.facts || !["finished", "settled"].includes(state)) return "Play";
  return `Go on to epoch ${whole((Math.floor(S.data.last / S.facts.rows / S.data.epochs) + 1) * S.data.epochs)}`;
}

function writePlay(S, state) {
  const text = playWords(S, state);
  S.play.title = state === "past" ? "Play the film from here" : "";
  S.branch.hidden = !["past", "replaying"].includes(state) || !S.data.past;
  S.settle.hidden = !S.branch.hidden;
  S.play.classList.toggle("primary", state !== "finished" && !S.data.settled);
  S.settle.classList.toggle("primary", state === "finished" && !S.data.settled);
  S.play.disabled = state === "failed" || state === "settling";
  S.settle.disabled = ["failed", "settling", "compiling", "settled"].includes(state) || !S.data.step;
  for (const b of [S.oneRow, S.oneEpoch, S.reset]) b.disabled = state === "failed" || state === "settling" || state === "compiling";
  if (S.play.dataset.shows === text) return;
  S.play.dataset.shows = text;
  S.play.replaceChildren(el("span", { class: "sign", "aria-hidden": "true", text: text === "Pause" ? "❚❚" : "▶" }), text, keyHint("Space"));
}

// Names of the columns above the matrix, placed to match the canvas.
function placeHeads(S) {
  const { G } = S;
  if (!S.headsDirty) return;
  S.headsDirty = false;
  if (G.by) { S.heads.replaceChildren(); S.moving = null; sizeMatrix(S); return; }
  const head = (x, width, lines) => {
    const made = el("div", { class: "hd" }, lines);
    made.style.left = x + "px";
    if (width) made.style.width = width + "px";
    return made;
  };
  const fixed = [[12, "no."], [46, "literals"], ...(G.narrow ? [] : [[88, "weight"]]),
    ...[0, 1, 2].map((i) => [(G.narrow ? 87 : 126) + i * 13 + (i === 2 ? 1 : 0), FEEDBACK_NAMES[i]])];
  const moving = el("div", { class: "moving" }, G.columns.map((c) => {
    const made = head(c.x - 3 - G.label + 8, c.w + GAP - 1, [el("div", { text: c.column.label.replace(/[_/.-]/g, "$&\u200b") }), c.column.unit ? el("span", { text: c.column.unit }) : null]);
    made.title = c.column.label;
    return made;
  }));
  S.moving = moving;
  const frame = el("div", { class: "clip" }, moving);
  frame.style.left = G.label - 8 + "px";
  S.heads.replaceChildren(...fixed.map(([x, text]) => head(x, 0, [el("span", { text })])), frame);
  sizeMatrix(S);
}

function sizeMatrix(S) {
  const { G } = S;
  S.matrix.style.top = (G.by ? 0 : HEAD) + "px";
  S.headCanvas.hidden = Boolean(G.by);
  S.space.style.width = G.full + "px";
  S.space.style.height = G.total + "px";
  S.scroller.style.height = G.height + "px";
  S.pin.style.width = G.width + "px";
  S.pin.style.height = G.height + "px";
}
