// Changes of settings on the film bar: an exact tick each on the canvas, and above them flags that never overlap. Flags
// whose words would meet become one that counts its changes; pointed at, focused or opened, a flag lists what it holds.

const FLAG = { pole: 10, gap: 6, font: 11 };

// Flags from left to right, each with its changes, its words and the part of the bar that they take.
function clusterFlags(changes, x, width, measure) {
  const flags = [];
  const boxed = (held) => {
    const words = held.length > 1 ? `${whole(held.length)} changes` : held[0][1];
    const at = x(held[0][0]);
    const size = Math.min(width, FLAG.pole + measure(words));
    const turned = at + size > width;
    const from = Math.max(0, turned ? at - size : at);
    return { changes: held, words, at, turned, from, to: from + size };
  };
  for (const change of changes) {
    let flag = boxed([change]);
    while (flags.length && flags.at(-1).to + FLAG.gap > flag.from) flag = boxed([...flags.pop().changes, ...flag.changes]);
    flags.push(flag);
  }
  return flags;
}

function drawChanges(S, g, x, width, bottom, font) {
  g.font = font(FLAG.font, 600);
  const flags = clusterFlags(S.data.changes, x, width, (words) => g.measureText(words).width);
  g.fillStyle = S.P.ink;
  g.globalAlpha = 0.7;
  for (const [step] of S.data.changes) g.fillRect(x(step) - 0.5, BAR.top - 5, 1, bottom - BAR.top + 5);
  g.globalAlpha = 1;
  for (const { at, turned } of flags) {
    g.fillRect(at - 0.5, 2, 1, bottom - 2);
    g.beginPath();
    g.moveTo(at, 2);
    g.lineTo(at + (turned ? -6 : 6), 6);
    g.lineTo(at, 10);
    g.fill();
  }
  placeFlags(S, flags);
}

// The words are buttons over the canvas; each keeps its place in the list, so that focus stays while the bar grows.
function placeFlags(S, flags) {
  S.flagged = flags;
  S.flags.hidden = !flags.length;
  while (S.flagRow.children.length < flags.length) {
    S.flagRow.append(el("button", { class: "flag", type: "button", tabindex: "-1", "aria-expanded": "false" }));
  }
  [...S.flagRow.children].forEach((node, i) => {
    const flag = flags[i];
    node.hidden = !flag;
    if (!flag) return;
    setText(node, flag.words);
    const left = `${flag.from}px`;
    if (node.style.left !== left) node.style.left = left;
    node.classList.toggle("turned", flag.turned);
    setAttribute(node, "aria-label", flagName(S, flag));
  });
  const first = flags.length && ![...S.flagRow.children].some((node) => !node.hidden && node.tabIndex === 0);
  if (first) S.flagRow.firstChild.tabIndex = 0;
  if (S.openFlag !== undefined) writeFlagList(S);
}

const epochOf = (S, step) => (step / S.facts.rows).toFixed(1);

function flagName(S, { changes }) {
  const [first, last] = [changes[0], changes.at(-1)].map(([step]) => epochOf(S, step));
  if (changes.length === 1) return `Setting changed at epoch ${first}: ${changes[0][1]}`;
  return `${whole(changes.length)} changes of settings, ${first === last ? `epoch ${first}` : `epochs ${first} to ${last}`}`;
}

function writeFlagList(S) {
  const flag = S.flagged[S.openFlag];
  if (!flag) { openFlag(S, undefined); return; }
  S.flagList.style.left = `${Math.max(0, Math.min(flag.from, S.bar.clientWidth - 264))}px`;
  const said = JSON.stringify([flag.changes, S.data.facts]);
  if (said === S.flagSaid) return;
  S.flagSaid = said;
  S.flagList.replaceChildren(...flag.changes.map(([step, words]) => el("li", {},
    el("button", { type: "button", "data-step": step, tabindex: "-1" }, el("b", { text: words }),
      el("small", { text: `epoch ${epochOf(S, step)}, after row ${whole(step)}` })))));
}

function openFlag(S, place) {
  S.openFlag = place;
  S.flagSaid = "";
  S.flagList.hidden = place === undefined;
  [...S.flagRow.children].forEach((node, i) => node.setAttribute("aria-expanded", String(i === place)));
  if (place !== undefined) writeFlagList(S);
}

const flagPlace = (S, node) => [...S.flagRow.children].indexOf(node);

function focusFlag(S, place) {
  const node = S.flagRow.children[place];
  if (!node || node.hidden) return;
  for (const other of S.flagRow.children) other.tabIndex = other === node ? 0 : -1;
  node.focus();
}

// Left and right go between flags, down and up within the list, Enter goes to the moment, Escape closes.
function flagKey(S, event) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  const inList = S.flagList.contains(event.target);
  const place = inList ? S.openFlag : flagPlace(S, event.target);
  if (event.key === "Escape" && S.openFlag !== undefined) { focusFlag(S, place); openFlag(S, undefined); }
  else if (!step) return;
  else if (event.key.endsWith("t")) { if (!inList) focusFlag(S, place + step); }
  else {
    const entries = [...S.flagList.querySelectorAll("button")];
    const next = entries[inList ? entries.indexOf(event.target) + step : 0];
    if (next) next.focus(); else if (inList && step < 0) focusFlag(S, place);
  }
  event.preventDefault();
}

function wireFlags(S) {
  const on = (node, type, what) => node.addEventListener(type, what);
  const flagOf = (e) => e.target.closest(".flag");
  on(S.flags, "pointerover", (e) => { const node = flagOf(e); if (node) openFlag(S, flagPlace(S, node)); });
  on(S.flags, "pointerleave", () => { if (!S.flags.contains(S.root.getRootNode().activeElement)) openFlag(S, undefined); });
  on(S.flags, "focusin", (e) => { const node = flagOf(e); if (node) openFlag(S, flagPlace(S, node)); });
  on(S.flags, "focusout", (e) => { if (!S.flags.contains(e.relatedTarget)) openFlag(S, undefined); });
  on(S.flags, "keydown", (e) => flagKey(S, e));
  on(S.flagRow, "click", (e) => {
    const flag = S.flagged[flagPlace(S, flagOf(e))];
    if (flag?.changes.length === 1) goTo(S, flag.changes[0][0]); else S.flagList.querySelector("button")?.focus();
  });
  on(S.flagList, "click", (e) => { const entry = e.target.closest("button"); if (entry) goTo(S, Number(entry.dataset.step)); });
}
