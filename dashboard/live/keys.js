// Keys, dead while a field has focus.

function inField(event) {
  const target = event.composedPath()[0];
  return target instanceof Element && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)
    || (target.closest("[role=slider]") && !target.closest(".bar")) || target.closest("[role=combobox],[role=listbox],[role=radiogroup],[role=dialog]"));
}

const KEYS = { n: "one_row", e: "one_epoch", 0: "reset" };
const SPEED_KEYS = { s: "slow", 1: "1x", 2: "3x", 3: "max" };

function showKeys(S, shown) {
  S.keys.hidden = !shown;
  S.help.setAttribute("aria-expanded", String(shown));
}

function onKey(S, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || inField(event) || !S.data) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const target = event.composedPath()[0];
  const pressed = key === " " && target instanceof Element && target.closest("button, a, summary");
  if (pressed && !S.play.contains(pressed) && !pressed.matches("[data-speed][aria-pressed=true]")) return; // its own press
  if (key === "Escape") {
    if (!S.ask.hidden || !S.keys.hidden) { S.ask.hidden = true; showKeys(S, false); } else if (S.data.why) closeWhy(S);
    return;
  }
  if (key === "?") { showKeys(S, S.keys.hidden); return; }
  if (key === "ArrowLeft" || key === "ArrowRight") {
    if (!S.facts || S.data.last === undefined) return;
    goBy(S, key === "ArrowLeft" ? -1 : 1, event.shiftKey);
    event.preventDefault();
    return;
  }
  if (event.repeat && key !== "n") return;
  if (key === " ") act(S, "toggle");
  else if (Object.hasOwn(KEYS, key)) act(S, KEYS[key]);
  else if (key === "b") branch(S);
  else if (key === "End" && S.data.past) goTo(S, S.data.last);
  else if (key === "v" && S.data.view) look(S, { by: S.data.view.by === "feature" ? "clause" : "feature", offset: 0 });
  else if (key === "y") { if (S.data.why && !event.shiftKey) closeWhy(S); else askWhy(S, event.shiftKey ? "why" : "last_move"); }
  else if (Object.hasOwn(SPEED_KEYS, key)) setSpeed(S, SPEED_KEYS[key]);
  else return;
  event.preventDefault();
}
