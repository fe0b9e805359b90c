// Draws the readability dial: accuracy against the number of rules. Drag or use the arrow keys to move it.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 268, LEFT = 42, RIGHT = 12, TOP = 26, BOTTOM = 40;
const TICKS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

function node(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const print = (data, share) => (data.percent ? `${Math.round(100 * share)}\u00a0%` : share.toFixed(2).replace("-", "\u2212"));
const rules = (n) => `${n.toLocaleString("en-US")} ${n === 1 ? "rule" : "rules"}`;
const place = (n) => Math.log(Math.max(n, 0.5));

function draw(dial) {
  const { data, svg } = dial;
  const width = Math.max(300, svg.clientWidth);
  const points = data.points;
  const first = place(points[0].n), last = Math.max(place(points.at(-1).n), first + 0.1);
  const x = (n) => LEFT + (place(n) - first) / (last - first) * (width - LEFT - RIGHT);
  const y = (share) => TOP + (data.high - share) / (data.high - data.low) * (HEIGHT - TOP - BOTTOM);
  const line = (key) => points.filter((point) => point[key] !== null).map((point) => `${x(point.n)} ${y(point[key])}`);
  const parts = [];
  for (let k = Math.round(data.low * 20); k <= Math.round(data.high * 20); k += data.high - data.low > 0.25 ? 2 : 1) {
    const at = y(k / 20);
    parts.push(node("rect", { x: LEFT, y: at, width: width - LEFT - RIGHT, height: 1, fill: "var(--line)" }),
      node("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, print(data, k / 20)));
  }
  let used = -40;
  const ticks = [points[0].n, ...TICKS.filter((n) => n > points[0].n && n < points.at(-1).n)];
  for (const n of ticks) {
    if (x(n) - used < 26 || x(points.at(-1).n) - x(n) < 26) continue;
    used = x(n);
    parts.push(node("text", { x: used, y: HEIGHT - 22, "text-anchor": "middle" }, n.toLocaleString("en-US")));
  }
  parts.push(node("text", { x: width - RIGHT, y: HEIGHT - 22, "text-anchor": "end" }, points.at(-1).n.toLocaleString("en-US")),
    node("text", { x: width - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, "number of rules (log scale)"));
  parts.push(node("line", { x1: LEFT, x2: width - RIGHT, y1: y(data.baseline), y2: y(data.baseline), stroke: "var(--axis)", "stroke-dasharray": "3 3" }),
    node("text", { x: width - RIGHT, y: y(data.baseline) - 5, "text-anchor": "end" }, data.baselineText));
  const known = points.filter((point) => point.mean !== null && point.error !== null);
  if (known.length > 1) {
    const upper = known.map((point) => `${x(point.n)} ${y(Math.min(data.high, point.mean + point.error))}`);
    const lower = known.map((point) => `${x(point.n)} ${y(Math.max(data.low, point.mean - point.error))}`).reverse();
    parts.push(node("path", { d: `M${[...upper, ...lower].join("L")}Z`, fill: "var(--accent)", opacity: 0.13 }));
  }
  const key = data.scored ? "mean" : "train";
  const colour = data.scored ? "var(--accent)" : "var(--axis)";
  parts.push(node("path", { d: `M${line(key).join("L")}`, fill: "none", stroke: colour, "stroke-width": 2 }));
  for (const point of points) {
    parts.push(node("circle", { cx: x(point.n), cy: y(point[key]), r: 2.2, fill: colour }));
    if (point.test !== null) {
      parts.push(node("circle", { cx: x(point.n), cy: y(point.test), r: 3, fill: "var(--bg)", stroke: "var(--ink3)", "stroke-width": 1.2 }));
    }
  }
  const now = points.find((point) => point.n === dial.at) ?? points.at(-1);
  const at = x(now.n), left = at > width - 150;
  parts.push(node("line", { x1: at, x2: at, y1: 8, y2: HEIGHT - BOTTOM, stroke: "var(--ink)", "stroke-width": 2 }),
    node("circle", { cx: at, cy: y(now[key]), r: 6, fill: "var(--primary)", stroke: "var(--bg)", "stroke-width": 2 }));
  if (now.test !== null) {
    parts.push(node("circle", { cx: at, cy: y(now.test), r: 4, fill: "var(--bg)", stroke: "var(--ink)", "stroke-width": 1.6 }));
  }
  const words = `${rules(now.n)}, ${print(data, now[key])}`;
  parts.push(node("text", { x: left ? at - 8 : at + 8, y: 16, class: "now", "text-anchor": left ? "end" : "start" }, words));
  svg.setAttribute("height", HEIGHT);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("aria-valuemin", 0);
  svg.setAttribute("aria-valuemax", points.length - 1);
  svg.setAttribute("aria-valuenow", points.indexOf(now));
  svg.setAttribute("aria-valuetext", `${words} of ${data.scored ? "held-out rows" : "training rows"}`);
  svg.replaceChildren(...parts);
  dial.nearest = (px) => points.reduce((best, point) => Math.abs(x(point.n) - px) < Math.abs(x(best.n) - px) ? point : best).n;
}

function take(dial) {
  if (dial.at === dial.sent) return;
  dial.sent = dial.at;
  dial.setTriggerValue("pick", dial.at);
}

function follow(dial, event) {
  dial.at = dial.nearest(event.clientX - dial.svg.getBoundingClientRect().left);
  draw(dial);
}

function start(parentElement) {
  const svg = parentElement.querySelector("svg");
  const dial = { svg, dragging: false, timer: 0 };
  svg.addEventListener("pointerdown", (event) => { dial.dragging = true; svg.setPointerCapture(event.pointerId); follow(dial, event); });
  svg.addEventListener("pointermove", (event) => { if (dial.dragging) follow(dial, event); });
  svg.addEventListener("pointerup", () => { dial.dragging = false; take(dial); });
  svg.addEventListener("pointercancel", () => { dial.dragging = false; dial.at = dial.sent; draw(dial); });
  svg.addEventListener("keydown", (event) => {
    const numbers = dial.data.points.map((point) => point.n);
    const here = numbers.indexOf(dial.at);
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: numbers.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    dial.at = numbers[Math.min(numbers.length - 1, Math.max(0, to))];
    draw(dial);
    clearTimeout(dial.timer);
    dial.timer = setTimeout(() => take(dial), 350);
  });
  new ResizeObserver(() => dial.data && draw(dial)).observe(svg);
  return dial;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  parentElement.dial ??= start(parentElement);
  const own = parentElement.dial;
  Object.assign(own, { data, setTriggerValue });
  if (!own.dragging) own.at = own.sent = data.chosen;
  draw(own);
}
