// Lists compared rules. Everything that comes from the data is set as text; conditions are drawn by the rule list.

function overlay(condition, drawn) {
  const other = condition.other;
  if (!other) return;
  const glyph = drawn.querySelector("svg.glyph");
  if (glyph && other.places) {
    for (const place of other.places) {
      const x = Math.min(GLYPH.width - 2, Math.max(0, place * GLYPH.width - 1));
      glyph.append(node("svg:path", { d: `M${x + 1} 0v${GLYPH.height}`, stroke: "var(--accent)", "stroke-width": 2.5, "stroke-dasharray": "3 2" }));
    }
  }
  drawn.append(node("span", { class: "there", text: ` there ${other.words}` }));
}

function comparedSentence(rule) {
  const sentence = drawSentence(rule);
  const drawn = sentence.querySelectorAll(".condition");
  rule.conditions.forEach((condition, index) => overlay(condition, drawn[index]));
  if (rule.note) sentence.append(node("small", { text: rule.note }));
  return sentence;
}

function weightCell(weight, hue) {
  if (!weight) return node("div", { class: "weight absent", text: "–" });
  return drawWeight({ ...weight, weight: weight.text, hue });
}

function backCells(back) {
  const bar = node("svg:svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true", class: "back" },
    node("svg:rect", { x: 0, y: 3, width: 100, height: 8, fill: "var(--surface)" }),
    node("svg:rect", { x: 0, y: 3, width: 100 * back.share, height: 8, fill: "var(--accent)" }),
    node("svg:rect", { x: 100 * back.low, y: 6, width: 100 * (back.high - back.low), height: 2, fill: "var(--axis)" }));
  return [bar, node("div", { class: "times" }, node("span", { class: "number", text: back.text }), node("small", { text: back.small }))];
}

function comparedRow(rule) {
  const cells = rule.back ? backCells(rule.back) : rule.weights.map((weight) => weightCell(weight, rule.hue));
  return node("div", { class: "row", role: "listitem" }, comparedSentence(rule), ...cells);
}

export default function (component) {
  const { data, parentElement } = component;
  const list = parentElement.querySelector(".rules");
  const head = node("div", { class: "row head" }, node("span", { text: "rule" }), ...data.head.map((text) => node("span", { class: "centre", text })));
  const parts = [head];
  for (const group of data.groups) {
    parts.push(node("div", { class: "group", role: "heading", "aria-level": "4", text: group.title }));
    parts.push(...group.rows.map(comparedRow));
  }
  list.replaceChildren(...parts);
}
