// Draws rules as sentences with their glyphs and weights. Everything that comes from the data is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const GLYPH = { width: 60, height: 22 };

function node(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:")
    ? document.createElementNS(SVG, tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "text") made.textContent = value;
    else if (name === "style") Object.assign(made.style, value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function intervalGlyph(glyph, hue) {
  const { width, height } = GLYPH;
  const middle = height / 2;
  const box = node("svg:svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "glyph" });
  const from = glyph.from ?? 0;
  const to = glyph.to ?? 1;
  const barWidth = width / glyph.up.length;
  const tallest = Math.max(1, ...glyph.up, ...glyph.down);
  const shapes = new Map();
  glyph.up.forEach((_, bin) => {
    const centre = (bin + 0.5) / glyph.up.length;
    const opacity = centre > from && centre < to ? 0.62 : 0.26;
    for (const [counts, upward, fill] of [[glyph.up, true, glyph.upHue], [glyph.down, false, glyph.downHue]]) {
      const tall = (counts[bin] / tallest) * (middle - 1);
      if (!tall) continue;
      const kind = `${fill} ${opacity}`;
      const bar = `M${bin * barWidth} ${middle}v${upward ? -tall : tall}h${barWidth - 0.6}V${middle}z`;
      shapes.set(kind, (shapes.get(kind) ?? "") + bar);
    }
  });
  for (const [kind, d] of shapes) {
    const [fill, opacity] = kind.split(" ");
    box.append(node("svg:path", { d, fill: `var(--${fill})`, opacity }));
  }
  box.append(
    node("svg:rect", { x: 0, y: middle - 0.5, width, height: 1, fill: "var(--line)" }),
    node("svg:rect", {
      x: from * width, y: middle - 3, width: Math.max(1, (to - from) * width), height: 6,
      fill: `var(--${hue})`, stroke: "var(--bg)", "stroke-width": 1,
    }),
  );
  for (const bound of [glyph.from, glyph.to]) {
    if (bound === null) continue;
    const x = Math.min(width - 2, Math.max(0, bound * width - 1));
    box.append(node("svg:rect", { x, y: 1, width: 2, height: height - 2, fill: "var(--ink)" }));
  }
  return box;
}

function categoryGlyph(glyph, hue) {
  const height = GLYPH.height;
  const middle = height / 2;
  const step = 14;
  const width = Math.max(GLYPH.width, step * glyph.cells.length);
  const left = width - step * glyph.cells.length;
  const box = node("svg:svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "glyph" });
  glyph.cells.forEach((cell, index) => {
    const x = left + step * (index + 0.5);
    const half = 4.5;
    if (cell === "is") {
      box.append(node("svg:rect", { x: x - half, y: middle - half, width: 2 * half, height: 2 * half, rx: 2.5, fill: `var(--${hue})` }));
    } else if (cell === "not") {
      box.append(node("svg:path", {
        d: `M${x - half} ${middle - half}h${2 * half}v${2 * half}h${-2 * half}zM${x - half} ${middle + half}l${2 * half} ${-2 * half}`,
        fill: "none", stroke: `var(--${hue})`, "stroke-width": 1.5,
      }));
    } else {
      box.append(node("svg:circle", { cx: x, cy: middle, r: 1.8, fill: "var(--axis)", opacity: 0.6 }));
    }
  });
  return box;
}

function drawGlyph(glyph, hue) {
  if (glyph === null) return null;
  return glyph.cells ? categoryGlyph(glyph, hue) : intervalGlyph(glyph, hue);
}

function drawCondition(condition, word, hue) {
  const phrase = node("span", { class: "phrase" });
  condition.parts.forEach(([role, text], index) => {
    if (index) phrase.append(" ");
    const negated = role === "operator" && text.startsWith("is not");
    phrase.append(node("span", { class: negated ? "negated" : role, text }));
  });
  return node("span", { class: "condition" }, node("b", { class: "word", text: word }), drawGlyph(condition.glyph, hue), phrase);
}

function drawSentence(rule) {
  const sentence = node("span", { class: "sentence" });
  if (!rule.conditions.length) {
    sentence.append(node("span", { class: "condition" }, node("b", { class: "word", text: "START" }), node("span", { text: rule.text })));
    return sentence;
  }
  rule.conditions.forEach((condition, index) => {
    sentence.append(drawCondition(condition, index ? "AND" : "IF", rule.hue), " ");
  });
  sentence.append(node("span", { class: "condition" },
    node("b", { class: "word", text: "THEN" }),
    node("span", { class: "mark", style: { color: `var(--${rule.markHue})` }, text: rule.mark }),
    node("span", { class: "then", text: rule.outcome })));
  if (rule.others.length) {
    const others = node("small", { text: "and adds " });
    for (const other of rule.others) {
      others.append(node("span", { class: "part" },
        node("span", { style: { color: `var(--${other.hue})` }, text: other.mark }), ` ${other.text}`), " ");
    }
    sentence.append(others);
  }
  return sentence;
}

function drawWeight(rule) {
  const bar = node("svg:svg", { viewBox: "0 0 100 18", preserveAspectRatio: "none", "aria-hidden": "true" });
  const long = Math.abs(rule.share) * 48;
  bar.append(
    node("svg:rect", { x: rule.share > 0 ? 50 : 50 - long, y: 3, width: Math.max(0.8, long), height: 12, fill: `var(--${rule.hue})` }),
    node("svg:rect", { x: 49.6, y: 0, width: 0.8, height: 18, fill: "var(--axis)" }),
  );
  return node("div", { class: "weight" }, bar, node("span", { class: "number", text: rule.weight }));
}
