// The sum of a row with a number: what the clauses that hold add up to, and what the row asks for.

function writeSum(S, W) {
  const { lowest, width } = S.facts.numbers;
  const inNumbers = (votes) => amount(S, lowest + (votes / W.T) * width);
  setText(S.whyVoteNote, `The clauses that hold add up to ${twoDigits(W.v)} votes, which predict ${inNumbers(W.v)}. The row asks for ${twoDigits(W.wanted)}, its own number.`);
  const w = Math.max(220, Math.min(420, S.whyVote.clientWidth || 300));
  const x = (v) => 10 + (v / W.T) * (w - 20);
  const v = Math.max(0, Math.min(W.T, W.v));
  const gap = Math.abs(W.wanted - v);
  const bar = (a, b, extra) => sv("rect", { x: Math.min(x(a), x(b)), y: 26, width: Math.abs(x(b) - x(a)), height: 14, ...extra });
  S.whyVote.replaceChildren(sv("svg", { width: w, height: 66, role: "img", "aria-label": `Sum ${twoDigits(W.v)}, asked for ${twoDigits(W.wanted)}` },
    bar(0, W.T, { fill: "var(--surface)", rx: 3 }), bar(0, v, { fill: "var(--c1)" }), bar(v, W.wanted, { fill: "var(--accent)", opacity: 0.2 }),
    sv("rect", { x: x(W.wanted) - 1, y: 18, width: 2, height: 30, fill: "var(--ink)" }),
    say(Math.max(40, Math.min(w - 40, x(v))), 15, `v = ${twoDigits(W.v)}`, { "font-weight": 650, fill: "var(--ink)", "text-anchor": "middle" }),
    say(10, 60, inNumbers(0)), say(w - 10, 60, `T = ${number(W.T)}: ${inNumbers(W.T)}`, { "text-anchor": "end" }),
    Math.abs(x(v) - x(W.wanted)) > 84 ? say((x(v) + x(W.wanted)) / 2, 37, `${W.y ? "missing" : "too much"} ${gap.toFixed(1)}`, { "text-anchor": "middle", "font-size": 11.5 }) : null));
  S.whyChance.replaceChildren(`p = |asked − v| / T = |${twoDigits(W.wanted)} − ${twoDigits(v)}| / ${number(W.T)} = `, el("b", { text: twoDigits(W.chance) }),
    el("span", { text: W.chance ? `The sum is too ${W.y ? "low" : "high"}. Every clause alike learns when its own draw is below p.` : "The sum is what the row asks for, so no clause learns." }));
}
