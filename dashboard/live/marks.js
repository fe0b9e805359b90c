// The marks of feedback, classes and categories, on canvas and as SVG.
const FEEDBACK = ["ia", "ib", "ii"];
const FEEDBACK_NAMES = ["Ia", "Ib", "II"];

function feedbackMark(g, type, x, y, size, colour, alpha) {
  g.save();
  g.globalAlpha = alpha;
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = 1.6;
  g.beginPath();
  if (type === 0) {
    g.moveTo(x - size, y - size); g.lineTo(x - 1, y); g.lineTo(x - size, y + size); g.closePath();
    g.moveTo(x + size, y - size); g.lineTo(x + 1, y); g.lineTo(x + size, y + size); g.closePath();
    g.fill();
  } else if (type === 1) {
    g.moveTo(x - 1.5, y - size); g.lineTo(x - size - 1, y); g.lineTo(x - 1.5, y + size);
    g.moveTo(x + 1.5, y - size); g.lineTo(x + size + 1, y); g.lineTo(x + 1.5, y + size);
    g.stroke();
  } else {
    g.lineWidth = 2;
    g.moveTo(x - size, y - size); g.lineTo(x + size, y + size);
    g.moveTo(x + size, y - size); g.lineTo(x - size, y + size);
    g.stroke();
  }
  g.restore();
}

// The shapes of the classes in the order of their marks (see style.CLASS_MARKS), as corners around (0, 0); null is round.
const STAR = Array.from({ length: 10 }, (_, i) => [(i % 2 ? 0.5 : 1.2) * Math.sin((i * Math.PI) / 5), -(i % 2 ? 0.5 : 1.2) * Math.cos((i * Math.PI) / 5)]);
const CLASS_SHAPES = [null, [[-1, 0.85], [0, -1], [1, 0.85]], [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]], [[0, -1.1], [1.1, 0], [0, 1.1], [-1.1, 0]],
  [[-1, -0.85], [0, 1], [1, -0.85]], STAR,
  [[-0.36, -1], [0.36, -1], [0.36, -0.36], [1, -0.36], [1, 0.36], [0.36, 0.36], [0.36, 1], [-0.36, 1], [-0.36, 0.36], [-1, 0.36], [-1, -0.36], [-0.36, -0.36]],
  [[-0.7, -0.5], [1.25, -0.5], [0.7, 0.5], [-1.25, 0.5]], [[-0.48, -1.15], [0.48, -1.15], [0.48, 1.15], [-0.48, 1.15]],
  [[-0.95, -0.95], [0.95, 0.95], [-0.95, 0.95]], [[-0.95, -0.95], [0.95, -0.95], [0.95, 0.95]], [[-1, -0.95], [1, -0.95], [-1, 0.95], [1, 0.95]]];

function classShape(g, k, x, y, size) {
  g.beginPath();
  const corners = CLASS_SHAPES[k];
  if (!corners) { g.arc(x, y, size, 0, 7); return; }
  for (const [dx, dy] of corners) g.lineTo(x + dx * size, y + dy * size);
  g.closePath();
}

const hatches = new Map();
function hatch(g, colour) {
  if (!hatches.has(colour)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 5;
    const t = tile.getContext("2d");
    t.fillStyle = colour + "55";
    t.fillRect(0, 0, 5, 5);
    t.strokeStyle = colour;
    t.lineWidth = 1.6;
    t.beginPath();
    t.moveTo(-1, 6); t.lineTo(6, -1); t.moveTo(-3.5, 3.5); t.lineTo(3.5, -3.5); t.moveTo(1.5, 8.5); t.lineTo(8.5, 1.5);
    t.stroke();
    hatches.set(colour, tile);
  }
  return g.createPattern(hatches.get(colour), "repeat");
}

function keyItems() {
  const svg = (width, height, ...k) =>
    el("svg:svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, k);
  const path = (d, s) => el("svg:path", { d, fill: "none", ...s });
  const glyph = (...k) => svg(46, 18, k);
  const mark = (d, colour, filled) => svg(14, 12, path(d, filled
    ? { fill: colour } : { stroke: colour, "stroke-width": 1.8 }));
  const axis = () => path("M0 9h46", { stroke: "var(--line)" });
  return [
    [glyph(axis(), path("M12 9h20", { stroke: "var(--ink2)", "stroke-width": 7 }),
      path("M12 1v16M32 1v16", { stroke: "var(--ink)", "stroke-width": 2 })), "in the clause (included)"],
    [glyph(axis(), path("M14 5v8M34 5v8", { stroke: "var(--axis)" })), "left out, searching (excluded)"],
    [glyph(path("M0 8h46", { stroke: "var(--line)" }), path("M34 0v16", { stroke: "var(--ink)", "stroke-width": 2 }),
      path("M12 16h22", { stroke: "var(--accent)", "stroke-width": 2, opacity: 0.7 })), "just moved"],
    [mark("M2 1h10v10h-10z", "var(--ink2)", true), "is this value"],
    [mark("M2 1h10v10h-10zM2 11l10-10", "var(--ink2)"), "is not this value"],
    [mark("M4 6a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", "var(--ink2)"), "in it, lets all through"],
    [svg(22, 16, el("svg:rect", { x: 1, y: 1, width: 20, height: 14, rx: 4, fill: "none", stroke: "var(--ii)",
      "stroke-dasharray": "3 2" })), "can never hold"],
    [mark("M1 1l5 5l-5 5zM13 1l-5 5l5 5z", "var(--ia)", true), "Ia: told to recognise a row"],
    [mark("M5 1l-4 5l4 5M9 1l4 5l-4 5", "var(--ib)"), "Ib: to forget a little"],
    [mark("M2 1l10 10M12 1l-10 10", "var(--ii)"), "II: to reject a row"],
  ].map(([picture, word]) => el("span", {}, picture, word));
}
