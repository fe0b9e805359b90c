// How many rows of each class are taken for which: the confusion matrix, of test rows where there are any.

function writeConfusion(S) {
  const told = S.data.standing;
  if (told === undefined) return;
  if (told === null) {
    setText(S.standingTitle, "Too many classes for a table of mistakes");
    S.standing.replaceChildren();
    return;
  }
  const said = JSON.stringify([told, S.P.dark, S.facts.key]);
  if (said === S.standingSaid) return;
  S.standingSaid = said;
  const share = (v) => (v === null ? "not measured" : percent(v));
  setText(S.standingTitle, told.test ? `Balanced accuracy: test ${share(told.testBalanced)}, training ${share(told.trainBalanced)}`
    : `Balanced accuracy on the training rows: ${share(told.trainBalanced)}`);
  const main = told.test || told.train;
  const names = S.facts.classes.map((name, k) => `${classMark(k)} ${name}`);
  const cell = (r, k) => {
    const all = main[r].reduce((a, b) => a + b, 0);
    const made = el("td", { class: r === k ? "right" : null }, el("b", { text: whole(main[r][k]) }),
      told.test ? el("span", { text: `train ${whole(told.train[r][k])}` }) : null);
    made.style.setProperty("--share", all ? main[r][k] / all : 0);
    made.style.setProperty("--hue", classColour(S, k));
    return made;
  };
  S.standing.replaceChildren(el("caption", { class: "sr", text: "Rows by their class and the class they are taken for" }),
    el("tr", {}, el("td", { class: "corner", text: "really ↓ taken for →" }), names.map((t) => el("th", { text: t, scope: "col" }))),
    ...main.map((_, r) => el("tr", {}, el("th", { text: names[r], scope: "row" }), names.map((_n, k) => cell(r, k)))));
}
