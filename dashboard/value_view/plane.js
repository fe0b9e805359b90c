// The votes over two columns as a shaded plane with the training rows. Uses the tools of value_map.js.

const PLANE = { tall: 380, top: 10, right: 14, bottom: 44 };
const LETTER = 6.2;
const SHADE = 62;

const SHAPES = [
  (x, y) => `M${x - 3.2} ${y}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z`,
  (x, y) => `M${x} ${y - 3.8}l3.7 6.6h-7.4z`,
  (x, y) => `M${x - 2.9} ${y - 2.9}h5.8v5.8h-5.8z`,
  (x, y) => `M${x} ${y - 4}l3.6 4l-3.6 4l-3.6 -4z`,
];

function planeTicks(axis) {
  const ticks = axis.ticks.map(({ at, text }) => [at, text, axis.lines]);
  axis.ends.forEach((text, side) => ticks.push([side, text, false]));
  return ticks;
}

function drawPlane(svg, plane) {
  const wide = Math.max(300, svg.parentElement.clientWidth);
  const longest = Math.max(...planeTicks(plane.y).map(([, text]) => text.length));
  const left = Math.min(150, wide * 0.32, 22 + longest * LETTER);
  const [w, h] = [wide - left - PLANE.right, PLANE.tall - PLANE.top - PLANE.bottom];
  const [X, Y] = [(place) => left + place * w, (place) => PLANE.top + (1 - place) * h];
  const parts = [make("svg:rect", { x: left, y: PLANE.top, width: w, height: h, fill: "var(--bg)" })];
  const words = [];
  for (const { box: [x0, y0, x1, y1], share, hue, text } of plane.parts) {
    const [x, y, across, tall] = [X(x0), Y(y1), X(x1) - X(x0), Y(y0) - Y(y1)];
    const fill = `color-mix(in srgb, var(--${hue}) ${Math.round(SHADE * share)}%, var(--bg))`;
    const rect = make("svg:rect", { x, y, width: across, height: tall, style: { fill } });
    rect.append(make("svg:title", { text: `${text} ${plane.scale.unit}` }));
    parts.push(rect);
    if (across > 46 && tall > 20) words.push(make("svg:text", { class: "sum", x: x + 6, y: y + 14, text }));
  }
  parts.push(make("svg:rect", { x: left, y: PLANE.top, width: w, height: h, fill: "none", stroke: "var(--line)" }));
  plane.classes.forEach(({ hue }, index) => {
    const d = plane.points.filter((point) => point[2] === index).map(([x, y]) => SHAPES[index % SHAPES.length](X(x), Y(y))).join("");
    if (d) parts.push(make("svg:path", { class: "rows", d, fill: `var(--${hue})`, stroke: "var(--bg)", "stroke-width": 0.9 }));
  });
  svg.setAttribute("viewBox", `0 0 ${wide} ${PLANE.tall}`);
  svg.setAttribute("height", PLANE.tall);
  svg.replaceChildren(...parts, ...words, ...planeAxes(plane, X, Y, left));
}

function planeAxes(plane, X, Y, left) {
  const parts = [];
  const base = Y(0);
  const taken = [];
  for (const [at, text, line] of planeTicks(plane.x)) {
    const half = text.length * LETTER / 2;
    const x = Math.min(X(1) - half, Math.max(X(0) + half, X(at)));
    if (taken.some((one) => Math.abs(one[0] - x) < one[1] + half + 6)) continue;
    taken.push([x, half]);
    if (line) parts.push(make("svg:rect", { x: X(at) - 0.5, y: base, width: 1, height: 5, fill: "var(--axis)" }));
    parts.push(make("svg:text", { x, y: base + 17, "text-anchor": "middle", text }));
  }
  const rows = [];
  for (const [at, text, line] of planeTicks(plane.y)) {
    const y = Math.min(base - 4, Math.max(Y(1) + 6, Y(at)));
    if (rows.some((one) => Math.abs(one - y) < 13)) continue;
    rows.push(y);
    const most = Math.floor((left - 16) / LETTER);
    if (line) parts.push(make("svg:rect", { x: left - 5, y: Y(at) - 0.5, width: 5, height: 1, fill: "var(--axis)" }));
    parts.push(make("svg:text", { x: left - 8, y: y + 4, "text-anchor": "end", text: text.length > most ? `${text.slice(0, most - 1)}…` : text }));
  }
  parts.push(make("svg:text", { class: "title", x: X(1), y: base + 36, "text-anchor": "end", text: `${plane.x.title} →` }));
  return parts;
}

function planeKey(plane) {
  const { scale } = plane;
  const end = (side) => make("span", {}, make("span", { style: { color: `var(--${scale.hues[side]})` }, text: scale.marks[side] }), ` ${scale.words[side]} ${scale.ends[side]}`);
  const [low, high] = scale.hues.map((hue) => `color-mix(in srgb, var(--${hue}) ${SHADE}%, var(--bg))`);
  const bar = make("i", { style: { background: `linear-gradient(to right, ${low}, var(--bg), ${high})` } });
  const rows = plane.classes.map(({ name, mark, hue }) => make("span", {}, make("span", { style: { color: `var(--${hue})` }, text: mark }), ` ${name}`));
  return make("div", { class: "key" }, make("div", {}, end(0), bar, end(1), make("span", { text: scale.unit })), make("div", {}, "Rows:", ...rows));
}

function planePicture(root, plane) {
  const svg = make("svg:svg", { role: "img", "aria-label": plane.label, width: "100%" });
  const title = make("div", { class: "up", text: `↑ ${plane.y.title}` });
  const box = make("div", { class: "plane" }, svg);
  root.replaceChildren(title, box, planeKey(plane));
  if (plane.grid) root.append(make("details", {}, make("summary", { text: "The same as a table" }), gridPicture(plane.grid)));
  root.watch?.disconnect();
  root.watch = new ResizeObserver(() => drawPlane(svg, plane));
  root.watch.observe(box);
  drawPlane(svg, plane);
}
